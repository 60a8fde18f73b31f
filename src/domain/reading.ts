// The fleet, as metrics and pages read it.

import type { NODE_FIELDS } from './node-fields.ts';
import type { CauseCode, Problem } from './problems.ts';
import type { RecentHistory } from './recent-history.ts';
import type { ServerTarget } from './server.ts';
import type { CollectionStatus, Snapshot, SocketState } from './snapshot.ts';
import type { Strip } from './strip.ts';
import type { Clock } from './time.ts';

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
