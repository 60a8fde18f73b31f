import type { Problem } from './problem.ts';
import type { BlockedReason, Sample, SampleSource, ServerState, ServerTarget } from './server.ts';

/** Where one server's collection stands, in one word; the `condition` label of the self-metrics. */
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
 * `waiting` for its first turn, `connecting`, `streaming` by socket, `polling` by REST, `failing` (retrying
 * with nothing fresh), `blocked` for a reason that only a person can lift, `stopped`.
 */
export type Condition = (typeof CONDITIONS)[number];

/** A session's condition, and the problem behind it. */
export interface CollectionStatus {
  readonly condition: Condition;
  readonly blocked?: BlockedReason;
  readonly problem?: Problem;
}

/** The highest one-second values of the last minute; a field is absent where no such value was seen. */
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
 * Why a server stopped: somebody asked for it, it `exited` by itself with code 0, it crashed, the kernel killed it for its memory, the
 * daemon stopped it for its disk; or nothing tells.
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

/** A stop of a server, its reason decided. */
export interface LastStop {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly reason: StopReason;
  /** Absent where the node named none. */
  readonly exitCode?: number | undefined;
}

/** How long a server was watched, and what it did meanwhile; seconds that only grow. */
export interface Durations {
  /** Observed without a gap of more than a minute. */
  readonly observed: number;
  readonly running: number;
  /** With at least 95 % of its CPU limit in use; undefined where there is none. */
  readonly cpuSaturated: number | undefined;
  readonly memorySaturated: number | undefined;
}

/** What is known of a server's backups. */
export interface BackupsReading {
  /** Backups that were completed successfully. */
  readonly count: number;
  /** When the newest of them was completed; absent where there is none. */
  readonly lastSuccessUnixMs?: number;
  /** When the newest failed backup in the panel's list ended; absent where there is none. */
  readonly lastFailureUnixMs?: number;
  /** The size of the newest successful one; absent where the panel doesn't say. */
  readonly lastSizeBytes?: number;
  /** It is too old to be shown from this monotonic instant on. */
  readonly staleAt: number;
}

/** What the newest query of a server's game brought. */
export interface QueryReading {
  /** Why it failed; absent if the game answered. */
  readonly problem?: Problem;
  /** Absent where the query failed. */
  readonly players?: number;
  /** Absent where the game names no limit. */
  readonly playersMax?: number;
  readonly durationSeconds: number;
  /** It is too old to be shown from this monotonic instant on. */
  readonly staleAt: number;
}

/** The state of a session's socket; `none` while there is no socket. */
export const SOCKET_STATES = ['none', 'connecting', 'authenticating', 'streaming', 'refreshing'] as const;
export type SocketState = (typeof SOCKET_STATES)[number];

/**
 * All that is known of one server. Metrics and pages read it; only the fleet writes it. It is live: a
 * reader that yields sees later values. Instants are monotonic milliseconds (`Clock.now`).
 */
export interface ServerReading {
  readonly target: ServerTarget;
  readonly status: CollectionStatus;
  /** The node by its name in the listing, else by the host and port of its console socket; undefined while neither is known. */
  readonly node: string | undefined;
  readonly socketState: SocketState;
  /** Which way the newest sample came; undefined before the first. */
  readonly source: SampleSource | undefined;
  /** The newest sample that was accepted, limits resolved and counters in order. */
  readonly sample: Sample | undefined;
  readonly sampledAt: number | undefined;
  /** A sample older than this many milliseconds is stale. */
  readonly stalenessMs: number;
  /** The newest word on the server's state; meaningful only while a sample is fresh. */
  readonly state: ServerState;
  /** When the server started; holds still between samples of one run; undefined when off or unknown. */
  readonly startedAt: number | undefined;
  readonly starts: number;
  readonly consoleLines: number;
  /** Absent where it isn't known. */
  readonly backups?: BackupsReading | undefined;
  /** The newest query of the present run; `shownQuery` says whether it may be shown. Absent where there is none. */
  readonly query?: QueryReading | undefined;
  readonly stops: StopCounts;
  /** The newest of them, one object as long as there is no other; absent before the first. */
  readonly lastStop?: LastStop | undefined;
  /** The newest one that the node named. */
  readonly lastExitCode: number | undefined;
  /** The node said that it gives up restarting the server, and it hasn't started since. */
  readonly isRestartAborted: boolean;
  readonly durations: Durations;
  /** Is the server expected to run? Undefined while that isn't known. */
  expected(now: number): boolean | undefined;
  /** Undefined when no one-second value was seen in the last minute. */
  peaks(now: number): Peaks | undefined;
  isFresh(now: number): boolean;
}

