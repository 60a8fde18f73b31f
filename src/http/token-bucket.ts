import type { RateLimit } from './web-settings.ts';

/** Lets so many requests through at once, and one more at each interval. */
export class TokenBucket {
  readonly #limit: RateLimit;
  #tokens: number;
  #filledAt: number;

  constructor(limit: RateLimit, now: number) {
    this.#limit = limit;
    this.#tokens = limit.burst;
    this.#filledAt = now;
  }

  /** May a request go through at the monotonic instant `now`? */
  take(now: number): boolean {
    const { intervalMs, burst } = this.#limit;
    this.#tokens = Math.min(burst, this.#tokens + (now - this.#filledAt) / intervalMs);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
