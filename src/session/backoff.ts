// How long a session waits after failures and refusals. `retryDelay` in machine-steps.ts chooses
// between them.

import { TRIAL_GAPS_MS } from '../panel/health/blame.ts';

/**
 * After this many consecutive failures, the next call will probably fail as well, so it waits for
 * spare budget.
 */
export const FAILURES_TO_RETRY = 3;

/**
 * Milliseconds until a poll or a read is due again after this many consecutive failures: the same
 * gaps as between the trials of an outage.
 */
export function retryGapMs(failures: number): number {
  return TRIAL_GAPS_MS[Math.min(failures, TRIAL_GAPS_MS.length) - 1] ?? 0;
}

/** The upper limit of the first wait, so that a restarting daemon isn't flooded with reconnects. */
const BASE_MS = 5_000;

/**
 * The highest upper limit. With an attempt that hangs until the connection times out after 10 s, a
 * recovered server is noticed within a minute.
 */
const MAX_MS = 45_000;

/**
 * The shortest wait, because full jitter may draw zero, which would cause a hot loop for one
 * server.
 */
const MIN_MS = 500;

/** After a connection that streamed for this long, the wait starts with the first limit again. */
export const STABLE_AFTER_MS = 60_000;

/**
 * The wait after a lasting refusal of the server itself, plus up to a tenth: only a person or a job
 * of the panel can end it. The first refusal in a row, and one of a server that the server list
 * shows unblocked, are retried after `REFUSED_RETRY_MS`.
 */
export const SLOW_RETRY_MS = 5 * 60_000;

/**
 * The wait after every other lasting refusal, such as a node's, minus up to a tenth: at most the
 * longest gap between trials of an outage.
 */
const REFUSED_RETRY_MS = 60_000;

/**
 * The jitter after refusals, as a share of the wait. It spreads the retries of servers that were
 * refused at the same time.
 */
const REFUSAL_SPREAD = 0.1;

/**
 * Milliseconds to wait after `failures` consecutive failures (1 or more): full jitter under a limit
 * that doubles from 5 s to 45 s. `random` is uniform in [0, 1).
 */
export function backoffMs(failures: number, random: number): number {
  const ceiling = Math.min(MAX_MS, BASE_MS * 2 ** Math.min(failures - 1, 16));
  return Math.max(MIN_MS, random * ceiling);
}

/**
 * Milliseconds until a lasting refusal of the server itself is retried, after this many in a row.
 */
export function slowRetryMs(refusals: number, random: number): number {
  return refusals <= 1 ? refusedRetryMs(random) : SLOW_RETRY_MS * (1 + REFUSAL_SPREAD * random);
}

/**
 * Milliseconds until the retry of a lasting refusal that isn't the server's own or may end soon.
 */
export function refusedRetryMs(random: number): number {
  return REFUSED_RETRY_MS * (1 - REFUSAL_SPREAD * random);
}
