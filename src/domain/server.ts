// A server as it is described to the exporter.

import type { Limits } from './limits.ts';

/**
 * How a server's samples are collected: by socket with polling as the fallback, or by only one of
 * them.
 */
export type CollectionMode = 'auto' | 'socket' | 'poll';

/** Whether a server should be running: always, not necessarily, or until someone stops it. */
export const EXPECTS = ['running', 'any', 'auto'] as const;
export type Expect = (typeof EXPECTS)[number];

export interface QuerySettings {
  /** A type name of the query library, such as `minecraft`. */
  readonly type: string;
  /**
   * `host:port`, or a host alone to use the port of the default allocation; if absent, the whole
   * default allocation.
   */
  readonly address?: string;
  readonly intervalMs: number;
  /** The type follows from the egg, so the game may not respond to queries at all. */
  readonly isGuess?: true;
}

/** One game server as described to the exporter. Addresses have IPv6 in brackets. */
export interface ServerTarget {
  readonly panel: string;
  /** The id as configured, else the UUID: the `{server}` path segment. */
  readonly id: string;
  /** The `server` label. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly expect: Expect;
  readonly mode: CollectionMode;
  readonly limits: Limits;
  readonly uuid?: string;
  readonly node?: string;
  /** As requests for all servers of the node name it; absent if the panel has none. */
  readonly nodeId?: string;
  readonly egg?: string;
  /** Its daemon according to the server list or the configuration, if the panel's paths name it. */
  readonly daemon?: string;
  /** `host:port` where players reach it according to the server list. */
  readonly address?: string;
  /**
   * Its default allocation if no `address` follows from it: reached only from its machine or
   * network segment, its node's, or `:port`.
   */
  readonly allocation?: string;
  /**
   * The one of its other ports that a variable of the server contains as the query port, according
   * to the server list.
   */
  readonly namedPort?: number;
  /** The ports of its other allocations at the same IP address, according to the server list. */
  readonly otherPorts?: readonly number[];
  /** Absent if the game isn't queried for its players. */
  readonly query?: QuerySettings;
  /** Why it can't be monitored according to the server list. */
  readonly blocked?: BlockedReason;
  /**
   * Its last reinstallation failed according to the server list; it can run, but files may be
   * missing.
   */
  readonly isReinstallFailed?: true;
  /** Its players are on the servers behind it. */
  readonly isProxy?: true;
  /** The server list allows it no backups. */
  readonly withoutBackups?: true;
  /** The discovery rules added it; absent if the configuration lists it. */
  readonly isDiscovered?: true;
}

/** Why a server currently can't be monitored at all, the `reason` label of `gameserver_blocked`. */
export const BLOCKED_REASONS = [
  'suspended',
  'installing',
  'install_failed',
  'transferring',
  'restoring',
  'maintenance',
  'not_found',
  'unauthorized',
  'forbidden',
] as const;
export type BlockedReason = (typeof BLOCKED_REASONS)[number];

/** Does the server list contain the server, and nothing that keeps it from being monitored? */
export function isListedUnblocked({ node, blocked }: Pick<ServerTarget, 'node' | 'blocked'>): boolean {
  return node !== undefined && blocked === undefined;
}
