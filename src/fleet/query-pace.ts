// The pace of a panel's queries; pure.

/** Concurrent queries of a panel. */
export const QUERY_SEATS = 32;

/**
 * Seats for servers that didn't respond to their last query: unresponsive servers must never delay
 * the others.
 */
export const SILENT_SEATS = QUERY_SEATS / 4;

/** A server that doesn't respond is queried less and less often, down to once in this time. */
export const LONGEST_BACKOFF_MS = 5 * 60_000;

/**
 * A game may load for minutes: in the first 20 minutes of a run, a silent server is queried at
 * least once a minute.
 */
export const LOADING_MS = 20 * 60_000;
const LONGEST_LOADING_BACKOFF_MS = 60_000;

/**
 * A query that takes longer than this, and than a multiple of the last response's time, is repeated
 * in a seat for silent servers.
 */
const SHORTEST_PATIENCE_MS = 1_000;
const PATIENCE_FACTOR = 4;

/** How long a query may take before it is repeated, after a response that took so long. */
export function patienceMs(tookMs: number): number {
  return Math.max(SHORTEST_PATIENCE_MS, tookMs * PATIENCE_FACTOR);
}

/**
 * How many intervals pass without a query after this many consecutive queries without a response:
 * 0, 1, 3, 7, … up to the longest backoff. The server has been running for `runningMs`.
 */
export function restsAfter(failures: number, intervalMs: number, runningMs: number): number {
  const longestMs = runningMs < LOADING_MS ? LONGEST_LOADING_BACKOFF_MS : LONGEST_BACKOFF_MS;
  const most = Math.max(1, Math.floor(longestMs / intervalMs));
  return Math.min(2 ** (failures - 1), most) - 1;
}
