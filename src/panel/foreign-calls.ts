/** Detects other clients of an account from the remaining calls in its responses. */

import { NEVER } from '../domain/clock.ts';
import type { ProblemReading } from '../domain/reading.ts';
import { MINUTE_MS } from '../domain/units.ts';
import { LimitPeriod, type Reading } from './limit-period.ts';
import { isOfConsole, type RateFacts } from './scheduler/rate-limit.ts';
import type { Path } from './subjects.ts';

/**
 * The minimum time between compared responses. Closer ones are compared only if no other call was
 * in flight, because only then their counts are exact.
 */
const COMPARED_MS = 30_000;

/** A call that ended this long ago without a response can't be counted by the panel any more. */
const LOST_MS = 10_000;

/** Other clients are reported after ten minutes, so that a person who uses the panel isn't. */
const REPORTED_AFTER_MS = 600_000;

/** The account is no longer shared after this long without unexplained calls. */
const OVER_AFTER_MS = 180_000;

/** Fewer unexplained calls per minute are visits by people. */
const LEAST_PER_MINUTE = 0.8;

/** One of the exporter's calls: its number, and how many had ended when it started. */
interface OwnCall {
  readonly number: number;
  readonly endedBefore: number;
}

/**
 * The minimum number of calls by others between two responses, where the later call started after
 * the earlier response. It is negative if the exporter's calls may explain more. If the used calls
 * fall from 80 to 5, the panel has begun a new period, so all 5 are new.
 */
export function unexplained(
  earlier: Pick<Reading, 'used' | 'atLeast'>,
  later: Pick<Reading, 'used' | 'atMost'>,
): number {
  const before = later.used >= earlier.used ? earlier.used : 0;
  return later.used - before - (later.atMost - earlier.atLeast);
}

/** Watches the calls of one account. Instants are monotonic milliseconds. */
export class ForeignCalls {
  readonly #othersPerMinute: () => number;
  /** The account's limit from the latest response. */
  #limit = 0;
  readonly #period = new LimitPeriod();
  #started = 0;
  #ended = 0;
  /** The ends of calls without a response, which the panel may still count. */
  #lost: number[] = [];
  #reference: Reading | undefined;
  #since: number | undefined;
  #seenAt = NEVER;
  /**
   * Unexplained calls by the minute in which they were found, and the earliest time at which they
   * may have been made.
   */
  readonly #found = new Map<number, { readonly from: number; readonly calls: number }>();
  #judgedAt = NEVER;

  /** `othersPerMinute` returns how many calls other shards of this exporter may make. */
  constructor(othersPerMinute: () => number = () => 0) {
    this.#othersPerMinute = othersPerMinute;
  }

  /**
   * The minimum number of calls per minute by others during ten minutes; undefined if there were
   * none.
   */
  get perMinute(): number | undefined {
    const isLasting = this.#since !== undefined && this.#seenAt - this.#since >= REPORTED_AFTER_MS;
    const found = [...this.#found.values()];
    // If the exporter makes few calls, those found in one response were made over several minutes.
    const from = found.reduce((earliest, one) => Math.min(earliest, one.from), this.#judgedAt);
    const minutes = Math.max(this.#judgedAt - from, REPORTED_AFTER_MS) / MINUTE_MS;
    const calls = found.reduce((sum, one) => sum + one.calls, 0);
    const perMinute = calls / minutes - this.#othersPerMinute();
    return isLasting && perMinute >= LEAST_PER_MINUTE ? Math.max(1, Math.round(perMinute)) : undefined;
  }

  /** The problem of a panel whose account is shared. */
  get problem(): ProblemReading | undefined {
    const { perMinute } = this;
    const since = this.#since;
    const limit = this.allowedPerMinute(this.#limit);
    if (perMinute === undefined || since === undefined) return undefined;
    const others = `at least ${perMinute} of the account's ${limit} calls per minute`;
    return { cause: 'account_shared', detail: `${others} come from other clients`, since };
  }

  /** The calls per minute for a reported limit: 240 in a period of two minutes are 120. */
  allowedPerMinute(limit: number): number {
    return Math.floor(limit / this.#period.minutes);
  }

  /** Notes the start of a call. */
  started(now: number): OwnCall {
    this.#forgetLost(now);
    this.#started += 1;
    return { number: this.#started, endedBefore: this.#ended };
  }

  /** Notes the end of a call. If it had no response, the panel may count it later. */
  ended(isAnswered: boolean, now: number): void {
    if (isAnswered) this.#ended += 1;
    else this.#lost.push(now);
  }

  /**
   * Compares the remaining calls in a response. Returns whether the account has become shared, or
   * is no longer shared.
   */
  saw(call: OwnCall, path: Path, { limitPerMinute: limit, remaining }: RateFacts, now: number): boolean {
    if (limit === undefined || remaining === undefined || isOfConsole(path, limit)) return false;
    this.#limit = limit;
    const reading = {
      at: now,
      used: limit - remaining,
      atLeast: call.endedBefore + 1,
      atMost: this.#started,
    };
    const reference = this.#reference;
    if (reference !== undefined) {
      const isExact = reading.atLeast === reading.atMost;
      // If this call started before the reference's response, the panel may have counted it before.
      if (call.number <= reference.atMost || !(isExact || now - reference.at >= COMPARED_MS)) return false;
    }
    this.#reference = reading;
    if (reference === undefined) return false;
    this.#period.saw(reference, reading);
    return this.#judge(now, reference, reading);
  }

  #forgetLost(now: number): void {
    const lost = this.#lost.filter((endedAt) => now - endedAt < LOST_MS);
    this.#ended += this.#lost.length - lost.length;
    this.#lost = lost;
  }

  #judge(now: number, reference: Reading, reading: Reading): boolean {
    const wasReported = this.perMinute !== undefined;
    const calls = unexplained(reference, reading);
    this.#judgedAt = now;
    if (calls > 0) {
      this.#since ??= now;
      this.#seenAt = now;
      const minute = Math.floor(now / MINUTE_MS);
      const { from, calls: before } = this.#found.get(minute) ?? { from: reference.at, calls: 0 };
      this.#found.set(minute, { from, calls: before + calls });
    } else if (now - this.#seenAt > OVER_AFTER_MS) this.#since = undefined;
    for (const minute of this.#found.keys())
      if ((minute + 1) * MINUTE_MS <= now - REPORTED_AFTER_MS) this.#found.delete(minute);
    return (this.perMinute !== undefined) !== wasReported;
  }
}
