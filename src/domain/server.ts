// A server as it is described to the exporter.

/** A limit from the configuration or the server list. */
export type Limit = number | 'unlimited';

/** Panels give limits of memory and disk in MiB. */
export const MIB = 1_048_576;

/** The limits of one server; a key is absent if unknown. */
export interface Limits {
  readonly memoryBytes?: Limit;
  readonly diskBytes?: Limit;
  readonly cpuCores?: Limit;
  /** Known only from a server list; 0 if there is no swap. */
  readonly swapBytes?: Limit;
  /** Weight of the server's block I/O, 10 to 1000; known only from a server list. */
  readonly ioWeight?: number;
  /**
   * The server list's; it applies if the configuration and the node give none, because nodes grant
   * slightly more.
   */
  readonly listedMemoryBytes?: number;
}

/**
 * The limit as a number; undefined if unlimited or unknown, as 0 on the wire is ("no limit" or
 * "never started").
 */
export function finiteLimit(limit: Limit | undefined): number | undefined {
  return typeof limit === 'number' && limit > 0 ? limit : undefined;
}

/**
 * The memory limit: the configuration's or an "unlimited" in the server list, else the one that the
 * node reports (0 means that its socket never saw the server run), else the number in the server
 * list.
 */
export function resolveMemoryLimit(limits: Limits, reportedBytes: number | undefined): number | undefined {
  return finiteLimit(limits.memoryBytes ?? (reportedBytes || limits.listedMemoryBytes));
}

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

/**
 * Length of the short identifier: panels use the first characters of the UUID (`uuidShort` in their
 * sources).
 */
export const SHORT_ID_LENGTH = 8;

/**
 * The identifier of newer panels: `serv_` and the UUID's 16 bytes in base32
 * (`HasRealtimeIdentifier` of Pterodactyl).
 */
const LONG_IDENTIFIER = /^serv_(?<digits>[a-z2-7]{26})$/i;

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * An id as the exporter uses it: the UUID that a `serv_…` identifier stands for, and any other id
 * as it is.
 */
export function canonicalId(id: string): string {
  const digits = LONG_IDENTIFIER.exec(id)?.groups?.['digits']?.toLowerCase();
  if (digits === undefined) return id;
  const bits = Array.from(digits, (digit) => BASE32.indexOf(digit).toString(2).padStart(5, '0')).join('');
  const hex = Array.from({ length: 32 }, (_, place) =>
    Number.parseInt(bits.slice(place * 4, place * 4 + 4), 2).toString(16),
  ).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The short identifier of a server: its `server_id`, and its key within its panel. */
export function shortId({ id }: Pick<ServerTarget, 'id'>): string {
  return id.slice(0, SHORT_ID_LENGTH).toLowerCase();
}

/**
 * Are both the same server of one panel? A short id and the full id that begins with it are; a
 * panel never gives the same short id to two servers at the same time, but it may reuse one later.
 */
export function isSameServer(one: ServerIds, other: ServerIds): boolean {
  const [a = '', b = ''] = [one, other].map(({ id, uuid = id }) => uuid.toLowerCase());
  return a.startsWith(b) || b.startsWith(a);
}

type ServerIds = Pick<ServerTarget, 'id' | 'uuid'>;

/** The id if it is a UUID; undefined if it is short. */
export function fullId({ id }: ServerIds): string | undefined {
  return id.length > SHORT_ID_LENGTH ? id.toLowerCase() : undefined;
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

/** The power states of game servers, the `state` label, in display order. */
export const SERVER_STATES = ['offline', 'starting', 'running', 'stopping', 'unknown'] as const;
export type ServerState = (typeof SERVER_STATES)[number];

/**
 * The state for a word on the wire. Daemons never send `stopped`: panels write it, with 0 for every
 * number, for a server about which the daemon reports nothing, as they do for one that is off
 * (`StatsTransformer` in their sources).
 */
export function parseServerState(word: string): ServerState {
  if (word === 'stopped') return 'offline';
  return SERVER_STATES.find((state) => state === word) ?? 'unknown';
}

/** Is the server off, as opposed to on, in transition or unknown? */
export function isOff(state: ServerState): boolean {
  return state === 'offline';
}

/** Is the server running, or in transition? */
export function isOn(state: ServerState): boolean {
  return !isOff(state) && state !== 'unknown';
}

/** Does the server list show the server, and nothing that keeps it from being monitored? */
export function isListed({ node, blocked }: Pick<ServerTarget, 'node' | 'blocked'>): boolean {
  return node !== undefined && blocked === undefined;
}
