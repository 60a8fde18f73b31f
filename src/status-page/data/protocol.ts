import type { Severity } from '../../diagnosis/causes.ts';
import type { CauseCode } from '../../domain/problem.ts';
import type { Condition, StopCounts, StopReason } from '../../domain/reading.ts';
import type { BlockedReason, ServerState } from '../../domain/server.ts';
import type { Attention } from './attention.ts';

/**
 * What the page receives about each server once a second, all as numbers, in this order. CPU is in hundredths of a core; memory,
 * disk and backups in MiB; rates in bytes per second; instants in Unix seconds; words are indices into the lists of `Full`. −1
 * stands for unknown.
 */
export const COLUMNS = [
  'state',
  'condition',
  'blocked',
  /** Its problem, as an index into the list of causes. */
  'cause',
  'source',
  'cpu',
  'cpuLimit',
  'memory',
  'memoryLimit',
  'disk',
  'diskLimit',
  'receive',
  'transmit',
  /** When the sample arrived; 0 while samples keep coming, so that a streaming server causes no changes here. */
  'sampled',
  'started',
  /** 1 if it is expected to run, 0 if it may be in any state. */
  'expected',
  'players',
  'playersMax',
  /** Why it needs attention, as an index into the list of these reasons. */
  'attention',
  /** Why it last stopped, when, and with which exit code. */
  'stopReason',
  'stopped',
  'exitCode',
  /** The same of its last crash. */
  'crashReason',
  'crashed',
  'crashExitCode',
  /** Unwanted stops in the last 15 minutes. */
  'crashes',
  'starts',
  /**
   * The number of successful backups, when the newest one and the newest failed one ended, and the size of the newest one.
   */
  'backups',
  'backedUp',
  'backupFailed',
  'backupSize',
] as const;

export type Column = (typeof COLUMNS)[number];

/** Samples older than this many seconds are shown with their age. */
export const LIVE_SECONDS = 3;

/** Sources of samples in the order of their numeric codes. */
export const SOURCES = ['socket', 'poll'] as const;

/** Seconds between two points of a history, and the number of points. */
export const STEP_SECONDS = 5;
export const POINTS = 60;

/**
 * The changed rows of one column: `runs` alternates between the number of rows to skip and the number of changed rows that
 * follow; `values` holds the values of the changed rows. If most rows changed, this takes only a fraction of an index for
 * each.
 */
export type Patch<Value> = readonly [runs: readonly number[], values: readonly Value[]];

/** The page's texts for a cause. */
export interface CauseWords {
  readonly cause: CauseCode;
  readonly title: string;
  /** What to do. */
  readonly remedy: string;
  /** A fact is normal, and is shown without alarm. */
  readonly severity: Severity;
}

/** A problem with the texts of its cause. */
export interface ExplainedProblem extends CauseWords {
  readonly detail: string;
}

/** A node whose servers can't be observed. */
export interface NodeDown {
  readonly node: string;
  /** The reason; undefined if its servers' reasons differ. */
  readonly problem?: ExplainedProblem | undefined;
}

/** How far a panel's listing was read: `failed` if it couldn't be, `read` once it was. */
export type ListingStatus = 'off' | 'pending' | 'failed' | 'read';

/** One panel as the page shows it. */
export interface PanelStatus {
  readonly name: string;
  /** The address at which people open the panel, from the configuration; without a trailing slash. */
  readonly url?: string | undefined;
  readonly up: boolean;
  /** Problems with the panel, its API key or the connection to it; a panel that is up may have some, too. */
  readonly problems: readonly ExplainedProblem[];
  readonly nodesDown: readonly NodeDown[];
  /** How far the panel's listing was read; `off` if it isn't used. */
  readonly listing: ListingStatus;
  readonly limitPerMinute: number;
  readonly usedLastMinute: number;
  readonly queueLength: number;
  readonly paused: boolean;
  /** Calls that the panel answered with 429 since the exporter started. */
  readonly rateLimited: number;
  /** API calls per minute that it takes to stream and poll every server as configured. */
  readonly requiredCallsPerMinute: number;
  readonly requiredSockets: number;
  /** Console sockets for which the process has file descriptors; undefined if unlimited. */
  readonly allowedSockets?: number | undefined;
  readonly polls: number;
}

/** The servers' identities; all lists are in the order of the servers. */
export interface Identities {
  readonly panel: readonly string[];
  /** The 8-character identifiers. */
  readonly id: readonly string[];
  /** Empty if unknown. */
  readonly uuid: readonly string[];
  readonly name: readonly string[];
  readonly egg: readonly string[];
  /** The user's own labels as one text. */
  readonly labels: readonly string[];
}

/** Everything that a new viewer needs: the event `full`. */
export interface Full {
  readonly version: string;
  /** The exporter's wall clock, in Unix seconds. */
  readonly time: number;
  readonly words: {
    readonly states: readonly ServerState[];
    readonly conditions: readonly Condition[];
    readonly blocked: readonly BlockedReason[];
    readonly causes: readonly CauseWords[];
    readonly attention: readonly Attention[];
    readonly stopReasons: readonly StopReason[];
  };
  readonly panels: readonly PanelStatus[];
  readonly servers: Identities;
  readonly columns: Readonly<Record<Column, readonly number[]>>;
  /** The detail of each server's problem; empty if there is none. */
  readonly trouble: readonly string[];
  /** The node of each server; empty if unknown, which may be the case until the server's first socket. */
  readonly node: readonly string[];
}

/** What changed within a second: the event `delta`. */
export interface Delta {
  readonly time: number;
  readonly panels?: readonly PanelStatus[];
  readonly columns: Readonly<Partial<Record<Column, Patch<number>>>>;
  readonly trouble?: Patch<string>;
  readonly node?: Patch<string>;
}

/** The series of a history, named like the metrics if those have them. */
export const HISTORY_SERIES = [
  'cpu_usage_cores',
  'memory_usage_bytes',
  'network_receive_bytes_per_second',
  'network_transmit_bytes_per_second',
] as const;

export type HistorySeries = (typeof HISTORY_SERIES)[number];

/** Series that only servers with a queried game have. */
const QUERY_SERIES = ['players'] as const;

/** Every series that can be requested. */
export const ALL_SERIES = [...HISTORY_SERIES, ...QUERY_SERIES] as const;

export type AnySeries = (typeof ALL_SERIES)[number];

/** The last five minutes of one server, as returned by `api/v1/history`. */
export interface ServerHistory {
  readonly panel: string;
  readonly server_id: string;
  readonly step_seconds: number;
  /** Unix time in seconds of the newest point. */
  readonly end_timestamp_seconds: number;
  /** Oldest first; null if there was no fresh value. */
  readonly series: Readonly<Partial<Record<AnySeries, readonly (number | null)[]>>>;
  /** Newest last. */
  readonly state_changes: readonly StateChange[];
  /** The number of stops since the exporter started, by reason. */
  readonly stops: StopCounts;
}

/** The server changed to another state; `unknown` if it stopped sending samples. */
export interface StateChange {
  readonly timestamp_seconds: number;
  readonly state: ServerState;
  /** Why it stopped, once that is known. */
  readonly reason?: StopReason;
  readonly exit_code?: number;
}
