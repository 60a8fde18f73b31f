// Many attacks at once on the exporter, beside a good panel: `npm run soak -- --attacks`.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { hashSync } from 'bcryptjs';
import { configText } from '../fleet/config-text.ts';
import type { PanelProgram } from '../fleet/simulated-panel.ts';
import { ProgramProcess } from '../program-process.ts';
import type { AnswerersProgram } from '../query/answerers.ts';
import { describeMachine } from '../report/machine.ts';
import { percentile } from '../report/statistics.ts';
import { markdownTable } from '../report/table.ts';
import type { VisitorProgram } from '../visitors/visitor.ts';
import type { HostilePanelProgram } from './hostile-panel.ts';
import { PasswordFlood } from './password-flood.ts';
import { PipelineFlood } from './pipeline-flood.ts';
import { slope } from './slope.ts';

const CLI = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));

const GOOD_SERVERS = 40;
const LOOK_EVERY_MS = 5_000;
const LOOPS = 5;
const CREDENTIALS = { user: 'alice', password: 'a password for visitors' };
const GUESSERS = 40;
const GUESSES_PER_SECOND = 100;
const PIPELINES_PER_SECOND = 8;

/** The number of minutes after which memory must not grow any more. */
const WARM_UP_MINUTES = 5;
const MIN_MINUTES = WARM_UP_MINUTES + 2;

/** The maximum delay of the whole run. */
const MAX_LATE_MINUTES = 3;

const MIN_FRESH = 0.99;
/** The maximum age of a fresh sample. Servers are sampled every second. */
const FRESH_SECONDS = 5;
const MAX_SCRAPE_MS = 1_000;
const SCRAPE_DEADLINE_MS = 30_000;
/** The maximum growth of memory from the end of the warm-up to the end of the run, as a share. */
const MAX_GROWTH = 0.1;

/** A scrape, and the exporter's resource usage. */
interface Look {
  /** Milliseconds since the start of the first minute. */
  readonly endedAtMs: number;
  readonly minute: number;
  readonly tookMs: number;
  /** How much of that time the exporter's main thread ran, including other work. */
  readonly ranMs: number;
  /** How much of that time the main thread was ready to run, but had no core. */
  readonly waitedMs: number;
  /** How long the main thread has run since the exporter's start. */
  readonly ranMsSoFar: number;
  readonly rssMb: number;
  /** The used heap, including garbage. */
  readonly heapMb: number;
  /**
   * The ages of the good servers' samples at the request, in seconds; infinite without a sample.
   */
  readonly ages: readonly number[];
  /** The number of good servers whose last query was answered. */
  readonly queried: number;
}

/**
 * Runs the built program with a good panel, and with a panel and visitors that attack it. Returns
 * whether all results are within their bounds.
 */
export async function attack(minutes: number): Promise<boolean> {
  if (minutes < MIN_MINUTES) throw new Error(`--attacks: expected --minutes ${MIN_MINUTES} or more`);
  if (!existsSync(CLI)) throw new Error('dist/cli.js is missing: run "npm run build" first');
  const late = () => {
    throw new Error('the attacks did not end in time');
  };
  setTimeout(late, (minutes + MAX_LATE_MINUTES) * 60_000).unref();
  console.log(describeMachine());
  const good = await new ProgramProcess<PanelProgram>('simulated-panel', { servers: GOOD_SERVERS }).start();
  const games = await new ProgramProcess<AnswerersProgram>('game-answerers', {
    type: 'valve',
    servers: 1,
  }).start();
  const hostile = await new ProgramProcess<HostilePanelProgram>('hostile-panel', {}).start();
  const folder = await mkdtemp(join(tmpdir(), 'attacks-'));
  const [gamePort] = await games.ask('ports', undefined);
  const config = [
    configText(await good.ask('address', undefined), {
      ofServers: [`query: { type: rust, address: "127.0.0.1:${gamePort}", interval: 10s }`],
    }),
    ...hostilePanel(await hostile.ask('url', undefined)),
  ];
  await writeFile(join(folder, 'config.yaml'), config.join('\n'), { mode: 0o600 });
  const users = `basic_auth_users: { ${CREDENTIALS.user}: "${hashSync(CREDENTIALS.password, 10)}" }\n`;
  await writeFile(join(folder, 'web.yaml'), users, { mode: 0o600 });
  const exporter = await startExporter(folder);
  const visitor = await new ProgramProcess<VisitorProgram>('visitor', {
    url: exporter.url,
    authorization: AUTHORIZATION,
  }).start();
  let looks: readonly Look[] = [];
  try {
    const port = Number(new URL(exporter.url).port);
    const flood = new PasswordFlood(port, GUESSERS, GUESSES_PER_SECOND);
    const pipelines = new PipelineFlood(port, PIPELINES_PER_SECOND);
    await visitor.ask('view', undefined);
    const loops = visitor.ask('loop', await visitedPaths(exporter));
    looks = await watch(exporter, minutes);
    flood.end();
    pipelines.end();
    await visitor.ask('end', undefined);
    const attacks = {
      ...(await hostile.ask('counts', undefined)),
      'responses per second to ten loops of visitors': Math.round(await loops),
      ...Object.fromEntries(
        [...flood.statuses].map(([status, count]) => [`wrong passwords with ${status}`, count]),
      ),
      'connections with 2,000 requests at once that were closed': pipelines.closed,
      'lines of the log': exporter.lines(),
    };
    return report(looks, attacks, minutes);
  } finally {
    await visitor.stop();
    await exporter.stop();
    for (const program of [hostile, games, good]) await program.stop();
    await rm(folder, { recursive: true });
  }
}

