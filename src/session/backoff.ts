/** Ceiling of the first wait: long enough that a daemon's restart isn't met by a storm. */
const BASE_MS = 5_000;

/** No ceiling grows past this: a server that came back is noticed within five minutes. */
const MAX_MS = 5 * 60_000;

/** No wait is shorter: full jitter may draw zero, which would be a hot loop for one server. */
const MIN_MS = 500;

/** A connection that streamed for this long was good: the next failure starts from the first ceiling. */
export const STABLE_AFTER_MS = 60_000;

/** How long a refusal rests that only a person can lift. */
export const SLOW_RETRY_MS = 5 * 60_000;

/** Spread of the slow retry, so that servers blocked together aren't asked together. */
const SLOW_RETRY_SPREAD = 0.1;

/**
 * Milliseconds to wait after `failures` failures in a row (1 or more): full jitter under a ceiling that doubles from
 * 5 s to 5 min. `random` is uniform in [0, 1).
 */
export function backoffMs(failures: number, random: number): number {
  const ceiling = Math.min(MAX_MS, BASE_MS * 2 ** Math.min(failures - 1, 16));
  return Math.max(MIN_MS, random * ceiling);
}

/** The shortest wait after a poll that failed, and the ceiling of the first. */
const POLL_BASE_MS = 30_000;

/** Milliseconds to wait after `failures` polls failed in a row (1 or more): from 30 s to a ceiling that doubles up to 5 min. */
export function pollBackoffMs(failures: number, random: number): number {
  const ceiling = Math.min(MAX_MS, POLL_BASE_MS * 2 ** Math.min(failures - 1, 16));
  return POLL_BASE_MS + (ceiling - POLL_BASE_MS) * random;
}

/** Milliseconds until a lasting refusal is tried again. */
export function slowRetryMs(random: number): number {
  return SLOW_RETRY_MS * (1 + SLOW_RETRY_SPREAD * random);
}
