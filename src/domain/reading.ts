// What can be read of panels and servers at an instant.

import type { FieldName, NODE_FIELDS, SCHEDULE_FIELDS } from './fields.ts';
import type { ServerState } from './power-states.ts';
import type { CauseCode, Problem } from './problems.ts';
import type { SampleSource } from './sample.ts';
import type { BlockedReason, ServerTarget } from './server.ts';
import type { Clock } from './time.ts';

/**
 * How a server is being monitored, the `condition` label of the self-metrics: `waiting` for its
 * first call, `connecting`, `streaming` by socket, `polling` by REST, `failing` (retrying without
 * fresh data), `blocked` for a reason that only a person can lift, `stopped`.
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

/** A session's condition, and why the server can't be monitored as configured. */
export interface CollectionStatus {
  readonly condition: Condition;
  readonly blocked?: BlockedReason | undefined;
  readonly problem?: Problem;
}

/**
 * Why a server stopped, the `reason` label of `gameserver_stops_total`: someone requested it, it
 * `exited` by itself with code 0, it crashed, the kernel killed it for its memory usage, the daemon
 * stopped it for its disk usage, or the reason is unknown.
 */
export const STOP_REASONS = [
  'requested',
  'exited',
  'crashed',
  'out_of_memory',
  'disk_full',
  'unknown',
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

const CRASHES = new Set<StopReason | undefined>(['crashed', 'out_of_memory', 'disk_full']);

/** Whether the server stopped without anybody requesting it. */
export function isCrash(reason: StopReason | undefined): boolean {
  return CRASHES.has(reason);
}

export type StopCounts = Readonly<Record<StopReason, number>>;
export const NO_STOPS = Object.fromEntries(STOP_REASONS.map((reason) => [reason, 0])) as StopCounts;

/**
 * A stop whose reason is decided, in monotonic milliseconds; without an exit code if the node
 * reported none.
 */
export interface LastStop {
  readonly at: number;
  readonly reason: StopReason;
  readonly exitCode?: number | undefined;
  /**
   * It happened while the exporter was not running, so that `at` is when the exporter found out.
   */
  readonly whileDown?: true | undefined;
}

/** Such a stop as metrics and pages show it, in Unix time. */
export interface ShownStop {
  readonly timestamp_seconds: number;
  readonly reason: StopReason;
  readonly exit_code?: number | undefined;
  readonly while_exporter_down?: true | undefined;
}

/** A value that is read once per interval stays valid for this many, so that one read may fail. */
export const VALID_INTERVALS = 2.5;

/**
 * What was read of a server on its own, under the names of its snapshot; from a monotonic instant
 * on, it is too old to be shown.
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

/** The state of a session's socket; `none` while there is no socket. */
export const SOCKET_STATES = ['none', 'connecting', 'authenticating', 'streaming', 'refreshing'] as const;
export type SocketState = (typeof SOCKET_STATES)[number];

/**
 * One server at one instant: the only form in which metrics, JSON and pages read it. It contains
 * what is fresh, with limits resolved and in the metrics' units; what is unknown, unlimited or
 * stale is undefined. Times are Unix times in seconds.
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
  /** The source of the newest sample, even of a stale one. */
  readonly source: SampleSource | undefined;
  /** Empty if they aren't read. */
  readonly schedules: readonly ScheduleReading[];
  readonly stops: StopCounts;
  readonly last_stop: ShownStop | undefined;
  /** Why the server is off; undefined while it is on, or until that is decided. */
  readonly off_reason: StopReason | undefined;
  /** The node may still explain the latest stop; it does within seconds. */
  readonly is_stop_awaited: boolean;
  /** The stops of the last hour that nobody requested, oldest first. */
  readonly unwanted_stops: readonly ShownStop[];
}

/** The number of state changes, and of stops that nobody requested, kept per server. */
export const MAX_CHANGES_KEPT = 20;

export const CHART_SERIES = [
  'cpu_usage_cores',
  'memory_usage_bytes',
  'network_receive_bytes_per_second',
  'network_transmit_bytes_per_second',
  'players',
] as const satisfies readonly (keyof Snapshot)[];
export type ChartSeries = (typeof CHART_SERIES)[number];

/** Seconds between two points of a chart, and the number of points: five minutes. */
export const STEP_SECONDS = 5;
export const POINTS = 60;

/**
 * The server changed to another state (`unknown` if it stopped sending samples), and why it
 * stopped, once that is known.
 */
export interface StateChange extends Partial<ShownStop> {
  readonly timestamp_seconds: number;
  readonly state: ServerState;
}

/** The last minutes of one server, up to its newest point; each list begins with the oldest. */
export interface RecentHistory {
  readonly end_timestamp_seconds: number;
  /** Null if there was no fresh value. `players` is absent if the game was never queried. */
  readonly series: Readonly<Partial<Record<ChartSeries, readonly (number | null)[]>>>;
  readonly state_changes: readonly StateChange[];
}

