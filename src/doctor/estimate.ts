import type { CollectionMode } from '../domain/server.ts';

/** Servers of one panel that are tried at once: as many as its budget has calls in flight. */
export const SERVERS_AT_ONCE = 8;

/** What a server takes beside the wait for its calls: a socket that opens, and stats that come within a second or two. */
const USUAL_SERVER_MS = 2_000;

/** A panel's limits are per minute: a pause of that length, and what the calls take that were held back. */
export const PAUSE_ALLOWANCE_MS = 90_000;

const MINUTE_MS = 60_000;

/** Calls of the API that trying a server takes. */
export function callsFor(mode: CollectionMode): number {
  return mode === 'auto' ? 2 : 1;
}

/** How long it is likely to take to try these servers, in milliseconds, at so many calls a minute. */
export function estimateMs(modes: readonly CollectionMode[], perMinute: number): number {
  const calls = modes.reduce((sum, mode) => sum + callsFor(mode), 0);
  const bySockets = (Math.ceil(modes.length / SERVERS_AT_ONCE) || 0) * USUAL_SERVER_MS;
  return Math.max((calls / perMinute) * MINUTE_MS, bySockets);
}

/** What bounds the time that one server takes. */
export interface ServerBounds {
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
  readonly statsTimeoutMs: number;
  /** Calls a minute that the budget lets out. */
  readonly perMinute: number;
}

/** The time after which a server is given up, in milliseconds: all of its deadlines, and the turns of the servers beside it. */
export function serverDeadlineMs(bounds: ServerBounds): number {
  const { requestTimeoutMs, connectTimeoutMs, authTimeoutMs, statsTimeoutMs, perMinute } = bounds;
  const turnsMs = ((2 * SERVERS_AT_ONCE) / perMinute) * MINUTE_MS;
  return (
    2 * requestTimeoutMs + connectTimeoutMs + authTimeoutMs + statsTimeoutMs + turnsMs + PAUSE_ALLOWANCE_MS
  );
}

/** A duration as one says it: `8 s`, `3 min`, `2 h 5 min`. */
export function spokenDuration(durationMs: number): string {
  const seconds = Math.max(1, Math.round(durationMs / 1_000));
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
}
