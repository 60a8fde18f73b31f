import type { Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';
import {
  type BackupsReading,
  type CollectionStatus,
  type Durations,
  type NodeReading,
  type PanelReading,
  type Peaks,
  type QueryReading,
  type ServerReading,
  type StopCounts,
  shownQuery,
} from '../domain/reading.ts';
import type { Sample, ServerState, ServerTarget } from '../domain/server.ts';

/**
 * What may be said of a server at one instant. A reading is live, and a large scrape yields while it
 * renders: all of a server's series come from one view, so that they agree with each other.
 */
export interface ServerView {
  readonly target: ServerTarget;
  readonly status: CollectionStatus;
  /** The node under the name that `gameserver_node_up` has for it. */
  readonly node: string | undefined;
  /** The newest sample while it is fresh: absent beats stale. */
  readonly sample: Sample | undefined;
  /** `unknown` without a fresh sample. */
  readonly state: ServerState;
  /** Unix time in seconds; only with a fresh sample. */
  readonly startTimeSeconds: number | undefined;
  /** Only with a fresh sample. */
  readonly peaks: Peaks | undefined;
  /** Unix time in seconds of the newest sample, be it stale. */
  readonly sampleTimeSeconds: number | undefined;
  readonly starts: number;
  readonly stops: StopCounts;
  readonly lastExitCode: number | undefined;
  readonly isRestartAborted: boolean;
  readonly durations: Durations;
  /** Undefined while it isn't known. */
  readonly expected: boolean | undefined;
  readonly consoleLines: number;
  /** Only while it is known. */
  readonly backups?: BackupsReading | undefined;
  /** Only while the server is running, and the answer isn't stale. */
  readonly query?: QueryReading | undefined;
}

/** What may be said of a server at the monotonic instant `now`. */
export function viewOf(reading: ServerReading, now: number, clock: Pick<Clock, 'toUnixMs'>): ServerView {
  const sample = reading.isFresh(now) ? reading.sample : undefined;
  const fresh = sample !== undefined;
  return {
    target: reading.target,
    status: reading.status,
    node: reading.node,
    sample,
    state: fresh ? reading.state : 'unknown',
    startTimeSeconds: fresh ? unixSeconds(reading.startedAt, clock) : undefined,
    peaks: fresh ? reading.peaks(now) : undefined,
    sampleTimeSeconds: unixSeconds(reading.sampledAt, clock),
    starts: reading.starts,
    stops: reading.stops,
    lastExitCode: reading.lastExitCode,
    isRestartAborted: reading.isRestartAborted,
    durations: reading.durations,
    expected: reading.expected(now),
    consoleLines: reading.consoleLines,
    backups: backupsOf(reading, now),
    query: shownQuery(reading, now),
  };
}

/** What the metrics say of a panel at one instant. */
export interface PanelView {
  readonly name: string;
  readonly up: boolean;
  /** One problem for each cause. */
  readonly problems: readonly Problem[];
  readonly nodes: readonly NodeReading[];
}

/** What the metrics say of a panel at the monotonic instant `now`; looks at each of its servers once, to judge the nodes. */
export function panelViewOf(panel: PanelReading, now: number): PanelView {
  const { name, up, problems } = panel;
  const isFirst = ({ cause }: Problem, at: number) =>
    problems.findIndex((problem) => problem.cause === cause) === at;
  return { name, up, problems: problems.filter(isFirst), nodes: panel.nodes(now) };
}

/** What is known of the server's backups; undefined once it is too old. */
export function backupsOf({ backups, target }: ServerReading, now: number): BackupsReading | undefined {
  const isKnown = backups !== undefined && now < backups.staleAt && target.withoutBackups !== true;
  return isKnown ? backups : undefined;
}

// To the millisecond: what is finer is noise of the clocks.
function unixSeconds(monotonicMs: number | undefined, clock: Pick<Clock, 'toUnixMs'>): number | undefined {
  return monotonicMs === undefined ? undefined : Math.round(clock.toUnixMs(monotonicMs)) / 1_000;
}
