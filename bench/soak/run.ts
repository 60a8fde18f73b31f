// The command line of the soak test, for `npm run soak`.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { seededRandom } from '../../src/simulator/random.ts';
import { configText } from '../fleet/config-text.ts';
import type { ExporterProgram } from '../fleet/exporter.ts';
import type { PanelProgram } from '../fleet/simulated-panel.ts';
import { ProgramProcess } from '../program-process.ts';
import { describeMachine } from '../report/machine.ts';
import { markdownTable } from '../report/table.ts';
import { attack } from './attacks.ts';
import { drawAction } from './random-faults.ts';
import { slope } from './slope.ts';

const LIMIT_PER_MINUTE = 720;
const LOOK_EVERY_MS = 60_000;

/** The share of the run that is a warm-up: connects, compilation and the first faults. */
const WARM_UP_SHARE = 1 / 4;

/** The sample of a running server is late if it is older than this. */
const LATE_SECONDS = 5;

interface Look {
  readonly minute: number;
  readonly rssMb: number;
  readonly heapMb: number;
  readonly resources: number;
  readonly streaming: number;
  readonly off: number;
  readonly late: number;
  readonly lost: number;
  readonly calls: number;
  readonly limited: number;
}

/** Runs a fleet with random faults for some minutes, and reports their effects on the exporter. */
async function soak({ minutes, servers, faultsPerMinute, seed }: FaultPlan): Promise<void> {
  const panel = await new ProgramProcess<PanelProgram>('simulated-panel', {
    servers,
    rateLimitPerMinute: LIMIT_PER_MINUTE,
  }).start();
  const folder = await mkdtemp(join(tmpdir(), 'soak-'));
  const address = await panel.ask('address', undefined);
  const configFile = join(folder, 'config.yaml');
  const ids = address.servers.map(({ uuid }) => uuid);
  await writeFile(configFile, configText(address));
  const exporter = await new ProgramProcess<ExporterProgram>('exporter', { configFile }).start();
  const looks: Look[] = [];
  const draw = seededRandom(seed);
  const until = performance.now() + minutes * LOOK_EVERY_MS;
  let faults = 0;
  let nextLook = performance.now() + LOOK_EVERY_MS;
  try {
    while (performance.now() < until) {
      await delay(LOOK_EVERY_MS / faultsPerMinute);
      const action = drawAction(ids, draw);
      await control(address.controlUrl, action.path, action.body);
      faults += 1;
      const { undo } = action;
      if (undo !== undefined) {
        setTimeout(
          () => void control(address.controlUrl, undo.path, undo.body),
          undo.afterSeconds * 1_000,
        ).unref();
      }
      if (performance.now() < nextLook) continue;
      nextLook += LOOK_EVERY_MS;
      const look = await lookAt(exporter, address.controlUrl, looks.length + 1);
      looks.push(look);
      process.stderr.write(`minute ${look.minute}: ${JSON.stringify(look)}\n`);
    }
  } finally {
    await exporter.stop();
    await panel.stop();
    await rm(folder, { recursive: true });
  }
  report(looks, faults, { minutes, servers, faultsPerMinute, seed });
}

async function control(url: string, path: string, body: object): Promise<void> {
  const response = await fetch(`${url}/control/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the control endpoint responded to ${path} with ${response.status}`);
}

