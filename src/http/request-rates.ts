import type { Clock } from '../domain/clock.ts';
import type { RateLimit } from './web-settings.ts';

/** Clients whose rate is remembered, some 200 bytes each. */
const MAX_CLIENTS = 10_000;

/**
 * The rate of requests: those that are let in share one token bucket, and each client that hasn't proved yet that it may come in has
 * one of its own. Refused requests therefore use up nobody else's rate.
 */
export class RequestRates {
  readonly #clock: Clock;
  readonly #maxClients: number;
  #limit: RateLimit | undefined;
  #admitted: TokenBucket | undefined;
  /** In the order of their last requests. */
  readonly #strangers = new Map<string, TokenBucket>();

  constructor(clock: Clock, maxClients = MAX_CLIENTS) {
    this.#clock = clock;
    this.#maxClients = maxClients;
  }

  /** May one more request of somebody who is let in be answered? */
  takeAdmitted(limit: RateLimit | undefined): boolean {
    if (limit === undefined) return true;
    this.#use(limit);
    const now = this.#clock.now();
    this.#admitted ??= new TokenBucket(limit, now);
    return this.#admitted.take(now);
  }

  /** May one more request of a client that isn't known to be let in be looked at? */
  takeStranger(limit: RateLimit | undefined, client: string): boolean {
    if (limit === undefined) return true;
    this.#use(limit);
    const now = this.#clock.now();
    const bucket = this.#strangers.get(client) ?? new TokenBucket(limit, now);
    this.#strangers.delete(client);
    this.#strangers.set(client, bucket);
    const [oldest] = this.#strangers.keys();
    if (this.#strangers.size > this.#maxClients && oldest !== undefined) this.#strangers.delete(oldest);
    return bucket.take(now);
  }

  /** Another limit starts with full buckets. */
  #use(limit: RateLimit): void {
    if (limit === this.#limit) return;
    this.#limit = limit;
    this.#admitted = undefined;
    this.#strangers.clear();
  }
}

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
