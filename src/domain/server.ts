/** A ceiling that the configuration or the listing names; `unlimited` where there is none. */
export type Limit = number | 'unlimited';

/** Ceilings of one server; a key is absent where nobody named one. */
export interface Limits {
  readonly memoryBytes?: Limit;
  readonly diskBytes?: Limit;
  readonly cpuCores?: Limit;
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
