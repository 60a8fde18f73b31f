/** The first wait's ceiling: long enough that a restarting daemon isn't flooded with reconnects. */
const BASE_MS = 5_000;

/** The maximum ceiling: a recovered server is noticed within a minute, like a circuit's trials. */
const MAX_MS = 60_000;

/** The shortest wait: full jitter may draw zero, which would be a hot loop for one server. */
const MIN_MS = 500;

/** A connection that streamed for this long was good: the next failure starts from the first ceiling again. */
export const STABLE_AFTER_MS = 60_000;

/** How long to wait after a refusal that only a person can lift. */
export const SLOW_RETRY_MS = 5 * 60_000;

/** The jitter after refusals, so that servers refused together aren't retried together. */
const REFUSAL_SPREAD = 0.1;

/**
 * Milliseconds to wait after `failures` consecutive failures (1 or more): full jitter under a ceiling that doubles from 5 s to a
 * minute. `random` is uniform in [0, 1).
 */
export function backoffMs(failures: number, random: number): number {
  const ceiling = Math.min(MAX_MS, BASE_MS * 2 ** Math.min(failures - 1, 16));
  return Math.max(MIN_MS, random * ceiling);
}

/** Milliseconds until a lasting refusal of the server itself is retried. */
export function slowRetryMs(random: number): number {
  return SLOW_RETRY_MS * (1 + REFUSAL_SPREAD * random);
}

/** Milliseconds until a refusal that isn't the server's own is retried: at most the longest gap between the trials of a circuit. */
export function refusedRetryMs(random: number): number {
  return MAX_MS * (1 - REFUSAL_SPREAD * random);
}