const AUTHORIZATION = `Basic ${Buffer.from(`${CREDENTIALS.user}:${CREDENTIALS.password}`).toString('base64')}`;

/**
 * The exporter discovers the hostile panel's servers every minute, and queries them as their eggs
 * suggest. It forgets a server after three complete lists without it, so the number of servers
 * reaches its maximum in the first minutes. From then on, memory can be compared.
 */
const hostilePanel = (url: string) => [
  '  - name: hostile',
  `    url: ${url}`,
  '    api_key: ptlc_hostile',
  '    requests_per_minute: 6000',
  '    discover:',
  '      interval: 1m',
  '      max_servers: 400',
  '      query: [{ match: { name: ["*"] }, type: auto, interval: 10s }]',
];

interface Exporter {
  readonly url: string;
  readonly process: ChildProcess;
  readonly lines: () => number;
  readonly stop: () => Promise<void>;
}

/** Starts the built program as users do. */
async function startExporter(folder: string): Promise<Exporter> {
  const files = ['--config', join(folder, 'config.yaml'), '--web.config.file', join(folder, 'web.yaml')];
  const child = spawn(
    process.execPath,
    [CLI, 'serve', '--storage.path=', ...files, '--web.listen-address', '127.0.0.1:0'],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const ended = once(child, 'exit');
  process.once('exit', () => child.kill());
  process.once('SIGTERM', () => process.exit(1));
  let lines = 0;
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the exporter ended with ${code}`)));
    createInterface(child.stderr).on('line', (line) => {
      lines += 1;
      const [, address] = /serving metrics on (http:\S+)\/metrics/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
  return {
    url,
    process: child,
    lines: () => lines,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** The paths of ten visitors: five request the page, and five the history of a hundred servers. */
async function visitedPaths(exporter: Exporter): Promise<readonly (readonly string[])[]> {
  const ids = [...(await scrape(exporter)).matchAll(/^gameserver_collection_up\{.*server_id="([^"]+)"/gm)];
  const query = ids.slice(0, 100).map(([, id]) => `server=${id}`);
  return Array.from({ length: 2 * LOOPS }, (_, loop) => [
    loop < LOOPS ? '/' : `/api/v1/history?${query.join('&')}`,
  ]);
}

/**
 * Scrapes once. Returns an empty text on failure, so that the samples of all servers count as late.
 */
async function scrape({ url }: Exporter): Promise<string> {
  try {
    const signal = AbortSignal.timeout(SCRAPE_DEADLINE_MS);
    const response = await fetch(`${url}/metrics`, { headers: { authorization: AUTHORIZATION }, signal });
    return response.ok ? await response.text() : '';
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    return '';
  }
}

/**
 * How long the exporter's main thread has run since its start, and how long it has waited for a
 * core, in milliseconds.
 */
function threadTime({ process: { pid } }: Exporter): { readonly ranMs: number; readonly waitedMs: number } {
  const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6 };
}

function rssMb({ process: { pid } }: Exporter): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_000;
}

async function watch(exporter: Exporter, minutes: number): Promise<readonly Look[]> {
  const looks: Look[] = [];
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  while (elapsedMs() < minutes * 60_000) {
    await delay(LOOK_EVERY_MS - (elapsedMs() % LOOK_EVERY_MS));
    const [askedAtMs, now, before] = [elapsedMs(), Date.now() / 1_000, threadTime(exporter)];
    const text = await scrape(exporter);
    const tookMs = text === '' ? Infinity : elapsedMs() - askedAtMs;
    const after = threadTime(exporter);
    const ages = [
      ...text.matchAll(/^gameserver_last_sample_timestamp_seconds\{panel="bench".* (\S+)$/gm),
    ].map(([, at]) => now - Number(at));
    looks.push({
      endedAtMs: elapsedMs(),
      minute: Math.min(minutes, Math.floor(askedAtMs / 60_000) + 1),
      tookMs,
      ranMs: after.ranMs - before.ranMs,
      waitedMs: after.waitedMs - before.waitedMs,
      ranMsSoFar: after.ranMs,
      rssMb: rssMb(exporter),
      heapMb: Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(text)?.[1] ?? NaN) / 1e6,
      ages: [...ages, ...Array.from({ length: GOOD_SERVERS - ages.length }, () => Infinity)],
      queried: [...text.matchAll(/^gameserver_query_up\{panel="bench".* 1$/gm)].length,
    });
    process.stderr.write(
      `${JSON.stringify({ ...looks.at(-1), ages: Math.max(...(looks.at(-1)?.ages ?? [])) })}\n`,
    );
  }
  return looks;
}

const freshOf = (looks: readonly Look[]) => {
  const ages = looks.flatMap((look) => look.ages);
  return ages.filter((age) => age <= FRESH_SECONDS).length / ages.length;
};
const slowestOf = (looks: readonly Look[]) => looks.toSorted((one, other) => other.tookMs - one.tookMs)[0];
const queriedOf = (looks: readonly Look[]) =>
  looks.reduce((sum, look) => sum + look.queried, 0) / looks.length / GOOD_SERVERS;
/** The CPU usage of the main thread from the first of these looks to the last. */
const cpuPercent = (looks: readonly Look[]) => {
  const [first, last] = [looks[0], looks.at(-1)];
  if (first === undefined || last === undefined) return NaN;
  return (100 * (last.ranMsSoFar - first.ranMsSoFar)) / (last.endedAtMs - first.endedAtMs);
};
/**
 * The smallest used heap, which is about the heap after a garbage collection. Failed scrapes don't
 * count.
 */
const smallestHeap = (looks: readonly Look[]) =>
  Math.min(...looks.map(({ heapMb }) => (Number.isNaN(heapMb) ? Infinity : heapMb)));
const percent = (share: number) => `${(share * 100).toFixed(2)} %`;

/** Prints the results. Returns whether all are within their bounds. */
function report(all: readonly Look[], attacks: Readonly<Record<string, number>>, minutes: number): boolean {
  // The first minute is left out, because the exporter connects in it.
  const looks = all.filter(({ minute }) => minute > 1);
  const warm = all.filter(({ minute }) => minute > WARM_UP_MINUTES);
  const perMinute = slope(warm.map(({ minute, rssMb }) => [minute, rssMb]));
  const growth = (perMinute * (minutes - WARM_UP_MINUTES)) / (warm[0]?.rssMb ?? NaN);
  const minutesOf = [...new Set(warm.map(({ minute }) => minute))];
  const heaps = minutesOf.map(
    (minute) => [minute, smallestHeap(warm.filter((look) => look.minute === minute))] as const,
  );
  const heapPerMinute = slope(heaps);
  const heapGrowth = (heapPerMinute * (minutes - WARM_UP_MINUTES)) / (heaps[0]?.[1] ?? NaN);
  const slowest = slowestOf(looks);
  const ages = looks.flatMap((look) => look.ages);
  console.log(
    `\n## attacks: ${minutes} minutes of all at once, beside ${GOOD_SERVERS} servers of another panel\n`,
  );
  const header = [
    'minute',
    'fresh',
    'queried',
    'slowest /metrics ms',
    'of that on a core',
    'waiting for one',
    'main thread, % of a core',
    'RSS MB',
    'smallest heap MB',
  ];
  const rows = [...new Set(all.map(({ minute }) => minute))].map((minute) => {
    const own = all.filter((look) => look.minute === minute);
    const worst = slowestOf(own);
    return [
      String(minute),
      percent(freshOf(own)),
      percent(queriedOf(own)),
      (worst?.tookMs ?? NaN).toFixed(0),
      (worst?.ranMs ?? NaN).toFixed(0),
      (worst?.waitedMs ?? NaN).toFixed(0),
      cpuPercent(own).toFixed(0),
      Math.max(...own.map(({ rssMb }) => rssMb)).toFixed(0),
      smallestHeap(own).toFixed(1),
    ];
  });
  console.log(markdownTable({ header, rows }));
  console.log('');
  console.log(
    markdownTable({
      header: ['attack', 'times'],
      rows: Object.entries(attacks).map(([what, times]) => [what, String(times)]),
    }),
  );
  const bounds: readonly (readonly [what: string, isKept: boolean])[] = [
    [
      `good servers' samples at most ${FRESH_SECONDS} s old: ${percent(freshOf(looks))}, at least ${percent(MIN_FRESH)} required; 99 % were at most ${percentile(ages, 0.99).toFixed(1)} s old`,
      freshOf(looks) >= MIN_FRESH,
    ],
    [
      `slowest /metrics: ${slowest?.tookMs.toFixed(0)} ms, of which the main thread ran ${slowest?.ranMs.toFixed(0)} ms and waited ${slowest?.waitedMs.toFixed(0)} ms for a core; less than ${MAX_SCRAPE_MS} ms required`,
      (slowest?.tookMs ?? NaN) < MAX_SCRAPE_MS,
    ],
    [
      `RSS after minute ${WARM_UP_MINUTES}: ${perMinute.toFixed(2)} MB per minute, ${percent(growth)} until the end; at most ${percent(MAX_GROWTH)} required`,
      growth <= MAX_GROWTH,
    ],
    [
      `smallest heap of each minute after minute ${WARM_UP_MINUTES}: ${heapPerMinute.toFixed(2)} MB per minute, ${percent(heapGrowth)} until the end; at most ${percent(MAX_GROWTH)} required`,
      heapGrowth <= MAX_GROWTH,
    ],
  ];
  console.log('');
  for (const [what, isKept] of bounds) console.log(`- ${isKept ? 'kept' : 'MISSED'}: ${what}`);
  return bounds.every(([, isKept]) => isKept);
}
