// The description of a server: its names, settings and facts from the server list.

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
   * `host:port`, or a host, which gets the port of the default allocation. If absent, the default
   * allocation is used.
   */
  readonly address?: string;
  readonly intervalMs: number;
  /**
   * Whether the type was derived from the egg, so that the game may not respond to queries at all.
   */
  readonly isGuess?: true;
}

/** The description of one game server. Addresses have IPv6 in brackets. */
export interface ServerTarget {
  readonly panel: string;
  /** The id as configured, otherwise the UUID. It is the `{server}` segment of paths. */
  readonly id: string;
  /** The label `server`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly expect: Expect;
  readonly mode: CollectionMode;
  readonly limits: Limits;
  readonly uuid?: string;
  readonly node?: string;
  /** The node's id in requests for all servers of a node; absent if the panel has none. */
  readonly nodeId?: string;
  readonly egg?: string;
  /** Its daemon, from the server list or the configuration, if the panel's paths contain it. */
  readonly daemon?: string;
  /** `host:port` for players, from the server list. */
  readonly address?: string;
  /**
   * Its default allocation if that has no `address`: one that is reachable only from its machine or
   * network segment, its node's, or `:port`.
   */
  readonly allocation?: string;
  /**
   * Which of its other ports is the query port according to a server variable, from the server
   * list.
   */
  readonly namedPort?: number;
  /** The ports of its other allocations at the same IP address, from the server list. */
  readonly otherPorts?: readonly number[];
  /** Absent if the game isn't queried. */
  readonly query?: QuerySettings;
  /** Why it can't be monitored, from the server list. */
  readonly blocked?: BlockedReason;
  /**
   * Whether its last reinstallation failed, from the server list. It can run, but files may be
   * missing.
   */
  readonly isReinstallFailed?: true;
  /** Whether it is a proxy, whose players are on the servers behind it. */
  readonly isProxy?: true;
  /** Whether the server list allows it no backups. */
  readonly withoutBackups?: true;
  /** Whether a discovery rule added it; absent if the configuration lists it. */
  readonly isDiscovered?: true;
}

/**
 * Why a server can't be monitored at the moment: the values of the label `reason` of
 * `gameserver_blocked`.
 */
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

/** Does the server list contain the server without a reason that prevents its monitoring? */
export function isListedUnblocked({ node, blocked }: Pick<ServerTarget, 'node' | 'blocked'>): boolean {
  return node !== undefined && blocked === undefined;
}
