import type { Clock } from '../domain/clock.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';

/** The limit until the panel reports one: the lowest seen in the field. */
const UNLEARNED_PER_MINUTE = 60;

/** The rest is left to the people who share the account. */
export const PART_OF_LIMIT = 0.8;

/** Panels count calls in minutes. */
export const WINDOW_MS = 60_000;

/**
 * Responses that contain a token may report the limit of that endpoint for one server, which is 5 a minute on Pelican; every limit
 * of an account seen in the field is far above this.
 */
const MAX_CONSOLE_LIMIT = 10;

/** With less than this part of the limit left, somebody else uses the account. */
const SPARE_PART = 0.1;

/** While the account has nothing to spare, one call after each such wait shows whether it has again. */
const SPARE_WAIT_MS = 15_000;

/** The calls per minute that are made of this limit, or of one that the panel doesn't report. */
export function allowedOf(limitPerMinute: number | undefined): number {
  return (limitPerMinute ?? UNLEARNED_PER_MINUTE) * PART_OF_LIMIT;
}

/** What a response's headers show about the rate limit, in calls per minute. */
export interface RateFacts {
  readonly limitPerMinute?: number | undefined;
  readonly remaining?: number | undefined;
}

export interface RateLimitOptions {
  readonly clock: Clock;
  /** A fixed rate set by the operator, in calls per minute. */
  readonly pinnedPerMinute?: number | undefined;
  /** This shard's share of the limit; 1 by default. */
  readonly share?: number | undefined;
}

/** What calls one account may still make: a sliding window of 60 s, pauses that the panel demands, and what others use. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #pinned: number | undefined;
  readonly #share: number;
  /** Starts within the last minute, oldest first. */
  readonly #starts: number[] = [];
  readonly #waitListeners = new Set<() => void>();
  readonly #rateListeners = new Set<() => void>();
  #known: number | undefined;
  #throttledUntil = Number.NEGATIVE_INFINITY;
  #spareAt = Number.NEGATIVE_INFINITY;
  /** Calls that the account can spare; infinite while the panel reports no limit. */
  #spare = Number.POSITIVE_INFINITY;
  /** By then, the minute in which the panel reported it has ended. */
  #spareUntil = Number.NEGATIVE_INFINITY;

  constructor({ clock, pinnedPerMinute, share = 1 }: RateLimitOptions) {
    this.#clock = clock;
    this.#pinned = pinnedPerMinute;
    this.#share = share;
  }

  /** The most calls within 60 s. */
  get allowedPerMinute(): number {
    return (this.#pinned ?? allowedOf(this.#known)) * this.#share;
  }

  /** The panel's own limit; undefined until a response reports it. */
  get knownPerMinute(): number | undefined {
    return this.#known;
  }

  /** Calls made within the last 60 s. */
  get usedLastMinute(): number {
    this.#forget();
    return this.#starts.length;
  }

  /** The panel's demanded pause ends at this monotonic instant. */
  get throttledUntil(): number {
    return this.#throttledUntil;
  }

  /** The next call may start at this monotonic instant; not after now if it may start at once. */
  get readyAt(): number {
    this.#forget();
    const allowed = Math.max(1, Math.floor(this.allowedPerMinute));
    const oldest = this.#starts[this.#starts.length - allowed];
    const windowAt = oldest === undefined ? Number.NEGATIVE_INFINITY : oldest + WINDOW_MS;
    const spareAt = this.#spare > 0 ? Number.NEGATIVE_INFINITY : Math.min(this.#spareAt, this.#spareUntil);
    return Math.max(windowAt, spareAt, this.#throttledUntil);
  }

  /** Calls the listener when `readyAt` may have changed; returns a function that unsubscribes, as does the next. */
  onWait(listener: () => void): () => void {
    this.#waitListeners.add(listener);
    return () => this.#waitListeners.delete(listener);
  }

  /** Calls the listener when the allowed rate changes, or a pause begins that the panel demands. */
  onRate(listener: () => void): () => void {
    this.#rateListeners.add(listener);
    return () => this.#rateListeners.delete(listener);
  }

  /** A call starts. */
  take(): void {
    const now = this.#clock.now();
    this.#starts.push(now);
    if (now >= this.#spareUntil) this.#spare = Number.POSITIVE_INFINITY;
    // After a wait, a single call asks whether there is something to spare again.
    this.#spare = Math.max(0, this.#spare - 1);
    if (this.#spare === 0) this.#spareAt = now + SPARE_WAIT_MS;
    if (this.readyAt > now) notify(this.#waitListeners);
  }

  /** Learns from a response; returns whether the panel's limit changed. */
  answered(endpoint: ApiEndpoint, { limitPerMinute: limit, remaining }: RateFacts): boolean {
    if (limit === undefined || !isOfAccount(endpoint, limit)) return false;
    const isNew = limit !== this.#known;
    if (this.#known === undefined && remaining !== undefined) this.#noteEarlier(limit - remaining);
    this.#known = limit;
    if (remaining !== undefined) this.#noteSpare(remaining - Math.ceil(limit * SPARE_PART));
    if (isNew || this.readyAt > this.#clock.now()) notify(this.#waitListeners);
    if (isNew) notify(this.#rateListeners);
    return isNew;
  }

  /** The panel responded with 429, and requires a wait of this many milliseconds. */
  throttled(waitMs: number): void {
    this.#throttledUntil = Math.max(this.#throttledUntil, this.#clock.now() + waitMs);
    notify(this.#waitListeners);
    notify(this.#rateListeners);
  }

  /** Does a 429 concern all calls of the account, and not one server's console? */
  static concernsAccount(endpoint: ApiEndpoint, limit: number | undefined): boolean {
    return limit === undefined || isOfAccount(endpoint, limit);
  }

  /** Calls that the account made before this process count as well, or a restart would exceed the limit. */
  #noteEarlier(used: number): void {
    const now = this.#clock.now();
    for (let call = this.usedLastMinute; call < used; call += 1) this.#starts.push(now);
  }

  #noteSpare(spare: number): void {
    const now = this.#clock.now();
    if (spare <= 0 && this.#spare > 0) this.#spareAt = now + SPARE_WAIT_MS;
    this.#spareUntil = now + WINDOW_MS;
    this.#spare = Math.max(0, spare);
  }

  #forget(): void {
    const horizon = this.#clock.now() - WINDOW_MS;
    let old = 0;
    while ((this.#starts[old] ?? Number.POSITIVE_INFINITY) <= horizon) old += 1;
    if (old > 0) this.#starts.splice(0, old);
  }
}

function notify(listeners: ReadonlySet<() => void>): void {
  for (const listener of listeners) listener();
}

function isOfAccount(endpoint: ApiEndpoint, limit: number): boolean {
  return endpoint !== 'websocket' || limit > MAX_CONSOLE_LIMIT;
}
