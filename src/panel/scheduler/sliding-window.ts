/** Counts calls of one kind in a sliding window, by default of a minute. */

import { AT_ONCE } from '../../domain/clock.ts';

/** The default window, because panels count calls in minutes. */
export const WINDOW_MS = 60_000;

/**
 * Old entries are removed from the array once there are this many of them, and more than current
 * ones.
 */
const COMPACT_FROM = 64;

export class SlidingWindow {
  readonly #windowMs: number;
  #at: number[] = [];
  /** The first entry that may be within the window. */
  #first = 0;

  constructor(windowMs = WINDOW_MS) {
    this.#windowMs = windowMs;
  }

  /** Adds an instant in monotonic milliseconds. Instants must be in order. */
  add(at: number): void {
    this.#at.push(at);
  }

  /** The number of entries in the window that ends now. */
  count(now: number): number {
    while ((this.#at[this.#first] ?? Number.POSITIVE_INFINITY) <= now - this.#windowMs) this.#first += 1;
    if (this.#first >= COMPACT_FROM && this.#first > this.#at.length / 2) {
      this.#at = this.#at.slice(this.#first);
      this.#first = 0;
    }
    return this.#at.length - this.#first;
  }

  /**
   * When there is room for another entry, with at most `most` (at least one) in a window; negative
   * infinity if there is room now.
   */
  roomAt(most: number, now: number): number {
    const allowed = Math.max(1, Math.floor(most));
    if (this.count(now) < allowed) return AT_ONCE;
    return (this.#at.at(-allowed) ?? 0) + this.#windowMs;
  }

  clear(): void {
    this.#at = [];
    this.#first = 0;
  }
}
