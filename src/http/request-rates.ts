import { isIPv6 } from 'node:net';
import type { Clock } from '../domain/clock.ts';
import type { RequestRateLimit } from './web-settings.ts';

const MAPPED = /^::ffff:(\d+(?:\.\d+){3})$/i;

/**
 * The client that an address counts as when clients share a bounded resource: an IPv4 address is one client, and so is a
 * whole IPv6 /64, because a client with one of its addresses usually has all of them.
 */
export function clientOf(address: string | undefined): string {
  if (address === undefined) return '';
  const [, mapped] = MAPPED.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  const [plain = ''] = address.split('%');
  return isIPv6(plain) ? `${groupsOf(plain).slice(0, 4).join(':')}::/64` : address;
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): readonly string[] {
  // The URL parser converts an embedded IPv4 address to groups, and removes leading zeros.
  const { hostname } = new URL(`http://[${address}]`);
  const [left, right] = hostname
    .slice(1, -1)
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':')));
  if (left === undefined || right === undefined) return left ?? [];
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
}

/** Clients whose rate is remembered, about 200 bytes each. */
const MAX_CLIENTS = 10_000;

/**
 * The configured rate limit: authenticated requests share one token bucket, and each client that hasn't authenticated has its own.
 * Refused requests therefore don't use up another client's limit.
 */
export class RequestRates {
  readonly #clock: Clock;
  #limit: RequestRateLimit | undefined;
  #admitted: TokenBucket | undefined;
  #unauthenticated: ClientBuckets | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether another authenticated request may be served. */
  takeAdmitted(limit: RequestRateLimit | undefined): boolean {
    if (limit !== undefined) this.#use(limit);
    return limit === undefined || this.#admitted?.take(this.#clock.now()) === true;
  }

  /** Whether another request of an unauthenticated client may be processed. */
  takeUnauthenticated(limit: RequestRateLimit | undefined, client: string): boolean {
    if (limit !== undefined) this.#use(limit);
    return limit === undefined || this.#unauthenticated?.take(client) === true;
  }

  /** A changed limit starts with full buckets. */
  #use(limit: RequestRateLimit): void {
    if (limit === this.#limit) return;
    this.#limit = limit;
    this.#admitted = new TokenBucket(limit, this.#clock.now());
    this.#unauthenticated = new ClientBuckets(limit, this.#clock);
  }
}

/** One token bucket for each client; the clients whose last use is the oldest are forgotten when there are too many. */
export class ClientBuckets {
  readonly #limit: RequestRateLimit;
  readonly #clock: Clock;
  readonly #maxClients: number;
  /** Ordered by last use. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(limit: RequestRateLimit, clock: Clock, maxClients = MAX_CLIENTS) {
    this.#limit = limit;
    this.#clock = clock;
    this.#maxClients = maxClients;
  }

  /** Whether the client had a token, which it has now spent. */
  take(client: string): boolean {
    const now = this.#clock.now();
    const bucket = this.#buckets.get(client) ?? new TokenBucket(this.#limit, now);
    this.#buckets.delete(client);
    this.#buckets.set(client, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > this.#maxClients && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket.take(now);
  }

  /** How many tokens the client has spent and not yet got back. */
  spent(client: string): number {
    return this.#buckets.get(client)?.missing(this.#clock.now()) ?? 0;
  }

  /** Fills the client's bucket. */
  refill(client: string): void {
    this.#buckets.delete(client);
  }
}

/** Allows a burst of requests, and one more per interval. */
export class TokenBucket {
  readonly #limit: RequestRateLimit;
  #tokens: number;
  #filledAt: number;

  constructor(limit: RequestRateLimit, now: number) {
    this.#limit = limit;
    this.#tokens = limit.burst;
    this.#filledAt = now;
  }

  /** Whether a request may pass at the monotonic instant `now`. */
  take(now: number): boolean {
    this.#fill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** The number of tokens that a full bucket would have in addition, counting a partial one. */
  missing(now: number): number {
    this.#fill(now);
    return Math.ceil(this.#limit.burst - this.#tokens);
  }

  #fill(now: number): void {
    const { intervalMs, burst } = this.#limit;
    this.#tokens = Math.min(burst, this.#tokens + (now - this.#filledAt) / intervalMs);
    this.#filledAt = now;
  }
}
