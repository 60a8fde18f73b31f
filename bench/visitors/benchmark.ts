// The benchmark `visitors`: the cost of visitors, and their effect on scrapes.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { configText } from '../fleet/config-text.ts';
import type { ExporterProgram } from '../fleet/exporter.ts';
import { allStreaming, getExposition, randomPause } from '../fleet/exposition.ts';
import type { PanelProgram } from '../fleet/simulated-panel.ts';
import { ProgramProcess } from '../program-process.ts';
import type { Benchmark } from '../report/benchmark.ts';
import { median, ratios } from '../report/statistics.ts';
import { medianAndSpread } from '../report/table.ts';
import type { ServedFleetProgram, ThreadWork } from './served-fleet.ts';
import type { VisitorProgram } from './visitor.ts';

const VIEWED_SERVERS = 5_000;
const VISITED_SERVERS = 8_000;
const DEFAULT_RUNS = 5;
const DEFAULT_SECONDS = 10;
const LOOPS = 5;
const WARM_UP_SECONDS = 5;
/** After these seconds, the work of the start is over. */
const SETTLING_SECONDS = 60;
/** The limits of one measurement, so that samples don't become stale in it. */
const MAX_SCRAPES = 12;
const MAX_SCRAPING_MS = 15_000;
const HISTORIES = 100;

/** The paths that each loop of a visitor repeats, given the keys of all servers. */
const VISITS: Readonly<Record<string, (keys: readonly string[]) => readonly (readonly string[])[]>> = {
  '/': () => loops(() => ['/']),
  '/api/v1/servers': () => loops(() => ['/api/v1/servers']),
  '/api/v1/history, one server': (keys) => loops(() => [historyPath(keys.slice(0, 1))]),
  '/api/v1/history, always 100 others': (keys) =>
    loops((loop) =>
      Array.from({ length: Math.floor(keys.length / HISTORIES / LOOPS) }, (_, turn) => {
        const from = (turn * LOOPS + loop) * HISTORIES;
        return historyPath(keys.slice(from, from + HISTORIES));
      }),
    ),
};

/** The medians of several scrapes. */
interface ScrapeTime {
  /** The time from the request to the last byte. */
  readonly tookMs: number;
  /** The CPU time of the main thread during the render. */
  readonly threadMs: number;
}

interface Visited {
  readonly what: string;
  readonly alone: readonly ScrapeTime[];
  readonly beside: readonly ScrapeTime[];
  readonly responses: readonly number[];
}

