import type { Severity } from '../../diagnosis/causes.ts';
import type { CauseCode } from '../../domain/problem.ts';
import type { Condition, StopCounts, StopReason } from '../../domain/reading.ts';
import type { BlockedReason, ServerState } from '../../domain/server.ts';
import type { Attention } from './attention.ts';

/**
 * What the page is told of each server once a second, all as numbers, in this order. CPU is in hundredths of a core, memory,
 * disk and backups in MiB, rates in bytes a second, instants in Unix seconds; words are places in the lists of `Full`. −1 stands for what is
 * not known.
 */
export const COLUMNS = [
  'state',
  'condition',
  'blocked',
  /** What is wrong with it, as a place in the list of causes. */
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
  /** When the sample came; 0 while samples keep coming, so that a streaming server costs nothing here. */
  'sampled',
  'started',
  /** 1 if it is expected to run, 0 if it may be in any state. */
  'expected',
  'players',
  'playersMax',
  /** Why it needs attention, as a place in the list of these reasons. */
  'attention',
  /** Why it stopped last, when, and with which exit code. */
  'stopReason',
  'stopped',
  'exitCode',
  /** Stops of the last 15 minutes that nobody wanted. */
  'crashes',
  'starts',
  /** Backups that succeeded, when the newest one and the newest failure ended, and the size of the newest one. */
  'backups',
  'backedUp',
  'backupFailed',
  'backupSize',
] as const;

export type Column = (typeof COLUMNS)[number];

/** A sample older than this is shown with its age; a younger one is live. In seconds. */
export const LIVE_SECONDS = 3;

/** Sources of samples in the order of their numbers. */
export const SOURCES = ['socket', 'poll'] as const;

/** Seconds between two points of a history, and how many of them there are. */
export const STEP_SECONDS = 5;
export const POINTS = 60;

/**
 * Some rows of one column: by turns how many rows are skipped and how many follow that changed, and the values of those. Where
 * most change, that is a fraction of a place for each.
 */
export type Patch<Value> = readonly [runs: readonly number[], values: readonly Value[]];

/** What the page says of a cause. */
export interface CauseWords {
  readonly cause: CauseCode;
  readonly title: string;
  /** What to do. */
  readonly remedy: string;
  /** A fact is normal, and is shown without alarm. */
  readonly severity: Severity;
}

/** A problem with what there is to say of its cause. */
export interface ExplainedProblem extends CauseWords {
  readonly detail: string;
}

/** A node whose servers can't be observed. */
export interface NodeDown {
  readonly node: string;
  /** Why not; undefined if its servers don't agree. */
  readonly problem?: ExplainedProblem | undefined;
}

/** One panel as the page shows it. */
export interface PanelStatus {
  readonly name: string;
  /** Where people open it, going by the configuration; without a slash at its end. */
  readonly url?: string | undefined;
  readonly up: boolean;
  /** What is wrong with the panel, its key or the way there; a panel that is up may have some. */
  readonly problems: readonly ExplainedProblem[];
  readonly nodesDown: readonly NodeDown[];
  readonly limitPerMinute: number;
  readonly usedLastMinute: number;
  readonly queueLength: number;
  readonly paused: boolean;
  /** Calls that the panel answered with 429 since the exporter started. */
  readonly rateLimited: number;
  readonly sockets: number;
  readonly turns: number;
  readonly turnSockets: number;
  readonly polls: number;
  readonly pollIntervalSeconds: number;
  readonly longestAgeSeconds: number;
  readonly callsPerMinute: number;
  readonly wantedCallsPerMinute: number;
}

/** Who the servers are, each list in their order. */
export interface Identities {
  readonly panel: readonly string[];
  /** The 8-character identifiers. */
  readonly id: readonly string[];
  /** Empty where it isn't known. */
  readonly uuid: readonly string[];
  readonly name: readonly string[];
  readonly egg: readonly string[];
  /** The user's own labels in one text. */
  readonly labels: readonly string[];
}

/** All that a viewer needs to begin: the event `full`. */
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
  /** The node of each server; empty while it isn't known, which may be until its first socket. */
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

/** The series of a history, named as in the metrics where those have them. */
export const HISTORY_SERIES = [
  'cpu_usage_cores',
  'memory_usage_bytes',
  'network_receive_bytes_per_second',
  'network_transmit_bytes_per_second',
] as const;

export type HistorySeries = (typeof HISTORY_SERIES)[number];

/** The series of a history that only servers have whose game is queried. */
const QUERY_SERIES = ['players'] as const;

/** Every series that can be asked for. */
export const ALL_SERIES = [...HISTORY_SERIES, ...QUERY_SERIES] as const;

export type AnySeries = (typeof ALL_SERIES)[number];

/** The last five minutes of one server, as `api/v1/history` answers. */
export interface ServerHistory {
  readonly panel: string;
  readonly server_id: string;
  readonly step_seconds: number;
  /** Unix time in seconds of the newest point. */
  readonly end_timestamp_seconds: number;
  /** The oldest first; null where nothing fresh was known. */
  readonly series: Readonly<Partial<Record<AnySeries, readonly (number | null)[]>>>;
  /** The newest last. */
  readonly state_changes: readonly StateChange[];
  /** How often it stopped since the exporter started, by reason. */
  readonly stops: StopCounts;
}

/** The server was seen to be in another state than before; `unknown` when its samples stayed away. */
export interface StateChange {
  readonly timestamp_seconds: number;
  readonly state: ServerState;
  /** Why it stopped, once that is known. */
  readonly reason?: StopReason;
  readonly exit_code?: number;
}
