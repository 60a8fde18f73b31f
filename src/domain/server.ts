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

/** Which way a server's samples are to be had: by socket with polling as the fallback, or by one alone. */
export type CollectionMode = 'auto' | 'socket' | 'poll';

/** One game server as the exporter was told of it: who it is and what is expected of it. */
export interface ServerTarget {
  /** Name of the panel that it is on. */
  readonly panel: string;
  /** The id as configured, else the uuid: the `{server}` path segment and the `server_id` label. */
  readonly id: string;
  /** The `server` label. */
  readonly name: string;
  /** The user's own labels. */
  readonly labels: Readonly<Record<string, string>>;
  readonly expect: 'running' | 'any';
  readonly mode: CollectionMode;
  readonly limits: Limits;
  readonly uuid?: string;
  readonly node?: string;
  readonly egg?: string;
  /** What keeps it from being observed, going by the listing. */
  readonly blocked?: BlockedReason;
  /** The listing allows it no backups. */
  readonly withoutBackups?: true;
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