export const visitors: Benchmark = {
  name: 'visitors',
  title: 'what a viewer of the page and five loops of requests cost the others',
  run: async ({ servers, runs = DEFAULT_RUNS, seconds = DEFAULT_SECONDS, progress }) => {
    const [viewedServers, visitedServers] = [servers ?? VIEWED_SERVERS, servers ?? VISITED_SERVERS];
    const viewed = await withFleet({ servers: viewedServers, isSampled: true }, (fleet, visitor) =>
      measureViewer(fleet, visitor, { runs, seconds, progress }),
    );
    const visited = await withFleet({ servers: visitedServers, isSampled: false }, (fleet, visitor) =>
      measureVisits(fleet, visitor, { runs, progress }),
    );
    const exporter = await measureExporter(viewedServers, { runs, seconds, progress });
    const read = (times: readonly ScrapeTime[], name: keyof ScrapeTime) => times.map((time) => time[name]);
    const increase = ({ alone, beside }: Visited, name: keyof ScrapeTime) =>
      ratios(read(beside, name), read(alone, name));
    return {
      method: `The exporter's HTTP server over records without sockets, in its own process; the visitor in another. CPU time with and without a viewer is that of a whole exporter with as many
sockets, all its threads, alternately in windows of ${seconds} s, ${SETTLING_SECONDS} s after all stream. With viewers, every record gets a sample a second, and with loops only
before each measurement, because a scrape that takes longer would include more of them. "Block" is the
longest CPU time of the main thread between two turns of the event loop, checked every millisecond, in ${seconds} s: waiting for a core doesn't count. "Took" is the time of a scrape with
gzip from the request to the last byte, "thread" the CPU time of the main thread from the start of its render to its end, with everything else that it did meanwhile: medians of
up to ${MAX_SCRAPES} scrapes, alternately alone and beside five loops that request without a pause. Medians, with the minimum and maximum of ${runs} runs.`,
      tables: [
        {
          header: ['servers', 'viewers', 'block ms', 'main thread, % of a core'],
          rows: viewed.map(({ viewers, work }) => [
            String(viewedServers),
            viewers,
            medianAndSpread(
              work.map(({ blockMs }) => blockMs),
              1,
            ),
            medianAndSpread(
              work.map(({ cpuPercent }) => cpuPercent),
              1,
            ),
          ]),
        },
        {
          header: ['servers with sockets', 'viewers: none, % of a core', 'one', '×'],
          rows: [
            [
              String(viewedServers),
              medianAndSpread(exporter.alone, 1),
              medianAndSpread(exporter.viewed, 1),
              medianAndSpread(ratios(exporter.viewed, exporter.alone), 2),
            ],
          ],
        },
        {
          header: [
            'servers',
            'five loops on',
            'responses/s',
            'took alone ms',
            'beside ms',
            '×',
            'thread alone ms',
            'beside ms',
            '×',
          ],
          rows: visited.map((row) => [
            String(visitedServers),
            row.what,
            medianAndSpread(row.responses, 0),
            ...(['tookMs', 'threadMs'] as const).flatMap((name) => [
              medianAndSpread(read(row.alone, name), 0),
              medianAndSpread(read(row.beside, name), 0),
              medianAndSpread(increase(row, name), 2),
            ]),
          ]),
        },
      ],
      targets: [
        ...viewed.slice(1).map(({ viewers, work }) => ({
          what: `${viewedServers} servers, viewers: ${viewers}: longest block of the event loop`,
          bound: { kind: 'at most' as const, value: 25 },
          unit: 'ms',
          measured: median(work.map(({ blockMs }) => blockMs)),
        })),
        {
          what: `${viewedServers} servers with sockets: CPU time with one viewer, relative to none`,
          bound: { kind: 'at most' as const, value: 1.1 },
          unit: '×',
          measured: median(ratios(exporter.viewed, exporter.alone)),
        },
        ...visited.map((row) => ({
          what: `${visitedServers} servers: the main thread's time for a scrape beside five loops on ${row.what}, relative to one alone`,
          bound: { kind: 'at most' as const, value: 1.2 },
          unit: '×',
          measured: median(increase(row, 'threadMs')),
        })),
      ],
    };
  },
};

type FleetProcess = ProgramProcess<ServedFleetProgram>;
type VisitorProcess = ProgramProcess<VisitorProgram>;

async function withFleet<Result>(
  options: { readonly servers: number; readonly isSampled: boolean },
  measure: (fleet: FleetProcess, visitor: VisitorProcess) => Promise<Result>,
): Promise<Result> {
  const fleet = await new ProgramProcess<ServedFleetProgram>('served-fleet', options).start();
  const { url } = await fleet.ask('address', undefined);
  const visitor = await new ProgramProcess<VisitorProgram>('visitor', { url }).start();
  try {
    return await measure(fleet, visitor);
  } finally {
    await visitor.stop();
    await fleet.stop();
  }
}

interface Measuring {
  readonly runs: number;
  readonly progress: (what: string) => void;
}

interface Viewed {
  readonly viewers: string;
  readonly work: readonly ThreadWork[];
}

