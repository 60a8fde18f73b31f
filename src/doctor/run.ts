// Runs the exporter until its servers have data or a problem, for a minute at most.
import { pino } from 'pino';
import { systemNames } from '../addresses/name-lookups.ts';
import type { RunningPanel } from '../app/running-panel.ts';
import { SINGLE_SHARD } from '../app/shard.ts';
import { SocketLimit } from '../app/socket-limit.ts';
import { Supervisor } from '../app/supervisor.ts';
import type { Config, PanelConfig } from '../config/config.ts';
import { CAUSES } from '../diagnosis/causes.ts';
import type { Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problems.ts';
import type { QuerySettings } from '../domain/server.ts';
import { sleep } from '../domain/waits.ts';
import type { ServerIdentity } from '../fleet/discover-rules.ts';
import type { PanelFleet } from '../fleet/panel-fleet.ts';
import type { ServerRecord } from '../fleet/server-record.ts';
import type { QueryClient } from '../query/query-thread.ts';
import { describePanel } from './panel-report.ts';
import type { DoctorReport } from './report.ts';
import { describeSelection } from './rule-selection.ts';

/** The maximum time for which the exporter runs. */
export const MAX_RUN_MS = 60_000;

/**
 * If there is a problem, the exporter runs until nothing has changed for this long: the problem of
 * one server may turn out to be that of its node or panel.
 */
const SETTLED_MS = 5_000;

const LOOK_EVERY_MS = 200;

/** A short interval, because each game is queried only once. */
const QUERY_INTERVAL_MS = 5_000;

export interface RunOptions {
  readonly clock: Clock;
  /** Ends the run early. */
  readonly signal: AbortSignal;
  /** Whether to run this server; by default, all are run. */
  readonly isMeant?: (server: ServerIdentity) => boolean;
  /** How many files the process may open; unlimited if absent. */
  readonly descriptorLimit?: number | undefined;
  /** The source of random numbers; 0 gives the shortest back-off. */
  readonly random?: () => number;
  /** Queries game servers for their players; the real client by default. */
  readonly queryClient?: QueryClient;
  /** Called with the number of servers that have data, and the number of known servers. */
  readonly onProgress?: (withData: number, servers: number) => void;
}

/**
 * Runs the exporter for up to a minute, until every server has data or a problem, and describes the
 * result.
 *
 * @throws CodedError if the environment's proxy is invalid
 */
export async function runDoctor(config: Config, options: RunOptions): Promise<DoctorReport> {
  const { clock, signal, random = Math.random, isMeant = () => true } = options;
  const names = systemNames();
  const calls = new Map<string, number>();
  const countCall = (panel: string) => void calls.set(panel, (calls.get(panel) ?? 0) + 1);
  const supervisor = new Supervisor(queriedSoon(config), {
    clock,
    log: pino({ level: 'silent' }),
    random,
    telemetry: (panel) => ({ request: () => countCall(panel) }),
    shard: SINGLE_SHARD,
    isOurs: isMeant,
    socketLimit: new SocketLimit(options.descriptorLimit),
    queryClient: options.queryClient,
    names,
  });
  const startedAt = clock.now();
  try {
    supervisor.start();
    const seen = await untilDescribable(supervisor.running, options);
    const panels = supervisor.running.map(({ config: { name, url }, fleet }) => {
      const given = config.panels.find((panel) => panel.name === name);
      return describePanel({
        name,
        url,
        calls: calls.get(name) ?? 0,
        ...readFleet(fleet, given, clock, seen),
      });
    });
    return { panels, stopped: signal.aborted, durationMs: clock.now() - startedAt };
  } finally {
    await supervisor.stop();
  }
}

/** The configuration, with short query intervals. */
function queriedSoon(config: Config): Config {
  const soon = <Queried extends { readonly query?: QuerySettings }>(one: Queried): Queried =>
    one.query === undefined ? one : { ...one, query: { ...one.query, intervalMs: QUERY_INTERVAL_MS } };
  const panels = config.panels.map((panel): PanelConfig => {
    const { servers, listing } = panel;
    const discover = listing?.discover && {
      ...listing.discover,
      query: listing.discover.query?.map(soon) ?? [],
    };
    return {
      ...panel,
      servers: servers.map(soon),
      ...(listing !== undefined && { listing: { ...listing, ...(discover && { discover }) } }),
    };
  });
  return { ...config, panels };
}

/** The latest problem of each server that hasn't been monitored as configured since then. */
type SeenProblems = ReadonlyMap<ServerRecord, Problem>;

/** Resolves when all servers have a stable outcome, the time is up, or the signal aborts. */
async function untilDescribable(
  panels: readonly RunningPanel[],
  { clock, signal, onProgress }: RunOptions,
): Promise<SeenProblems> {
  const seen = new Map<ServerRecord, Problem>();
  const endsAt = clock.now() + MAX_RUN_MS;
  let [before, unchangedSince] = ['', clock.now()];
  while (clock.now() < endsAt) {
    await sleep(clock, LOOK_EVERY_MS, signal).catch(() => undefined);
    if (signal.aborted) return seen;
    const now = clock.now();
    const records = panels.flatMap(({ fleet }) => fleet.records);
    onProgress?.(records.filter((record) => record.isFresh(now)).length, records.length);
    for (const record of records) {
      const { problem } = record.status;
      if (problem !== undefined) seen.set(record, problem);
      else if (seen.has(record) && isMonitoredAsMeant(record, clock)) seen.delete(record);
    }
    const texts = panels.flatMap(({ fleet }) => problemTexts(fleet, now)).join('\n');
    if (texts !== before) [before, unchangedSince] = [texts, now];
    const isSettled = texts === '' || now - unchangedSince >= SETTLED_MS;
    if (panels.every((panel) => isPanelDown(panel.fleet) || (isSettled && hasOutcome(panel, clock))))
      return seen;
  }
  return seen;
}

/** The current problems as texts, to detect changes. Facts such as a suspension aren't included. */
function problemTexts(fleet: PanelFleet, now: number): readonly string[] {
  const reading = fleet.reading();
  return [
    ...reading.problems.map(({ cause }) => cause),
    ...reading.nodes(now).flatMap(({ name, problem }) => (problem ? [`${name} ${problem.cause}`] : [])),
    ...fleet.records.flatMap(({ target, status: { condition, problem } }) =>
      problem === undefined || CAUSES[problem.cause].severity === 'fact'
        ? []
        : [`${target.id} ${condition} ${problem.cause}`],
    ),
  ];
}

/**
 * Is the panel as a whole known to be unusable? A warning, such as the pause after a 429, doesn't
 * count, because it ends by itself.
 */
function isPanelDown(fleet: PanelFleet): boolean {
  const { up, problems } = fleet.reading();
  return !up && problems.some(isError);
}

function isError({ cause }: Problem): boolean {
  return CAUSES[cause].severity === 'error';
}

/**
 * Whether each server of the panel has data or a problem. Discovered servers are known only after
 * the server list was read.
 */
function hasOutcome({ config, fleet }: RunningPanel, clock: Clock): boolean {
  const { up, isJudging, discovery, problems } = fleet.reading();
  const isKnown = isListRead(config, fleet) || problems.some(isError);
  return (
    up &&
    isJudging !== true &&
    isKnown &&
    discovery?.isPending !== true &&
    fleet.records.every((record) => isDecided(record, clock))
  );
}

/** Was the server list read, if the panel discovers servers? */
function isListRead({ listing }: Pick<PanelConfig, 'listing'>, fleet: PanelFleet): boolean {
  return listing?.discover === undefined || fleet.discovery.reading?.succeededUnixMs !== undefined;
}

/**
 * Whether a server is monitored as configured. A polled server isn't, while its socket is retried.
 */
function isMonitoredAsMeant(record: ServerRecord, clock: Clock): boolean {
  const isMeant = record.target.mode === 'poll' || record.snapshot(clock.now(), clock).source === 'socket';
  return isMeant && isDecided(record, clock);
}

function isDecided(record: ServerRecord, clock: Clock): boolean {
  const now = clock.now();
  const { status, target, socketState } = record;
  if (status.problem !== undefined || status.condition === 'blocked') return true;
  if (!record.isFresh(now)) return false;
  const { source, query_up } = record.snapshot(now, clock);
  // While the server is polled, its socket may still fail.
  if (socketState !== 'none' && source !== 'socket') return false;
  return target.query === undefined || record.runAt(now) === undefined || query_up !== undefined;
}

/** The fleet's readings. A server that is being retried has the problem of its last attempt. */
function readFleet(fleet: PanelFleet, given: PanelConfig | undefined, clock: Clock, seen: SeenProblems) {
  const now = clock.now();
  const reading = fleet.reading();
  const { records } = fleet;
  const { discovery } = reading;
  const isListed = discovery?.succeededUnixMs !== undefined;
  const targets = records.map(({ target }) => target);
  return {
    reading,
    isListRead: given === undefined || isListRead(given, fleet),
    listedNames: fleet.discovery.listed.map(({ name }) => name),
    nodes: reading.nodes(now),
    servers: records.map((record) => {
      const snapshot = record.snapshot(now, clock);
      return Object.assign(snapshot, { problem: snapshot.problem ?? seen.get(record) });
    }),
    selection:
      isListed && given
        ? describeSelection(given, fleet.discovery.listed, targets, discovery.leftOut)
        : undefined,
  };
}