/** What the newest query brought while it may be shown: the server is known to be running, and the answer is not stale. */
export function shownQuery(
  server: Pick<ServerReading, 'query' | 'state' | 'isFresh'>,
  now: number,
): QueryReading | undefined {
  const { query } = server;
  const isShown = query !== undefined && now < query.staleAt;
  return isShown && server.state === 'running' && server.isFresh(now) ? query : undefined;
}

/** What is wrong with a server: what keeps it from being observed, else why its game can't be queried. */
export function shownProblem(
  server: Pick<ServerReading, 'status' | 'query' | 'state' | 'isFresh'>,
  now: number,
): Problem | undefined {
  return server.status.problem ?? shownQuery(server, now)?.problem;
}

/** What a panel's API budget is doing. */
export interface BudgetReading {
  /** Calls a minute that the exporter allows itself. */
  readonly limitPerMinute: number;
  /** Calls made in the last 60 s. */
  readonly usedLastMinute: number;
  readonly queueLength: number;
  readonly paused: boolean;
  /** The panel's own limit in calls a minute; absent until it names one. */
  readonly knownLimitPerMinute?: number;
}

/** What the configuration needs of a panel, and what was planned to stay within its budget. */
export interface PlanReading {
  /** Servers whose socket is held all the time. */
  readonly sockets: number;
  /** Servers that share sockets by turns, because the budget can't renew one for each. */
  readonly turns: number;
  /** Sockets that those share. */
  readonly turnSockets: number;
  /** The age that a streamed sample reaches at most, in milliseconds: between two turns, where there are any. */
  readonly longestAgeMs: number;
  readonly polls: number;
  /** Servers that may stream, but have no socket because the process may open no more of them. */
  readonly unseated: number;
  /** How often each planned poll comes round, in milliseconds. */
  readonly pollIntervalMs: number;
  /** Calls a minute that the plan costs. */
  readonly callsPerMinute: number;
  /** Calls a minute that would stream every server that may stream. */
  readonly wantedCallsPerMinute: number;
}

/** What came of a panel's listing. */
export interface DiscoveryReading {
  /** What the listing says is not known yet: its first reading may take half a minute. */
  readonly isPending: boolean;
  /** Servers that are observed because the listing names them. */
  readonly servers: number;
  /** Servers and entries of the listing that are beyond what is admitted. */
  readonly leftOut: number;
  /** Listed servers that are not observed because another one has the same 8-character identifier. */
  readonly ambiguous: number;
  /** When every page was last read, in Unix milliseconds; undefined before the first time. */
  readonly succeededUnixMs: number | undefined;
  /** Walks through the listing that left out a page or an entry. */
  readonly failures: number;
}

/** How one node of a panel is. */
export interface NodeReading {
  readonly name: string;
  /** Can its servers be observed? */
  readonly up: boolean;
  /** Why not. */
  readonly problem?: Problem | undefined;
}

/** All that is known of one panel. */
export interface PanelReading {
  readonly name: string;
  /** Did the panel's API answer, and accept the key? */
  readonly up: boolean;
  /** What is wrong with the panel or its key as a whole, or with single paths of a panel that is up; empty if all is well. */
  readonly problems: readonly Problem[];
  /** The nodes that are known, as of this instant. */
  nodes(now: number): readonly NodeReading[];
  readonly budget: BudgetReading;
  readonly plan: PlanReading;
  /** Absent where the listing isn't used. */
  readonly discovery?: DiscoveryReading;
}

/** The fleet as metrics and pages see it. */
export interface FleetReading {
  /** Panels in the configuration's order. */
  panels(): readonly PanelReading[];
  /** A snapshot of the servers in the configuration's order: adding or removing one doesn't change it. */
  servers(): readonly ServerReading[];
}
