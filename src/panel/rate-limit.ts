import type { Clock } from '../domain/time.ts';
import type { Path } from './blame.ts';

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

/** After a pause, one call at a time shows whether it is over, or the next if that takes longer than this. */
const PROBE_MS = 5_000;

/** The calls per minute that are made of this limit, or of one that the panel doesn't report. */
export function allowedOf(limitPerMinute: number | undefined): number {
  return (limitPerMinute ?? UNLEARNED_PER_MINUTE) * PART_OF_LIMIT;
}

/** What a response's headers show about the rate limit, in calls per minute. */
export interface RateFacts {
  readonly limitPerMinute?: number | undefined;
  readonly remaining?: number | undefined;
}

/** The part of a rate limit that the operator determines. */
export interface PinnedRate {
  /** A fixed rate set by the operator, in calls per minute. */
  readonly pinnedPerMinute?: number | undefined;
  /** This shard's share of the limit; 1 by default. */
  readonly share?: number | undefined;
}

/** What a 429 is about: all calls of the account, one path, or the tokens of one server. */
export type PauseScope = 'account' | Path | `tokens of ${string}`;

/** A pause that the panel demands; it stays until a call shows that it is over. */
export interface Pause {
  readonly scope: PauseScope;
  /** In monotonic milliseconds. */
  readonly until: number;
  readonly lengthMs: number;
  /** The panel demanded it again. */
  readonly isRepeated: boolean;
}

/** What calls may still be made; instants are monotonic milliseconds. */
export interface Allowance {
  /** The starts of the last minute's calls, the earliest first. */
  readonly starts: readonly number[];
  /** The most calls within any minute. */
  readonly perMinute: number;
  /** The account has nothing to spare before. */
  readonly spareAt: number;
  readonly pauses: ReadonlyMap<PauseScope, Pause>;
}

/** When the pauses that concern a call are over. */
export function pausedUntil({ pauses }: Pick<Allowance, 'pauses'>, path: Path, server: string): number {
  if (pauses.size === 0) return Number.NEGATIVE_INFINITY;
  const ends = scopesOf(path, server).map((scope) => pauses.get(scope)?.until ?? Number.NEGATIVE_INFINITY);
  return Math.max(...ends);
}

/** Did a 429 concern the call, and no response since show that it is over? */
export function isPaused({ pauses }: Pick<Allowance, 'pauses'>, path: Path, server: string): boolean {
  return pauses.size > 0 && scopesOf(path, server).some((scope) => pauses.has(scope));
}

function scopesOf(path: Path, server: string): readonly PauseScope[] {
  return path === 'websocket' ? ['account', path, `tokens of ${server}`] : ['account', path];
}

