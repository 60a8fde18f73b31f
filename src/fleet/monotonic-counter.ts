/** A counter that stays below its highest value for this long was reset, whatever else is known. */
const MAX_HELD_MS = 60_000;

/**
 * Keeps one of a server's counters monotonic: it decreases only if the server was restarted. Otherwise a single late value would
 * look like a reset, and so like a terabyte of traffic.
 */
export class MonotonicCounter {
  /** NaN before the first value. */
  #highest = Number.NaN;
  /** Since when the highest value has been shown instead of a lower one; undefined if it isn't. */
  #heldSince: number | undefined;

  /** The value to show for a received one; `mayReset` if the server was restarted since the last. NaN if none was received. */
  next(value: number, mayReset: boolean, now: number): number {
    if (Number.isNaN(value)) return value;
    const isHeld = value < this.#highest && !mayReset && now - (this.#heldSince ?? now) < MAX_HELD_MS;
    if (!isHeld) {
      this.#highest = value;
      this.#heldSince = undefined;
    } else this.#heldSince ??= now;
    return this.#highest;
  }
}
