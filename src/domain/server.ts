import type { QuerySettings } from './query.ts';

/** A ceiling that the configuration or the listing names; `unlimited` where there is none. */
export type Limit = number | 'unlimited';

/** Ceilings of one server; a key is absent where nobody named one. */
export interface Limits {
  readonly memoryBytes?: Limit;
  readonly diskBytes?: Limit;
  readonly cpuCores?: Limit;
  /** Only a listing tells it; 0 where there is no swap. */
  readonly swapBytes?: Limit;
  /** Weight of the server's block input and output, 10 to 1000; only a listing tells it. */
  readonly ioWeight?: number;
  /** The listing's word; it counts where neither the configuration nor the node names a memory limit, for nodes grant some more. */
  readonly listedMemoryBytes?: number;
}

/**
 * The memory limit to show, in bytes: what the configuration or an "unlimited" in the listing says comes first, then what the node
 * reported (0 means that its socket never saw the server run), then the number in the listing.
 */
export function memoryLimitOf(
  { memoryBytes, listedMemoryBytes }: Pick<Limits, 'memoryBytes' | 'listedMemoryBytes'>,
  reportedBytes: number | undefined,
): Limit | undefined {
  return memoryBytes ?? (reportedBytes || listedMemoryBytes);
}

/** The limit as a number; undefined if unlimited or unknown. 0 means "no limit" or "never started" on the wire, so it is no limit either. */
export function finiteLimit(limit: Limit | undefined): number | undefined {
  return typeof limit === 'number' && limit > 0 ? limit : undefined;
}

/** Which way a server's samples are to be had: by socket with polling as the fallback, or by one alone. */
export type CollectionMode = 'auto' | 'socket' | 'poll';

/** Whether a server should run: always, never necessarily, or as long as nobody stops it. */
export const EXPECTS = ['running', 'any', 'auto'] as const;
export type Expect = (typeof EXPECTS)[number];

/** How many servers there are of each expectation, as `running 2, auto 40`. */
export function countExpectations(servers: readonly Pick<ServerTarget, 'expect'>[]): string {
  const counts = EXPECTS.map(
    (wanted) => [wanted, servers.filter(({ expect }) => expect === wanted).length] as const,
  );
  return counts
    .filter(([, count]) => count > 0)
    .map(([wanted, count]) => `${wanted} ${count}`)
    .join(', ');
}

/** One game server as the exporter was told of it: who it is and what is expected of it. */
export interface ServerTarget {
  /** Name of the panel that it is on. */
  readonly panel: string;
  /** The id as configured, else the uuid: the `{server}` path segment. */
  readonly id: string;
  /** The `server` label. */
  readonly name: string;
  /** The user's own labels. */
  readonly labels: Readonly<Record<string, string>>;
  readonly expect: Expect;
  readonly mode: CollectionMode;
  readonly limits: Limits;
  readonly uuid?: string;
  readonly node?: string;
  readonly egg?: string;
  /** `host:port` where players reach it, going by the listing; IPv6 in brackets. */
  readonly address?: string;
  /**
   * Its default allocation where no `address` follows from it: `host:port` of an address that only its own machine or network segment
   * reaches, or `:port` where it names no host.
   */
  readonly allocation?: string;
  /** Absent where the game isn't asked for its players. */
  readonly query?: QuerySettings;
  /** What keeps it from being observed, going by the listing. */
  readonly blocked?: BlockedReason;
  /** The listing allows it no backups. */
  readonly withoutBackups?: true;
}

/** Length of the short identifier: panels take the first characters of the UUID (`uuidShort` in their sources). */
export const SHORT_ID_LENGTH = 8;

/** The 8-character identifier of a server, for its short and its full id alike: its `server_id`, and its key within its panel. */
export function identityOf({ id }: Pick<ServerTarget, 'id'>): string {
  return id.slice(0, SHORT_ID_LENGTH).toLowerCase();
}

/**
 * Are both the same server of one panel? A short id and the full id that begins with it are; a panel gives the same short id to no two
 * servers at a time, but it may to one after the other.
 */
export function isSameServer(one: ServerIds, other: ServerIds): boolean {
  if (identityOf(one) !== identityOf(other)) return false;
  const fullIds = [fullIdOf(one), fullIdOf(other)];
  return fullIds.includes(undefined) || fullIds[0] === fullIds[1];
}

type ServerIds = Pick<ServerTarget, 'id' | 'uuid'>;

function fullIdOf({ id, uuid }: ServerIds): string | undefined {
  return (uuid ?? (id.length > SHORT_ID_LENGTH ? id : undefined))?.toLowerCase();
}

/** Every value of the `reason` label of `gameserver_blocked`. */
export const BLOCKED_REASONS = [
  'suspended',
  'installing',
  'transferring',
  'restoring',
  'maintenance',
  'not_found',
  'unauthorized',
  'forbidden',
] as const;

/** Why a server can't be observed at all for now. */
export type BlockedReason = (typeof BLOCKED_REASONS)[number];

/** Every value of the `state` label, in the order in which they are shown. */
export const SERVER_STATES = ['offline', 'starting', 'running', 'stopping', 'stopped', 'unknown'] as const;

/** The power state of a game server; `unknown` where the panel's word is none that we know. */
export type ServerState = (typeof SERVER_STATES)[number];

const KNOWN: ReadonlySet<string> = new Set(SERVER_STATES);

/** The state that a word on the wire stands for; `unknown` for any other word. */
export function parseServerState(word: string): ServerState {
  return KNOWN.has(word) ? (word as ServerState) : 'unknown';
}

/** Is the server off, as opposed to on, on its way, or not known? */
export function isOff(state: ServerState): boolean {
  return state === 'offline' || state === 'stopped';
}

/**
 * What one `stats` frame or one resources answer says of a server, in base units. A field that the panel
 * didn't send, or sent in a form that can't be used, is absent.
 */
export interface Sample {
  readonly state?: ServerState;
  readonly memoryBytes?: number;
  readonly memoryLimitBytes?: number;
  /** 1 = one core; the wire says 100 for it. */
  readonly cpuCores?: number;
  readonly diskBytes?: number;
  /** Cumulative since the server's start, as are the three below. */
  readonly networkReceiveBytes?: number;
  readonly networkTransmitBytes?: number;
  readonly diskReadBytes?: number;
  readonly diskWrittenBytes?: number;
  readonly uptimeMs?: number;
}

/** How a sample came: pushed over the console socket, or asked of the resources endpoint. */
export type SampleSource = 'socket' | 'poll';
