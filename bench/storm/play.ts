// Plays a scene to a client that streams the whole fleet, and measures the client.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { selfSigned } from '../ingest/certificate.ts';
import { ProgramProcess } from '../program-process.ts';
import { median } from '../report/statistics.ts';
import { freePort } from '../startup/launch.ts';
import { cpuMsOf, ObservedProcess } from './observed-process.ts';
import type { PanelCounts, StormPanelProgram } from './panel.ts';
import { type Probe, probe } from './probes.ts';
import type { Scene, Stage } from './scenes.ts';
import type { Turns } from './turn-meter.ts';
import { calmFrom, type Look, usage, Watch } from './watch.ts';

export type StormClient = 'exporter' | 'bare client';

/** A fleet and its panel. */
export interface Fleet {
  readonly servers: number;
  readonly tls: boolean;
  /** The panel's rate limit in calls per minute; undefined if it is high enough for all calls. */
  readonly limit: number | undefined;
}

/** The measurements of a client in one scene. Times are in milliseconds. */
export interface Played {
  readonly fleet: Fleet;
  readonly scene: Scene;
  readonly client: StormClient;
  /** Absent for the bare client, which serves no requests. */
  readonly responses?:
    | { readonly healthyMs: number; readonly scrapeMs: number; readonly calmScrapeMs: number }
    | undefined;
  readonly turns: Turns;
  /** The longest turn in the calm before the scene. */
  readonly calmTurnMs: number;
  /** The client's CPU usage in the calm before the scene, as a share of a core. */
  readonly calmUsage: number;
  /** The client's CPU usage in the first minute of the scene, as a share of a core. */
  readonly minuteUsage: number;
  /**
   * The CPU time from the beginning of the scene until the client was calm, or until the last look.
   */
  readonly cpuMs: number;
  /** The part of `cpuMs` that exceeds the usage before the scene. */
  readonly extraCpuMs: number;
  /** The time from the end of the scene until the client was calm; undefined if it never was. */
  readonly calmAfterMs: number | undefined;
  /** The time from the end of the scene until all servers streamed; undefined if they never did. */
  readonly allStreamAfterMs: number | undefined;
  /**
   * The share of servers that streamed a minute after the end of the scene, or at the last look.
   */
  readonly streamingAfterMinute: number;
  readonly calls: number;
  readonly limited: number;
  readonly upgrades: number;
  readonly rssBeforeMb: number;
  readonly rssPeakMb: number;
  /**
   * The panel's CPU usage from the beginning of the scene to the last look, as a share of a core.
   */
  readonly panelUsage: number;
}

export interface PlayOptions {
  /** The maximum time for which a client is watched after a scene. */
  readonly seconds: number;
  /** The folder for CPU profiles; none are taken if undefined. */
  readonly profiles: string | undefined;
}

const NODES = 50;

/** A limit that no client reaches. */
const CARRYING_LIMIT = 60_000;

const TOKEN_SECONDS = 600;
/**
 * The life of tokens on a panel with a rate limit. The limit is too low for renewals, so the client
 * would never be calm.
 */
const LONG_TOKEN_SECONDS = 86_400;

/** After this time, hot code is compiled, and the garbage of connecting is collected. */
const WARM_MS = 20_000;
/** After this time, the calls of the start don't count for the rate limit any more. */
const WINDOW_MS = 65_000;
const CALM_MS = 15_000;
/** Long enough for 10,000 servers over TLS on a busy machine. */
const START_DEADLINE_MS = 600_000;
const MINUTE_MS = 60_000;

const HEALTHY_PAUSE_MS = 20;
const SCRAPE_PAUSE_MS = 2_000;

export async function play(
  fleet: Fleet,
  scene: Scene,
  client: StormClient,
  options: PlayOptions,
): Promise<Played> {
  const folder = await mkdtemp(join(tmpdir(), 'storm-'));
  const panel = await new ProgramProcess<StormPanelProgram>('storm-panel', {
    servers: fleet.servers,
    nodes: NODES,
    limitPerMinute: CARRYING_LIMIT,
    tokenLifetimeSeconds: fleet.limit === undefined ? TOKEN_SECONDS : LONG_TOKEN_SECONDS,
    ...(fleet.tls && { tls: await selfSigned(folder) }),
  }).start();
  try {
    const started = await startClient(client, panel, folder, fleet);
    const watch = new Watch(started.process, panel);
    try {
      return await measure({ fleet, scene, client, panel, watch, ...started }, options);
    } finally {
      // The watch has to end before the process that it watches.
      await watch.stop();
      for (const one of started.probes) one.stop();
      await started.process.stop();
    }
  } finally {
    await panel.stop();
    await rm(folder, { recursive: true });
  }
}

interface Started {
  readonly process: ObservedProcess;
  /** Probes of `/-/healthy` and `/metrics`; none for the bare client. */
  readonly probes: readonly Probe[];
  readonly reload: () => Promise<void>;
}

async function startClient(
  client: StormClient,
  panel: ProgramProcess<StormPanelProgram>,
  folder: string,
  fleet: Fleet,
): Promise<Started> {
  const address = await panel.ask('address', undefined);
  if (client === 'bare client') {
    const reload = () => Promise.reject(new Error('the bare client has no configuration'));
    return { process: ObservedProcess.program('storm-client', address), probes: [], reload };
  }
  const file = join(folder, 'config.yaml');
  const write = (pollInterval: string) => writeFile(file, configText(address, fleet, pollInterval));
  await write('30s');
  const port = await freePort();
  const process = ObservedProcess.exporter(file, port);
  const reload = async () => {
    await write('45s');
    process.hangUp();
  };
  const url = `http://127.0.0.1:${port}`;
  const probes = [probe(`${url}/-/healthy`, HEALTHY_PAUSE_MS), probe(`${url}/metrics`, SCRAPE_PAUSE_MS)];
  return { process, probes, reload };
}

