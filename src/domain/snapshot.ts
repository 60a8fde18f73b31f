// One server at one instant.

import type { ServerState } from './power-states.ts';
import type { Problem } from './problems.ts';
import type { SampleSource } from './sample.ts';
import type { SCHEDULE_FIELDS } from './schedule-fields.ts';
import type { BlockedReason, ServerTarget } from './server.ts';
import type { FieldName } from './server-fields.ts';
import type { ShownStop, StopCounts, StopReason } from './stops.ts';

/**
 * How a server is being monitored, the label `condition` of the self-metrics: `waiting` for its
 * first call, `connecting`, `streaming` over a socket, `polling` the API, `failing` (retrying
 * without fresh data), `blocked` until a person changes something, `stopped`.
 */
export const CONDITIONS = [
  'waiting',
  'connecting',
  'streaming',
  'polling',
  'failing',
  'blocked',
  'stopped',
] as const;

export type Condition = (typeof CONDITIONS)[number];

/** A session's condition, and why its server can't be monitored as configured. */
export interface CollectionStatus {
  readonly condition: Condition;
  readonly blocked?: BlockedReason | undefined;
  readonly problem?: Problem;
}

/** The state of a session's socket; `none` while there is no socket. */
export const SOCKET_STATES = ['none', 'connecting', 'authenticating', 'streaming', 'refreshing'] as const;

export type SocketState = (typeof SOCKET_STATES)[number];

/**
 * The number of intervals for which a periodically read value stays valid, so that one read may
 * fail.
 */
export const VALID_INTERVALS = 2.5;

/**
 * A part of a snapshot that is read separately, and the monotonic instant at which it becomes
 * stale.
 */
type PartRead<Names extends keyof Snapshot> = Readonly<Partial<Pick<Snapshot, Names>>> & {
  readonly staleAt: number;
};

export type BackupsReading = PartRead<Extract<FieldName, `backup${string}`>>;

export type SchedulesReading = PartRead<Extract<keyof Snapshot, `schedules${string}`>>;

export type QueryReading = PartRead<
  'players' | 'bots' | 'players_max' | 'query_problem' | 'query_duration_seconds'
>;

export interface ScheduleReading extends Readonly<Partial<Record<keyof typeof SCHEDULE_FIELDS, number>>> {
  readonly id: string;
  readonly name: string;
}

/**
 * One server at one instant: the form in which metrics, JSON and pages read it. It contains only
 * fresh values, with resolved limits, in the metrics' units; unknown, unlimited and stale values
 * are undefined. Times are Unix times in seconds.
 */
export interface Snapshot extends Readonly<Record<FieldName, number | undefined>>, CollectionStatus {
  readonly timestamp_seconds: number;
  readonly target: ServerTarget;
  /** The node's name in the server list, else the host and port of its console socket. */
  readonly node: string | undefined;
  /** `unknown` without a fresh sample. */
  readonly state: ServerState;
  /** Why its game can't be queried, while it is running. */
  readonly query_problem: Problem | undefined;
  /** The source of the newest sample, even if the sample is stale. */
  readonly source: SampleSource | undefined;
  /** Empty if they aren't read. */
  readonly schedules: readonly ScheduleReading[];
  readonly stops: StopCounts;
  readonly last_stop: ShownStop | undefined;
  /** Why the server is off; undefined while it is on or the reason is undecided. */
  readonly off_reason: StopReason | undefined;
  /** Whether the node may still explain the latest stop, which it does within seconds. */
  readonly is_stop_awaited: boolean;
  /** Stops of the last hour that nobody requested, oldest first. */
  readonly unwanted_stops: readonly ShownStop[];
}
