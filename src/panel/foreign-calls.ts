/**
 * Finds out whether somebody else uses an account's calls, from what its responses report to be
 * left.
 */

import type { ProblemReading } from '../domain/reading.ts';
import { LimitPeriod, type Reading } from './limit-period.ts';
import { isOfConsole, type RateFacts } from './scheduler/rate-limit.ts';
import type { Path } from './subjects.ts';

/**
 * Responses are compared at least this far apart, unless no other call was in flight, so that they
 * are exact.
 */
const COMPARED_MS = 30_000;

/** A call that ended this long ago without a response is no longer counted by the panel. */
const LOST_MS = 10_000;

/** Somebody who uses the account for a while is reported, a person who looks at the panel isn't. */
const REPORTED_AFTER_MS = 600_000;

/** After this long without unexplained calls, the account is no longer shared. */
const OVER_AFTER_MS = 180_000;

/** Fewer unexplained calls are visits of people. */
const LEAST_PER_MINUTE = 0.8;

const MINUTE_MS = 60_000;

/** An own call: which one it is, and how many had ended when it started. */
interface OwnCall {
  readonly number: number;
  readonly endedBefore: number;
}

/**
 * The calls of others between two responses, of which the later one's call started after the
 * earlier one; at least, and negative if own calls explain more. From 80 used calls to 5, a new
 * period of the panel's count has begun, so all 5 are new.
 */
export function unexplained(
  earlier: Pick<Reading, 'used' | 'atLeast'>,
  later: Pick<Reading, 'used' | 'atMost'>,
): number {
  const before = later.used >= earlier.used ? earlier.used : 0;
  return later.used - before - (later.atMost - earlier.atLeast);
}

/** Watches the calls of one account; instants are monotonic milliseconds. */
export class ForeignCalls {
  readonly #othersPerMinute: () => number;
  /** The account's limit, as last reported. */
  #limit = 0;
  readonly #period = new LimitPeriod();
  #started = 0;
  #ended = 0;
  /** When calls ended without a response that the panel may still count. */
  #lost: number[] = [];
  #reference: Reading | undefined;
  #since: number | undefined;
  #seenAt = Number.NEGATIVE_INFINITY;
  /** Unexplained calls by the minute in which they were found, and since when they were made. */
  readonly #found = new Map<number, { readonly from: number; readonly calls: number }>();
  #judgedAt = Number.NEGATIVE_INFINITY;

  /** `othersPerMinute`: calls that other shards of this exporter may make. */
  constructor(othersPerMinute: () => number = () => 0) {
    this.#othersPerMinute = othersPerMinute;
  }

  /**
   * How many calls a minute somebody else has made for ten minutes, at least; undefined if nobody.
   */
  get perMinute(): number | undefined {
    const isLasting = this.#since !== undefined && this.#seenAt - this.#since >= REPORTED_AFTER_MS;
    const found = [...this.#found.values()];
    // With few own calls, what one response reveals was made over minutes.
    const from = found.reduce((earliest, one) => Math.min(earliest, one.from), this.#judgedAt);
    const minutes = Math.max(this.#judgedAt - from, REPORTED_AFTER_MS) / MINUTE_MS;
    const calls = found.reduce((sum, one) => sum + one.calls, 0);
    const perMinute = calls / minutes - this.#othersPerMinute();
    return isLasting && perMinute >= LEAST_PER_MINUTE ? Math.max(1, Math.round(perMinute)) : undefined;
  }

  /** The same as a problem of a panel that works. */
  get problem(): ProblemReading | undefined {
    const { perMinute } = this;
    const since = this.#since;
    const limit = this.allowedPerMinute(this.#limit);
    if (perMinute === undefined || since === undefined) return undefined;
    const others = `at least ${perMinute} of the account's ${limit} calls per minute`;
    return { cause: 'account_shared', detail: `${others} aren't made by this exporter`, since };
  }

  /**
   * The calls per minute of a limit that the panel reports, and that may be for several minutes.
   */
  allowedPerMinute(limit: number): number {
    return Math.floor(limit / this.#period.minutes);
  }

  /** An own call starts. */
  started(now: number): OwnCall {
    this.#forgetLost(now);
    this.#started += 1;
    return { number: this.#started, endedBefore: this.#ended };
  }

  /** An own call ended. Without a response, the panel may count it later. */
  ended(isAnswered: boolean, now: number): void {
    if (isAnswered) this.#ended += 1;
    else this.#lost.push(now);
  }

  /**
   * The response to an own call reported what is left; returns whether somebody else is reported
   * since, or no longer.
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
      // The panel may have counted a call that had started by then before the other one.
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