function configText(
  { url, apiKey }: { url: string; apiKey: string },
  fleet: Fleet,
  pollInterval: string,
): string {
  return [
    'panels:',
    '  - name: bench',
    `    url: ${url}`,
    `    api_key: ${apiKey}`,
    `    poll_interval: ${pollInterval}`,
    `    discover: { interval: 1m, max_servers: ${fleet.servers} }`,
    ...(fleet.tls ? ['    tls_config: { insecure_skip_verify: true }'] : []),
  ].join('\n');
}

interface Measured extends Started {
  readonly fleet: Fleet;
  readonly scene: Scene;
  readonly client: StormClient;
  readonly panel: ProgramProcess<StormPanelProgram>;
  readonly watch: Watch;
}

async function measure(measured: Measured, { seconds, profiles }: PlayOptions): Promise<Played> {
  const { fleet, scene, client, panel, watch, process, probes, reload } = measured;
  const [healthy, scrapes] = probes;
  const stage: Stage = { panel, reload };
  const isWhole = (look: Look | undefined) => look?.streaming === fleet.servers;
  await watch.until((looks) => isWhole(looks.at(-1)), START_DEADLINE_MS);
  if (!isWhole(watch.looks.at(-1)))
    throw new Error(`only ${watch.looks.at(-1)?.streaming} of ${fleet.servers} servers streamed`);
  if (fleet.limit !== undefined) {
    await panel.ask('setLimit', fleet.limit);
    await delay(WINDOW_MS);
  }
  await delay(WARM_MS);

  await process.meter({ meter: 'reset' });
  for (const one of probes) one.take();
  const calmStart = watch.looks.length - 1;
  await delay(CALM_MS);
  const calm = watch.looks.slice(calmStart);
  const calmUsage = usage(firstOf(calm), lastOf(calm));
  const calmTurns = await process.meter({ meter: 'reset' });
  const calmScrapes = scrapes?.take() ?? [];
  healthy?.take();
  const before = await panel.ask('counts', undefined);
  const panelPid = panel.pid;
  if (profiles !== undefined)
    await process.meter({ meter: 'profile', file: await profileFile(profiles, measured) });

  const began = watch.looks.length - 1;
  const panelCpu = cpuMsOf(panelPid);
  const beganAt = performance.now();
  await scene.begin(stage);
  if (scene.seconds > 0) await delay(scene.seconds * 1_000);
  await scene.end?.(stage);
  const endedAt = performance.now();
  const isAfter = (look: Look) => look.at > endedAt;
  const isOver = (looks: readonly Look[]) => {
    const after = looks.filter(isAfter);
    return isWhole(looks.at(-1)) && calmFrom(after, calmUsage) !== undefined;
  };
  await watch.until(isOver, seconds * 1_000);
  const panelUsage = (cpuMsOf(panelPid) - panelCpu) / (performance.now() - beganAt);
  const [healthyTimes, scrapeTimes] = [healthy?.take() ?? [], scrapes?.take() ?? []];
  const turns = await process.meter({ meter: 'read' });
  if (profiles !== undefined) await process.meter({ meter: 'end' });
  await watch.stop();
  const counts = await panel.ask('counts', undefined);

  const looks = watch.looks.slice(began);
  const after = looks.filter(isAfter);
  const isCalm = calmFrom(after, calmUsage);
  const until = isCalm ?? lastOf(looks);
  const first = firstOf(looks);
  // After the last look with a gap, all servers streamed until the end.
  const lastGap = after.findLastIndex((look) => !isWhole(look));
  const whole = after[lastGap + 1];
  const atMinute = after.findLast(({ at }) => at <= endedAt + MINUTE_MS) ?? looks.at(-1);
  const cpuMs = until.cpuMs - first.cpuMs;
  return {
    fleet,
    scene,
    client,
    responses: healthy && {
      healthyMs: Math.max(...healthyTimes),
      scrapeMs: Math.max(...scrapeTimes),
      calmScrapeMs: median(calmScrapes),
    },
    turns,
    calmTurnMs: calmTurns.longestMs,
    calmUsage,
    minuteUsage: usage(first, looks.findLast(({ at }) => at <= beganAt + MINUTE_MS) ?? until),
    cpuMs,
    extraCpuMs: cpuMs - calmUsage * (until.at - first.at),
    calmAfterMs: isCalm && isCalm.at - endedAt,
    allStreamAfterMs: whole && whole.at - endedAt,
    streamingAfterMinute: (atMinute?.streaming ?? 0) / fleet.servers,
    calls: callsOf(counts) - callsOf(before),
    limited: counts.limited - before.limited,
    upgrades: counts.upgrades - before.upgrades,
    rssBeforeMb: Math.max(...calm.map(({ rssMb }) => rssMb)),
    rssPeakMb: Math.max(...looks.map(({ rssMb }) => rssMb)),
    panelUsage,
  };
}

function firstOf([first]: readonly Look[]): Look {
  if (first === undefined) throw new Error('the client was not looked at');
  return first;
}

function lastOf(looks: readonly Look[]): Look {
  return firstOf(looks.slice(-1));
}

function callsOf({ listing, websocket, resources }: PanelCounts): number {
  return listing + websocket + resources;
}

async function profileFile(folder: string, { fleet, scene, client }: Measured): Promise<string> {
  await mkdir(folder, { recursive: true });
  const name = [
    'storm',
    fleet.servers,
    fleet.tls ? 'tls' : 'plain',
    fleet.limit ?? 'unlimited',
    scene.name,
    client,
  ];
  return resolve(folder, `${name.join('-').replaceAll(' ', '-')}.cpuprofile`);
}
