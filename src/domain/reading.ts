import type { Problem } from './problem.ts';
import type { BlockedReason, Sample, SampleSource, ServerState, ServerTarget } from './server.ts';

/** How a server is being observed, in one word; the `condition` label of the self-metrics. */
export const CONDITIONS = [
  'waiting',
  'connecting',
  'streaming',
  'polling',
  'failing',
  'blocked',
  'stopped',
] as const;

/**
 * How a server is being observed:
 * `waiting` for its first call, `connecting`, `streaming` by socket, `polling` by REST, `failing` (retrying without fresh data),
 * `blocked` for a reason that only a person can lift, `stopped`.
 */
export type Condition = (typeof CONDITIONS)[number];

/** A session's condition, and the problem behind it. */
export interface CollectionStatus {
  readonly condition: Condition;
  readonly blocked?: BlockedReason;
  readonly problem?: Problem;
}

/** The highest one-second values of the last minute; a field is absent if there was no such value. */
export interface Peaks {
  readonly cpuCores?: number;
  readonly memoryBytes?: number;
  readonly networkReceiveBytesPerSecond?: number;
  readonly networkTransmitBytesPerSecond?: number;
}

/** Every value of the `reason` label of `gameserver_stops_total`. */
export const STOP_REASONS = [
  'requested',
  'exited',
  'crashed',
  'out_of_memory',
  'disk_full',
  'unknown',
] as const;

/**
 * Why a server stopped: someone requested it, it `exited` by itself with code 0, it crashed, the kernel killed it for its memory
 * usage, the daemon stopped it for its disk usage, or the reason is unknown.
 */
export type StopReason = (typeof STOP_REASONS)[number];

/** How often a server stopped, by reason. */
export type StopCounts = Readonly<Record<StopReason, number>>;

export const NO_STOPS: StopCounts = {
  requested: 0,
  exited: 0,
  crashed: 0,
  out_of_memory: 0,
  disk_full: 0,
  unknown: 0,
};

/** A stop of a server whose reason is decided. */
export interface LastStop {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly reason: StopReason;
  /** Absent if the node reported none. */
  readonly exitCode?: number | undefined;
}

/** Usage from this share of a limit on counts as saturated: nodes round, and grant slightly more or less than the limit. */
export const SATURATED_FROM = 0.95;

/** A value that is read once per interval stays valid for this many, so that one read may fail. */
export const VALID_INTERVALS = 2.5;

/** How long a server was observed, and what it did during that time; in seconds that only increase. */
export interface Durations {
  /** Observed without a gap of more than a minute. */
  readonly observed: number;
  readonly running: number;
  /** At the CPU limit, from `SATURATED_FROM` on; undefined if it has none. */
  readonly cpuSaturated: number | undefined;
  readonly memorySaturated: number | undefined;
}

/** The known state of a server's backups. */
export interface BackupsReading {
  /** Successfully completed backups. */
  readonly count: number;
  /** When the newest of them was completed; absent if there is none. */
  readonly lastSuccessUnixMs?: number;
  /** When the newest failed backup in the panel's list ended; absent if there is none. */
  readonly lastFailureUnixMs?: number;
  /** The size of the newest successful one; absent if the panel doesn't say. */
  readonly lastSizeBytes?: number;
  /** From this monotonic instant on, it is too old to be shown. */
  readonly staleAt: number;
}

/** The result of the newest query of a server's game. */
export interface QueryReading {
  /** Why it failed; absent if the game answered. */
  readonly problem?: Problem;
  /** Absent if the query failed. */
  readonly players?: number;
  /** Absent if the game reports no limit. */
  readonly playersMax?: number;
  readonly durationSeconds: number;
  /** From this monotonic instant on, it is too old to be shown. */
  readonly staleAt: number;
}

/** The state of a session's socket; `none` while there is no socket. */
export const SOCKET_STATES = ['none', 'connecting', 'authenticating', 'streaming', 'refreshing'] as const;
export type SocketState = (typeof SOCKET_STATES)[number];

/**
 * All that is known about one server. Metrics and pages read it; only the fleet writes it. It is live: a reader that yields sees
 * later values. Instants are monotonic milliseconds (`Clock.now`).
 */
