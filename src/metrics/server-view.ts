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
 * What the metrics show of a server at one instant. A reading is live, and a large scrape yields while it
 * renders, so all series of a server come from one view to be consistent with each other.
 */
export interface ServerView {
  readonly target: ServerTarget;
  readonly status: CollectionStatus;
  /** The node's name, as in `gameserver_node_up`. */
  readonly node: string | undefined;
  /** The newest sample while it is fresh; a stale sample is absent. */
  readonly sample: Sample | undefined;
  /** `unknown` without a fresh sample. */
  readonly state: ServerState;
  /** Unix time in seconds; only with a fresh sample. */
  readonly startTimeSeconds: number | undefined;
  /** Only with a fresh sample. */
  readonly peaks: Peaks | undefined;
  /** Unix time in seconds of the newest sample, even if it is stale. */
  readonly sampleTimeSeconds: number | undefined;
  readonly starts: number;
  readonly stops: StopCounts;
  readonly lastExitCode: number | undefined;
  readonly isRestartAborted: boolean;
  readonly durations: Durations;
  /** Undefined if unknown. */
  readonly expected: boolean | undefined;
  readonly consoleLines: number;
  /** Undefined if unknown. */
  readonly backups?: BackupsReading | undefined;
  /** Only while the server is running and the result is fresh. */
  readonly query?: QueryReading | undefined;
}

/** The view of a server at the monotonic instant `now`. */
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

/** What the metrics show of a panel at one instant. */
export interface PanelView {
  readonly name: string;
  readonly up: boolean;
  /** One problem for each cause. */
  readonly problems: readonly Problem[];
  readonly nodes: readonly NodeReading[];
}

/**
 * The view of a panel at the monotonic instant `now`; looks at each of its servers once, to determine the state of the nodes.
 */
export function panelViewOf(panel: PanelReading, now: number): PanelView {
  const { name, up, problems } = panel;
  const isFirst = ({ cause }: Problem, at: number) =>
    problems.findIndex((problem) => problem.cause === cause) === at;
  return { name, up, problems: problems.filter(isFirst), nodes: panel.nodes(now) };
}

/** The server's backups; undefined if the reading is too old. */
export function backupsOf({ backups, target }: ServerReading, now: number): BackupsReading | undefined {
  const isKnown = backups !== undefined && now < backups.staleAt && target.withoutBackups !== true;
  return isKnown ? backups : undefined;
}

// Rounded to milliseconds, because anything finer is clock noise.
function unixSeconds(monotonicMs: number | undefined, clock: Pick<Clock, 'toUnixMs'>): number | undefined {
  return monotonicMs === undefined ? undefined : Math.round(clock.toUnixMs(monotonicMs)) / 1_000;
}
