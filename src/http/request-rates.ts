import type { Clock } from '../domain/clock.ts';
import type { RateLimit } from './web-settings.ts';

/** Clients whose rate is remembered, about 200 bytes each. */
const MAX_CLIENTS = 10_000;

/**
 * Rate limits for requests: authenticated requests share one token bucket, and each client that hasn't authenticated has its own.
 * Refused requests therefore don't use up another client's limit.
 */
export class RequestRates {
  readonly #clock: Clock;
  readonly #maxClients: number;
  #limit: RateLimit | undefined;
  #admitted: TokenBucket | undefined;
  /** Ordered by last request. */
  readonly #unauthenticated = new Map<string, TokenBucket>();

  constructor(clock: Clock, maxClients = MAX_CLIENTS) {
    this.#clock = clock;
    this.#maxClients = maxClients;
  }

  /** Whether another authenticated request may be answered. */
  takeAdmitted(limit: RateLimit | undefined): boolean {
    if (limit === undefined) return true;
    this.#use(limit);
    const now = this.#clock.now();
    this.#admitted ??= new TokenBucket(limit, now);
    return this.#admitted.take(now);
  }

  /** Whether another request of an unauthenticated client may be processed. */
  takeUnauthenticated(limit: RateLimit | undefined, client: string): boolean {
    if (limit === undefined) return true;
    this.#use(limit);
    const now = this.#clock.now();
    const bucket = this.#unauthenticated.get(client) ?? new TokenBucket(limit, now);
    this.#unauthenticated.delete(client);
    this.#unauthenticated.set(client, bucket);
    const [oldest] = this.#unauthenticated.keys();
    if (this.#unauthenticated.size > this.#maxClients && oldest !== undefined)
      this.#unauthenticated.delete(oldest);
    return bucket.take(now);
  }

  /** A changed limit starts with full buckets. */
  #use(limit: RateLimit): void {
    if (limit === this.#limit) return;
    this.#limit = limit;
    this.#admitted = undefined;
    this.#unauthenticated.clear();
  }
}

/** Allows a burst of requests, and one more per interval. */
export class TokenBucket {
  readonly #limit: RateLimit;
  #tokens: number;
  #filledAt: number;

  constructor(limit: RateLimit, now: number) {
    this.#limit = limit;
    this.#tokens = limit.burst;
    this.#filledAt = now;
  }

  /** Whether a request may pass at the monotonic instant `now`. */
  take(now: number): boolean {
    const { intervalMs, burst } = this.#limit;
    this.#tokens = Math.min(burst, this.#tokens + (now - this.#filledAt) / intervalMs);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