export interface ServerReading {
  readonly target: ServerTarget;
  readonly status: CollectionStatus;
  /** The node's name in the listing, else the host and port of its console socket; undefined while neither is known. */
  readonly node: string | undefined;
  readonly socketState: SocketState;
  /** The source of the newest sample; undefined before the first. */
  readonly source: SampleSource | undefined;
  /** The newest accepted sample, with limits resolved and monotonic counters. */
  readonly sample: Sample | undefined;
  readonly sampledAt: number | undefined;
  /** A sample older than this many milliseconds is stale. */
  readonly stalenessMs: number;
  /** The latest known state of the server; meaningful only while a sample is fresh. */
  readonly state: ServerState;
  /** When the server started; stable between samples of one run; undefined if off or unknown. */
  readonly startedAt: number | undefined;
  readonly starts: number;
  readonly consoleLines: number;
  /** Absent if unknown. */
  readonly backups?: BackupsReading | undefined;
  /** The newest query of the current run; `shownQuery` says whether it may be shown. Absent if there is none. */
  readonly query?: QueryReading | undefined;
  readonly stops: StopCounts;
  /** The newest stop, the same object until there is another; absent before the first. */
  readonly lastStop?: LastStop | undefined;
  /** The node may still explain the latest stop; it does within seconds. */
  readonly awaitsWords: boolean;
  /** The latest one that the node reported. */
  readonly lastExitCode: number | undefined;
  /** The node reported that it gives up restarting the server, and the server hasn't started since. */
  readonly isRestartAborted: boolean;
  readonly durations: Durations;
  /** Is the server expected to be running? Undefined while unknown. */
  expected(now: number): boolean | undefined;
  /** Undefined if there was no one-second value in the last minute. */
  peaks(now: number): Peaks | undefined;
  isFresh(now: number): boolean;
}

/** The newest query's result while it may be shown: the server is known to be running, and the answer is not stale. */
export function shownQuery(
  server: Pick<ServerReading, 'query' | 'state' | 'isFresh'>,
  now: number,
): QueryReading | undefined {
  const { query } = server;
  const isShown = query !== undefined && now < query.staleAt;
  return isShown && server.state === 'running' && server.isFresh(now) ? query : undefined;
}

/** A server's problem: why it can't be observed, else why its game can't be queried. */
export function shownProblem(
  server: Pick<ServerReading, 'status' | 'query' | 'state' | 'isFresh'>,
  now: number,
): Problem | undefined {
  return server.status.problem ?? shownQuery(server, now)?.problem;
}

/** The state of a panel's API budget. */
export interface BudgetReading {
  /** Calls a minute to which the exporter limits itself. */
  readonly limitPerMinute: number;
  /** Calls made in the last 60 s. */
  readonly usedLastMinute: number;
  readonly queueLength: number;
  readonly paused: boolean;
  /** The panel's own limit in calls per minute; absent until the panel reports it. */
  readonly knownLimitPerMinute?: number;
}

/** What the configuration requires of a panel, and what its rate limit and the process allow: arithmetic, not a schedule. */
export interface NeedsReading {
  /** API calls per minute that it takes to stream and poll every server as configured, with the listing and backups. */
  readonly requiredCallsPerMinute: number;
  /** Servers that should stream. */
  readonly requiredSockets: number;
  /** Console sockets for which the process has file descriptors; infinite if unlimited. */
  readonly allowedSockets: number;
  /** Servers that are configured to be polled. */
  readonly polls: number;
}

/** The state of a panel's listing. */
export interface DiscoveryReading {
  /** The listing hasn't been read yet; the first time may take half a minute. */
  readonly isPending: boolean;
  /** Discovered servers (observed because the listing contains them). */
  readonly servers: number;
  /** Servers and entries of the listing beyond the admitted maximum. */
  readonly leftOut: number;
  /** Listed servers that are not observed because another one has the same 8-character identifier. */
  readonly ambiguous: number;
  /** When every page was last read, in Unix milliseconds; undefined before the first time. */
  readonly succeededUnixMs: number | undefined;
  /** Walks through the listing that missed a page or an entry. */
  readonly failures: number;
}

/** The state of one node of a panel. */
export interface NodeReading {
  readonly name: string;
  /** Can its servers be observed? */
  readonly up: boolean;
  /** The reason if not. */
  readonly problem?: Problem | undefined;
}

/** All that is known about one panel. */
export interface PanelReading {
  readonly name: string;
  /** Does the panel's API answer and accept the API key? */
  readonly up: boolean;
  /** Problems of the panel or its API key as a whole, or of single paths of a panel that is up; empty if there are none. */
  readonly problems: readonly Problem[];
  /** The known nodes, as of this instant. */
  nodes(now: number): readonly NodeReading[];
  readonly budget: BudgetReading;
  readonly needs: NeedsReading;
  /** Absent if the listing isn't used. */
  readonly discovery?: DiscoveryReading;
}

/** The fleet as metrics and pages see it. */
export interface FleetReading {
  /** Panels in the configuration's order. */
  panels(): readonly PanelReading[];
  /** A snapshot of the servers in the configuration's order: it doesn't change when servers are added or removed. */
  servers(): readonly ServerReading[];
}