async function measureViewer(
  fleet: FleetProcess,
  visitor: VisitorProcess,
  { runs, seconds, progress }: Measuring & { readonly seconds: number },
): Promise<readonly Viewed[]> {
  const [none, watching, connecting]: [ThreadWork[], ThreadWork[], ThreadWork[]] = [[], [], []];
  await visitor.ask('view', undefined);
  await delay(WARM_UP_SECONDS * 1_000);
  await visitor.ask('leave', undefined);
  for (let run = 1; run <= runs; run += 1) {
    progress(`viewers, run ${run} of ${runs}`);
    await delay(2_000);
    none.push(await fleet.ask('watch', { seconds }));
    const connected = fleet.ask('watch', { seconds: 1 });
    await visitor.ask('view', undefined);
    connecting.push(await connected);
    watching.push(await fleet.ask('watch', { seconds }));
    await visitor.ask('leave', undefined);
  }
  return [
    { viewers: 'none', work: none },
    { viewers: '1', work: watching },
    { viewers: '1, the second in which it connects', work: connecting },
  ];
}

/**
 * Measures the CPU usage of an exporter with this many sockets in percent of a core, alternately
 * without and with a viewer.
 */
async function measureExporter(
  servers: number,
  { runs, seconds, progress }: Measuring & { readonly seconds: number },
): Promise<{ readonly alone: readonly number[]; readonly viewed: readonly number[] }> {
  const directory = await mkdtemp(join(tmpdir(), 'visitors-'));
  const configFile = join(directory, 'config.yaml');
  const panel = await new ProgramProcess<PanelProgram>('simulated-panel', { servers }).start();
  const ofPanel = ['requests_per_minute: 60000'];
  await writeFile(configFile, configText(await panel.ask('address', undefined), { ofPanel }));
  const exporter = await new ProgramProcess<ExporterProgram>('exporter', { configFile }).start();
  const url = await exporter.ask('url', undefined);
  const visitor = await new ProgramProcess<VisitorProgram>('visitor', { url }).start();
  const used = async () => (await exporter.ask('watch', { seconds })).cpuPercent;
  const [alone, viewed]: [number[], number[]] = [[], []];
  try {
    await allStreaming(url, servers);
    await visitor.ask('view', undefined);
    await delay(SETTLING_SECONDS * 1_000);
    for (let run = 1; run <= runs; run += 1) {
      progress(`an exporter with sockets, run ${run} of ${runs}`);
      await visitor.ask('leave', undefined);
      await delay(2_000);
      alone.push(await used());
      await visitor.ask('view', undefined);
      await delay(2_000);
      viewed.push(await used());
    }
  } finally {
    for (const program of [visitor, exporter, panel]) await program.stop();
    await rm(directory, { recursive: true });
  }
  return { alone, viewed };
}

async function measureVisits(
  fleet: FleetProcess,
  visitor: VisitorProcess,
  { runs, progress }: Measuring,
): Promise<readonly Visited[]> {
  const { url, keys } = await fleet.ask('address', undefined);
  await scrapeTime(fleet, url);
  const visited: Visited[] = [];
  for (const [what, pathsOf] of Object.entries(VISITS)) {
    const [alone, beside, responses]: [ScrapeTime[], ScrapeTime[], number[]] = [[], [], []];
    for (let run = 1; run <= runs; run += 1) {
      progress(`${what}, run ${run} of ${runs}`);
      alone.push(await scrapeTime(fleet, url));
      const looping = visitor.ask('loop', pathsOf(keys));
      beside.push(await scrapeTime(fleet, url));
      await visitor.ask('end', undefined);
      responses.push(await looping);
    }
    visited.push({ what, alone, beside, responses });
  }
  return visited;
}

async function scrapeTime(fleet: FleetProcess, url: string): Promise<ScrapeTime> {
  const tookMs: number[] = [];
  await fleet.ask('sampleOnce', undefined);
  await fleet.ask('scrapesMs', undefined);
  const end = performance.now() + MAX_SCRAPING_MS;
  while (tookMs.length < MAX_SCRAPES && performance.now() < end) {
    await randomPause();
    tookMs.push((await getExposition(url)).tookMs);
  }
  return { tookMs: median(tookMs), threadMs: median(await fleet.ask('scrapesMs', undefined)) };
}

function loops(pathsOf: (loop: number) => readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: LOOPS }, (_, loop) => pathsOf(loop));
}

function historyPath(keys: readonly string[]): string {
  return `/api/v1/history?${keys.map((key) => `server=${key}`).join('&')}`;
}