/**
 * One server of the fleet; only the fleet changes it. `now` is a monotonic instant in milliseconds.
 */
export interface ServerReading {
  readonly target: ServerTarget;
  readonly node: string | undefined;
  readonly status: CollectionStatus;
  readonly socketState: SocketState;
  snapshot(now: number, clock: Pick<Clock, 'toUnixMs'>): Snapshot;
  /**
   * The snapshot for a scrape: in the first one, the counters of a server that is known from before
   * a restart are 0.
   */
  scraped(now: number, clock: Pick<Clock, 'toUnixMs'>): Snapshot;
  history(now: number, clock: Pick<Clock, 'toUnixMs'>): RecentHistory;
  /** Undefined before its first sample. */
  strip(now: number): Strip | undefined;
}

export interface BudgetReading {
  /** Calls a minute to which the exporter limits itself. */
  readonly limitPerMinute: number;
  /** Whether the configuration sets it, so that there is no limit to learn. */
  readonly isPinned: boolean;
  readonly usedLastMinute: number;
  readonly queueLength: number;
  readonly paused: boolean;
  /** The panel's own limit in calls per minute; absent until the panel reports it. */
  readonly knownLimitPerMinute?: number;
}

/**
 * What the configuration requires of a panel, and what its rate limit and the process allow:
 * arithmetic, not a schedule.
 */
export interface NeedsReading {
  /**
   * API calls per minute that it takes to stream and poll every server as configured, with the
   * server list and backups.
   */
  readonly requiredCallsPerMinute: number;
  /** Servers that should stream. */
  readonly requiredSockets: number;
  /** Console sockets for which the process has file descriptors; infinite if unlimited. */
  readonly allowedSockets: number;
  /** Servers that are configured to be polled. */
  readonly polls: number;
}

export interface DiscoveryReading {
  /** The server list hasn't been read yet; the first time may take half a minute. */
  readonly isPending: boolean;
  /** Discovered servers (monitored because the server list contains them). */
  readonly servers: number;
  /** Servers and entries of the server list beyond the admitted maximum. */
  readonly leftOut: number;
  /**
   * Listed servers that are not monitored because another one has the same 8-character identifier.
   */
  readonly ambiguous: number;
  /** When every page was last read, in Unix milliseconds; undefined before the first time. */
  readonly succeededUnixMs: number | undefined;
  /** Walks that missed a page or an entry. */
  readonly failures: number;
}

/** A problem of a panel or node, and the monotonic instant at which it began. */
export interface ProblemReading extends Problem {
  readonly since: number;
}

export interface NodeReading {
  readonly name: string;
  /** Whether its servers can be monitored; `problem` is the reason if not. */
  readonly up: boolean;
  readonly problem?: ProblemReading | undefined;
  /**
   * How many of its servers have no fresh data because of the node, by cause, even if the node
   * itself isn't blamed.
   */
  readonly lost?: ReadonlyMap<CauseCode, number> | undefined;
}

/** What a panel's application API reports about one of its nodes. */
export interface NodeCapacity extends Readonly<Partial<Record<keyof typeof NODE_FIELDS, number>>> {
  readonly name: string;
}

export interface PanelReading {
  readonly name: string;
  /** Whether its API responds and accepts the API key. */
  readonly up: boolean;
  /** The exporter is testing whether the panel, a path or a node causes the failures. */
  readonly isJudging?: boolean;
  /**
   * Problems of the panel or its API key as a whole, or of single paths of a panel that is up;
   * empty if there are none.
   */
  readonly problems: readonly ProblemReading[];
  nodes(now: number): readonly NodeReading[];
  /**
   * What its application API reports about its nodes, while that is fresh; empty if it isn't read.
   */
  capacities(now: number): readonly NodeCapacity[];
  readonly budget: BudgetReading;
  readonly needs: NeedsReading;
  /** Absent if the server list isn't used. */
  readonly discovery?: DiscoveryReading;
}

/** The fleet as metrics and pages see it, in the configuration's order. */
export interface FleetReading {
  panels(): readonly PanelReading[];
  /** These servers: the list doesn't change when some are added or removed. */
  servers(): readonly ServerReading[];
}

/** The points of a state strip: two hours in steps of two minutes. */
export const STRIP_POINTS = 60;

/**
 * What a server did during a point of its strip, from the least to the most serious, of which the
 * worst is kept: `changing` while it starts or stops, `off` if it is allowed to be off, otherwise
 * `down`, as on the status page.
 */
export const STRIP_STATES = ['unknown', 'running', 'changing', 'off', 'down'] as const;
export type StripState = (typeof STRIP_STATES)[number];

/** What a server did in the last two hours. */
export interface Strip {
  /** The worst state of each point, oldest first, by its place in `STRIP_STATES`. */
  readonly worst: readonly number[];
  /** How long the server was in each state, in seconds, by its place in `STRIP_STATES`. */
  readonly seconds: readonly number[];
}