/** What calls one account may still make: a sliding window of 60 s, pauses that the panel demands, and what others use. */
export class RateLimit {
  readonly #clock: Clock;
  #rate: PinnedRate;
  /** Starts within the last minute, oldest first. */
  readonly #starts: number[] = [];
  readonly #changes = new Listeners();
  readonly #pauses = new Map<PauseScope, Pause>();
  #known: number | undefined;
  /** When a response last reported the known limit. */
  #knownAt = Number.NEGATIVE_INFINITY;
  #spareAt = Number.NEGATIVE_INFINITY;
  /** Calls that the account can spare; infinite while the panel reports no limit. */
  #spare = Number.POSITIVE_INFINITY;
  /** By then, the minute in which the panel reported it has ended. */
  #spareUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, rate: PinnedRate = {}) {
    this.#clock = clock;
    this.#rate = rate;
  }

  /** Applies another rate; the calls of the last minute still count. */
  pin(rate: PinnedRate): void {
    this.#rate = rate;
    this.#changes.notify();
  }

  /** The most calls within 60 s. */
  get limitPerMinute(): number {
    const { pinnedPerMinute, share = 1 } = this.#rate;
    return (pinnedPerMinute ?? allowedOf(this.#known)) * share;
  }

  /** Did the operator set the rate? Then there is no limit to learn. */
  get isPinned(): boolean {
    return this.#rate.pinnedPerMinute !== undefined;
  }

  /** The panel's own limit; undefined until a response reports it. */
  get knownLimitPerMinute(): number | undefined {
    return this.#known;
  }

  /** What may still be called now. */
  get allowance(): Allowance {
    const horizon = this.#clock.now() - WINDOW_MS;
    let old = 0;
    while ((this.#starts[old] ?? Number.POSITIVE_INFINITY) <= horizon) old += 1;
    if (old > 0) this.#starts.splice(0, old);
    return {
      starts: this.#starts,
      perMinute: this.limitPerMinute,
      spareAt: this.#spare > 0 ? Number.NEGATIVE_INFINITY : Math.min(this.#spareAt, this.#spareUntil),
      pauses: this.#pauses,
    };
  }

  /** Calls the listener when more or fewer calls may start than before; returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    return this.#changes.add(listener);
  }

  /** A call starts. */
  take(path: Path, server: string): void {
    const now = this.#clock.now();
    this.#starts.push(now);
    if (now >= this.#spareUntil) this.#spare = Number.POSITIVE_INFINITY;
    // After a wait, a single call asks whether there is something to spare again.
    this.#spare = Math.max(0, this.#spare - 1);
    if (this.#spare === 0) this.#spareAt = now + SPARE_WAIT_MS;
    for (const scope of scopesOf(path, server)) {
      const pause = this.#pauses.get(scope);
      if (pause !== undefined) this.#pauses.set(scope, { ...pause, until: now + PROBE_MS });
    }
  }

  /** A call ended other than with 429: no pause that concerns it goes on; returns those that did. */
  answered(path: Path, server: string): readonly PauseScope[] {
    const ended = scopesOf(path, server).filter((scope) => this.#pauses.delete(scope));
    if (ended.length > 0) this.#changes.notify();
    return ended;
  }

  /** Learns from a response of the panel; returns whether the panel's limit changed. */
  learn(path: Path, { limitPerMinute: limit, remaining }: RateFacts): boolean {
    if (limit === undefined || isOfConsole(path, limit)) return false;
    const now = this.#clock.now();
    const before = this.#known;
    if (remaining !== undefined) {
      // Calls that the account made before this process count as well, or a restart would exceed the limit.
      const earlier = before === undefined ? limit - remaining - this.allowance.starts.length : 0;
      for (let call = 0; call < earlier; call += 1) this.#starts.push(now);
      const spare = Math.max(0, remaining - Math.ceil(limit * SPARE_PART));
      if (spare === 0 && this.#spare > 0) this.#spareAt = now + SPARE_WAIT_MS;
      this.#spareUntil = now + WINDOW_MS;
      this.#spare = spare;
    }
    // Of several limits that are reported in turn, the lowest is safe.
    if (before !== undefined && limit > before && now - this.#knownAt < WINDOW_MS) return false;
    this.#known = limit;
    this.#knownAt = now;
    if (limit !== before) this.#changes.notify();
    return limit !== before;
  }

  /**
   * The panel responded with 429. Returns the pause, which concerns the account if the response shows its limit, or if another path is
   * paused, too; undefined if it was paused already, because calls that were in flight together are throttled together.
   */
  throttled(
    path: Path,
    server: string,
    { limitPerMinute: limit }: RateFacts,
    demandedMs = DEFAULT_WAIT_MS,
  ): Pause | undefined {
    const now = this.#clock.now();
    // Servers may have ever new ids.
    for (const [old, { until }] of this.#pauses) if (until < now - MAX_WAIT_MS) this.#pauses.delete(old);
    const scope = this.#scopeOf(path, server, limit, now);
    const before = this.#pauses.get(scope);
    const isRepeated = before !== undefined;
    const isPaused = isRepeated && before.until > now + PROBE_MS;
    // A panel that demands too short a pause demands it again and again.
    const lengthMs = isPaused
      ? Math.max(demandedMs, before.lengthMs)
      : Math.max(demandedMs, Math.min(2 * (before?.lengthMs ?? 0), DEFAULT_WAIT_MS));
    const until = Math.max(before?.until ?? 0, now + lengthMs);
    const pause = { scope, until, lengthMs, isRepeated };
    this.#pauses.set(scope, pause);
    this.#changes.notify();
    return isPaused ? undefined : pause;
  }

  #scopeOf(path: Path, server: string, limit: number | undefined, now: number): PauseScope {
    if (limit !== undefined) return isOfConsole(path, limit) ? `tokens of ${server}` : 'account';
    const isOther = ([scope, { until }]: [PauseScope, Pause]) =>
      scope !== path && !scope.startsWith('tokens of ') && until > now;
    return [...this.#pauses].some(isOther) ? 'account' : path;
  }
}

/** Is this the limit of one server's console, and not of the account? */
export function isOfConsole(path: Path, limit = Number.POSITIVE_INFINITY): boolean {
  return path === 'websocket' && limit <= MAX_CONSOLE_LIMIT;
}

/** The rate limit headers of a response, as received. */
export interface RateHeaders {
  readonly limit?: string;
  readonly remaining?: string;
  readonly retryAfter?: string;
  readonly reset?: string;
  /** The panel's own clock, with which `reset` is compared. */
  readonly date?: string;
}

/** How long to wait if the panel doesn't specify it: its limits are per minute. */
export const DEFAULT_WAIT_MS = 60_000;

/** The longest wait, whatever the panel requires: a wrong header must not stop the exporter for a day. */
const MAX_WAIT_MS = 600_000;

/** The shortest wait, because 0 would be a hot loop. */
const MIN_WAIT_MS = 1_000;

/** A reset further in the past is not an instant of this window but some other number. */
const MAX_RESET_AGE_MS = 60_000;

/** A higher limit counts as no limit. */
const MAX_LIMIT = 1_000_000;

/**
 * How long to wait after a 429, in milliseconds from 1 s to 10 min: from `Retry-After`, the reset header, or the seconds
 * in the message's text, in this order; otherwise a minute.
 */
export function retryAfterMs(headers: RateHeaders, message: string | undefined, nowUnixMs: number): number {
  const panelNow = httpDateMs(headers.date) ?? nowUnixMs;
  const waitMs =
    byRetryAfter(headers.retryAfter, panelNow) ?? byReset(headers.reset, panelNow) ?? byText(message);
  return Math.min(Math.max(waitMs ?? DEFAULT_WAIT_MS, MIN_WAIT_MS), MAX_WAIT_MS);
}

/** What the headers show; the limit is undefined if it is implausible. */
export function rateFacts(headers: RateHeaders): RateFacts {
  const limit = wholeNumber(headers.limit) ?? 0;
  const limitPerMinute = limit >= 1 && limit <= MAX_LIMIT ? limit : undefined;
  return { limitPerMinute, remaining: wholeNumber(headers.remaining) };
}

function byRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const seconds = wholeNumber(value);
  if (seconds !== undefined) return seconds * 1_000;
  const at = httpDateMs(value);
  return at === undefined ? undefined : at - nowMs;
}

function byReset(value: string | undefined, nowMs: number): number | undefined {
  const epochSeconds = wholeNumber(value);
  if (epochSeconds === undefined) return undefined;
  const waitMs = epochSeconds * 1_000 - nowMs;
  return waitMs < -MAX_RESET_AGE_MS ? undefined : waitMs;
}

function byText(message: string | undefined): number | undefined {
  if (message === undefined) return undefined;
  const digits = /(\d{1,9})\s*s(?:ec|\b)/i.exec(message)?.[1] ?? /\bsec\D{0,40}(\d{1,9})/i.exec(message)?.[1];
  return digits === undefined ? undefined : Number(digits) * 1_000;
}

function wholeNumber(value: string | undefined): number | undefined {
  const text = value?.trim() ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

// `Date.parse` alone accepts almost any text as a date.
function httpDateMs(value: string | undefined): number | undefined {
  if (value === undefined || !/^[A-Z][a-z]{2,8},? /.test(value)) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : at;
}

/** The functions that are called when something happens. */
export class Listeners<Arguments extends readonly unknown[] = []> {
  readonly #listeners = new Set<(...args: Arguments) => void>();

  /** Returns a function that unsubscribes. */
  add(listener: (...args: Arguments) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  notify(...args: Arguments): void {
    for (const listener of this.#listeners) listener(...args);
  }
}
