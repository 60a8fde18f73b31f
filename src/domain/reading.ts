// The fleet, in the form that metrics and pages read.

import type { Clock } from './clock.ts';
import type { NODE_FIELDS } from './node-fields.ts';
import type { CauseCode, Problem } from './problems.ts';
import type { RecentHistory } from './recent-history.ts';
import type { ServerTarget } from './server.ts';
import type { CollectionStatus, Snapshot, SocketState } from './snapshot.ts';
import type { Strip } from './strip.ts';

/** A read-only view of one server. `now` is a monotonic instant in milliseconds. */
export interface ServerReading {
  readonly target: ServerTarget;
  readonly node: string | undefined;
  readonly status: CollectionStatus;
  readonly socketState: SocketState;
  snapshot(now: number, clock: Pick<Clock, 'toUnixMs'>): Snapshot;
  /** The snapshot for a scrape. In the first scrape of a restored server, its counters are 0. */
  scraped(now: number, clock: Pick<Clock, 'toUnixMs'>): Snapshot;
  history(now: number, clock: Pick<Clock, 'toUnixMs'>): RecentHistory;
  /** Undefined before its first sample. */
  strip(now: number): Strip | undefined;
}

export interface BudgetReading {
  /** The exporter's own limit, in calls per minute. */
  readonly limitPerMinute: number;
  /** Whether the configuration sets it, so that the panel's limit isn't used. */
  readonly isPinned: boolean;
  readonly usedLastMinute: number;
  readonly queueLength: number;
  readonly paused: boolean;
  /** The panel's limit in calls per minute; absent until the panel reports it. */
  readonly knownLimitPerMinute?: number;
}

/**
 * The needs of a panel's configuration, and the supply of its rate limit and of the process. Both
 * are calculated, not measured.
 */
export interface NeedsReading {
  /**
   * API calls per minute to stream and poll every server as configured, including the server list
   * and backups.
   */
  readonly requiredCallsPerMinute: number;
  /** The number of servers that should stream. */
  readonly requiredSockets: number;
  /** Console sockets for which the process has file descriptors; infinite if unlimited. */
  readonly allowedSockets: number;
  /** The number of servers that are configured to be polled. */
  readonly polls: number;
}

export interface DiscoveryReading {
  /** Whether the server list hasn't been read yet; the first time may take half a minute. */
  readonly isPending: boolean;
  /** The number of servers that are monitored because the server list contains them. */
  readonly servers: number;
  /** The number of servers and list entries beyond the maximum. */
  readonly leftOut: number;
  /**
   * The number of listed servers that are not monitored because another one has the same
   * 8-character identifier.
   */
  readonly ambiguous: number;
  /** When every page was last read, in Unix milliseconds; undefined before that. */
  readonly succeededUnixMs: number | undefined;
  /** The number of walks that missed a page or an entry. */
  readonly failures: number;
}

/** A problem of a panel or node, and the monotonic instant at which it began. */
export interface ProblemReading extends Problem {
  readonly since: number;
}

export interface NodeReading {
  readonly name: string;
  /** Whether its servers can be monitored. If not, `problem` has the reason. */
  readonly up: boolean;
  readonly problem?: ProblemReading | undefined;
  /**
   * The number of its servers that lack fresh data because of the node, by cause, even if the node
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
  /** Whether the exporter is testing if the panel, a path or a node causes the failures. */
  readonly isJudging?: boolean;
  /**
   * Problems of the panel or its API key, and of single paths of a panel that is up; empty if there
   * are none.
   */
  readonly problems: readonly ProblemReading[];
  nodes(now: number): readonly NodeReading[];
  /**
   * The capacities of its nodes from its application API, while they are fresh; empty if they
   * aren't read.
   */
  capacities(now: number): readonly NodeCapacity[];
  readonly budget: BudgetReading;
  readonly needs: NeedsReading;
  /** Absent if the server list isn't used. */
  readonly discovery?: DiscoveryReading;
}

/** The fleet in the form that metrics and pages read, in the configuration's order. */
export interface FleetReading {
  panels(): readonly PanelReading[];
  /** The current servers, as a list that doesn't change when servers are added or removed. */
  servers(): readonly ServerReading[];
}
