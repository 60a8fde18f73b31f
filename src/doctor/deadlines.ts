import type { CollectionMode } from '../domain/server.ts';
import type { SocketTimeouts } from '../session/machine-model.ts';

/** Servers of one panel that are tried concurrently: as many as its budget allows calls in flight. */
export const SERVERS_AT_ONCE = 8;

/**
 * The usual time per server without waiting for calls, in milliseconds: a socket that opens, and stats that arrive within a
 * second or two.
 */
const USUAL_SERVER_MS = 2_000;

/** A panel's limits apply per minute: allows for a pause of that length, and for the delayed calls. */
export const PAUSE_ALLOWANCE_MS = 90_000;

const MINUTE_MS = 60_000;

/** The number of API calls needed to try a server. */
export function callsFor(mode: CollectionMode): number {
  return mode === 'auto' ? 2 : 1;
}

/** The estimated time to try these servers, in milliseconds, with this many calls per minute. */
export function estimateMs(modes: readonly CollectionMode[], perMinute: number): number {
  const calls = modes.reduce((sum, mode) => sum + callsFor(mode), 0);
  const bySockets = (Math.ceil(modes.length / SERVERS_AT_ONCE) || 0) * USUAL_SERVER_MS;
  return Math.max((calls / perMinute) * MINUTE_MS, bySockets);
}

/** What limits the time that one server takes. */
export interface ServerBounds extends SocketTimeouts {
  readonly requestTimeoutMs: number;
  readonly statsTimeoutMs: number;
  /** Calls per minute that the budget allows. */
  readonly perMinute: number;
}

/**
 * The time limit for one server, in milliseconds: the sum of its deadlines, and the time
 * in which the servers tried concurrently get their calls.
 */
export function serverDeadlineMs(bounds: ServerBounds): number {
  const { requestTimeoutMs, connectTimeoutMs, authTimeoutMs, statsTimeoutMs, perMinute } = bounds;
  const turnsMs = ((2 * SERVERS_AT_ONCE) / perMinute) * MINUTE_MS;
  return (
    2 * requestTimeoutMs + connectTimeoutMs + authTimeoutMs + statsTimeoutMs + turnsMs + PAUSE_ALLOWANCE_MS
  );
}