async function lookAt(
  exporter: ProgramProcess<ExporterProgram>,
  controlUrl: string,
  minute: number,
): Promise<Look> {
  const { rss, heapUsed, resources } = await exporter.ask('memory', undefined);
  const text = await (await fetch(`${await exporter.ask('url', undefined)}/metrics`)).text();
  const record = (await (await fetch(`${controlUrl}/control/record`)).json()) as {
    readonly calls: readonly unknown[];
    readonly counters: { readonly panelLimited: number; readonly websocketLimited: number };
  };
  await control(controlUrl, 'record/clear', {});
  const now = Date.now() / 1_000;
  const running = serversIn(text, /^gameserver_state\{.*server_id="([^"]+)".*state="running"\} 1$/gm);
  const samples = [
    ...text.matchAll(/^gameserver_last_sample_timestamp_seconds\{.*server_id="([^"]+)"\} (\S+)$/gm),
  ];
  const count = (pattern: RegExp) => [...text.matchAll(pattern)].length;
  return {
    minute,
    rssMb: rss / 1e6,
    heapMb: heapUsed / 1e6,
    resources,
    streaming: count(/^gameserver_collection_streaming\{.*\} 1$/gm),
    off: count(/^gameserver_state\{.*state="offline"\} 1$/gm),
    late: samples.filter(([, id = '', at]) => running.has(id) && now - Number(at) > LATE_SECONDS).length,
    lost: count(/^gameserver_collection_up\{.*\} 0$/gm),
    calls: record.calls.length,
    limited: record.counters.panelLimited + record.counters.websocketLimited,
  };
}

function serversIn(text: string, pattern: RegExp): ReadonlySet<string> {
  return new Set([...text.matchAll(pattern)].map(([, id = '']) => id));
}

function report(looks: readonly Look[], faults: number, plan: FaultPlan): void {
  const warm = looks.slice(Math.ceil(looks.length * WARM_UP_SHARE));
  const perHour = (of: (look: Look) => number) =>
    (slope(warm.map((look) => [look.minute, of(look)])) * 60).toFixed(1);
  console.log(describeMachine());
  console.log(
    `\n## soak: ${plan.servers} servers for ${plan.minutes} minutes, ${faults} random faults (seed ${plan.seed})\n`,
  );
  console.log(
    `One line per minute. Off: servers stopped by a fault; late: running servers whose sample was older than ${LATE_SECONDS} s at the scrape; lost: servers without a fresh sample (including suspended ones and those of dead nodes); calls and 429s: in that minute.\n`,
  );
  const header = [
    'minute',
    'RSS MB',
    'heap MB',
    'resources',
    'streaming',
    'off',
    'late',
    'lost',
    'calls',
    '429s',
  ];
  const rows = looks.map((look) => [
    String(look.minute),
    look.rssMb.toFixed(0),
    look.heapMb.toFixed(0),
    String(look.resources),
    String(look.streaming),
    String(look.off),
    String(look.late),
    String(look.lost),
    String(look.calls),
    String(look.limited),
  ]);
  console.log(markdownTable({ header, rows }));
  console.log(
    `\nSlopes after the first ${Math.ceil(looks.length * WARM_UP_SHARE)} minutes: RSS ${perHour((look) => look.rssMb)} MB per hour, heap ${perHour((look) => look.heapMb)} MB per hour, resources ${perHour((look) => look.resources)} per hour.`,
  );
}

interface FaultPlan {
  readonly minutes: number;
  readonly servers: number;
  readonly faultsPerMinute: number;
  readonly seed: number;
}

interface Plan extends FaultPlan {
  /**
   * Whether to run attacks instead of random faults. All settings but the minutes are then ignored.
   */
  readonly attacks: boolean;
}

function parsePlan(args: readonly string[]): Plan {
  const { values } = parseArgs({
    args: [...args],
    options: {
      attacks: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '30' },
      servers: { type: 'string', default: '1000' },
      'faults-per-minute': { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
    },
  });
  const number = (name: Exclude<keyof typeof values, 'attacks'>) => {
    const value = Number(values[name]);
    if (Number.isInteger(value) && value > 0) return value;
    throw new Error(`--${name}: expected a whole number of at least 1, got "${values[name]}"`);
  };
  return {
    attacks: values.attacks,
    minutes: number('minutes'),
    servers: number('servers'),
    faultsPerMinute: number('faults-per-minute'),
    seed: number('seed'),
  };
}

const plan = parsePlan(process.argv.slice(2));
if (!plan.attacks) await soak(plan);
else if (!(await attack(plan.minutes))) process.exitCode = 1;
