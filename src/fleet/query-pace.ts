// How often a panel's games are queried, and how many at a time; pure.

/** The number of concurrent queries per panel. */
export const QUERY_SEATS = 32;

/** Seats for servers that didn't respond to their last query. They must never delay the others. */
export const SILENT_SEATS = QUERY_SEATS / 4;

/**
 * The longest interval for a server that doesn't respond. It is queried less and less often until
 * then.
 */
export const LONGEST_BACKOFF_MS = 5 * 60_000;

/**
 * A game may load for minutes: in the first 20 minutes of a run, a silent server is queried at
 * least once a minute.
 */
export const LOADING_MS = 20 * 60_000;
const LONGEST_LOADING_BACKOFF_MS = 60_000;

/**
 * A query that takes longer than this, and longer than a multiple of the last response time, is
 * repeated in a seat for silent servers.
 */
const SHORTEST_PATIENCE_MS = 1_000;
const PATIENCE_FACTOR = 4;

/** How long a query may take before it is repeated, given the last response time. */
export function patienceMs(tookMs: number): number {
  return Math.max(SHORTEST_PATIENCE_MS, tookMs * PATIENCE_FACTOR);
}

/**
 * The number of intervals without a query after this many failures in a row: 0, 1, 3, 7, … up to
 * the longest back-off. The server has been running for `runningMs`.
 */
export function restsAfter(failures: number, intervalMs: number, runningMs: number): number {
  const longestMs = runningMs < LOADING_MS ? LONGEST_LOADING_BACKOFF_MS : LONGEST_BACKOFF_MS;
  const most = Math.max(1, Math.floor(longestMs / intervalMs));
  return Math.min(2 ** (failures - 1), most) - 1;
}
