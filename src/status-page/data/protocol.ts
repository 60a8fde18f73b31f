import type { Severity } from '../../diagnosis/cause-table.ts';
import type { CauseCode } from '../../domain/problem.ts';
import type { RecentHistory, StopCounts } from '../../domain/reading.ts';
import type { LiveField } from './live-server.ts';

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

/** A node whose servers can't be monitored. */
export interface NodeDown {
  readonly node: string;
  /** The reason; undefined if its servers' reasons differ. */
  readonly problem?: ExplainedProblem | undefined;
}

/** How far a panel's server list was read: `failed` if it couldn't be, `read` once it was. */
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
  /** How far the panel's server list was read; `off` if it isn't used. */
  readonly listing: ListingStatus;
  readonly limitPerMinute: number;
  readonly usedLastMinute: number;
  readonly queueLength: number;
  readonly paused: boolean;
  /** Calls that the panel rejected with 429 since the exporter started. */
  readonly rateLimited: number;
  /** API calls per minute that it takes to stream and poll every server as configured. */
  readonly requiredCallsPerMinute: number;
  readonly requiredSockets: number;
  /** Console sockets for which the process has file descriptors; undefined if unlimited. */
  readonly allowedSockets?: number | undefined;
  readonly polls: number;
}

/** By field, its values in the order of the servers; null if unknown. */
export type FieldValues = Readonly<Partial<Record<LiveField, readonly unknown[]>>>;

/** Everything that a new viewer needs: the event `full`. */
export interface Full {
  readonly version: string;
  /** The exporter's wall clock, in Unix seconds. */
  readonly time: number;
  readonly panels: readonly PanelStatus[];
  /** The number of servers. */
  readonly size: number;
  /** A field that no server has is absent. */
  readonly servers: FieldValues;
}

/** What changed within a second: the event `delta`. */
export interface Delta {
  readonly time: number;
  readonly panels?: readonly PanelStatus[];
  /** The fields that changed in most servers, whole. */
  readonly servers: FieldValues;
  /** The other fields that changed: the places of the servers, and their new values. */
  readonly changes: Readonly<
    Partial<Record<LiveField, readonly [places: readonly number[], values: readonly unknown[]]>>
  >;
}

/** The last five minutes of one server, as returned by `api/v1/history`. */
export interface ServerHistory extends RecentHistory {
  readonly panel: string;
  readonly server_id: string;
  readonly step_seconds: number;
  /** The number of stops since the exporter started, by reason. */
  readonly stops: StopCounts;
}
