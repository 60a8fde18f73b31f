/** Finds out whether somebody else uses an account's calls, from what its responses report to be left. */

import type { Problem } from '../domain/problems.ts';
import { isOfConsole, type RateFacts, type RateLimit } from './scheduler/rate-limit.ts';
import type { Path } from './subjects.ts';

/** Responses are compared with earlier ones at least this far apart. */
const COMPARED_MS = 30_000;

/** A call that started this long before a response may have been counted only after it. */
const IN_FLIGHT_MS = 10_000;

/** A few unexplained calls are a person's visit. */
const TOLERATED = 2;

/** Somebody who uses the account for a while is reported, a person who looks at the panel isn't. */
const REPORTED_AFTER_MS = 600_000;

/** After this long without unexplained calls, nobody uses the account any more. */
const OVER_AFTER_MS = 180_000;

/** How many own calls had started by an instant. */
interface Made {
  readonly at: number;
  readonly calls: number;
}

/** Earlier counts: the account's calls as the panel counted them, and own ones that may have been counted since. */
interface Reference {
  readonly at: number;
  readonly used: number;
  readonly made: number;
}

/**
 * The calls of others since an earlier response, at least; negative if own calls explain more than all. Panels count in windows of a
 * minute or more, whose beginning isn't known: a count that fell began anew after the earlier response.
 */
export function unexplained(since: Pick<Reference, 'used' | 'made'>, used: number, made: number): number {
  const before = used >= since.used ? since.used : 0;
  return used - before - (made - since.made);
}

const WATCHES = new WeakMap<RateLimit, ForeignCalls>();

/** Watches the calls of one account; instants are monotonic milliseconds. */
export class ForeignCalls {
  /** All that share a limit share their own calls; `share` is this shard's part of the limit. */
  static of(limit: RateLimit, share = 1): ForeignCalls {
    const watch = WATCHES.get(limit) ?? new ForeignCalls(() => limit.limitPerMinute * (1 / share - 1));
    WATCHES.set(limit, watch);
    return watch;
  }

  readonly #othersPerMinute: () => number;
  /** The account's limit, as last reported. */
  limit = 0;
  #made = 0;
  /** Two earlier numbers of own calls, at least `IN_FLIGHT_MS` apart. */
  #older: Made | undefined;
  #newer: Made | undefined;
  #reference: Reference | undefined;
  #since: number | undefined;
  #seenAt = Number.NEGATIVE_INFINITY;
  #perMinute = 0;

  /** `othersPerMinute`: calls that other shards of this exporter may make. */
  constructor(othersPerMinute: () => number = () => 0) {
    this.#othersPerMinute = othersPerMinute;
  }

  /** How many calls a minute somebody else has made for ten minutes, at least; undefined if nobody. */
  get perMinute(): number | undefined {
    const isLasting = this.#since !== undefined && this.#seenAt - this.#since >= REPORTED_AFTER_MS;
    return isLasting ? this.#perMinute : undefined;
  }

  /** The same as a problem of a panel that works. */
  get problem(): Problem | undefined {
    const { perMinute, limit } = this;
    if (perMinute === undefined) return undefined;
    const others = `at least ${perMinute} of the account's ${limit} calls per minute`;
    return { cause: 'account_shared', detail: `${others} aren't made by this exporter` };
  }

  /** An own call starts. */
  started(): void {
    this.#made += 1;
  }

  /** A response reported what is left; returns whether somebody else is reported since, or no longer. */
  saw(path: Path, { limitPerMinute: limit, remaining }: RateFacts, now: number): boolean {
    if (limit === undefined || remaining === undefined || isOfConsole(path, limit)) return false;
    this.limit = limit;
    if (this.#newer === undefined || now - this.#newer.at >= IN_FLIGHT_MS) {
      this.#older = this.#newer;
      this.#newer = { at: now, calls: this.#made };
    }
    const reference = this.#reference;
    if (this.#older === undefined || (reference !== undefined && now - reference.at < COMPARED_MS))
      return false;
    const used = limit - remaining;
    this.#reference = { at: now, used, made: this.#older.calls };
    return reference !== undefined && this.#judge(now, reference, used);
  }

  #judge(now: number, reference: Reference, used: number): boolean {
    const wasReported = this.perMinute !== undefined;
    const minutes = (now - reference.at) / 60_000;
    const calls = unexplained(reference, used, this.#made) - this.#othersPerMinute() * minutes;
    if (calls > TOLERATED) {
      this.#since ??= now;
      this.#seenAt = now;
      this.#perMinute = Math.round(calls / minutes);
    } else if (now - this.#seenAt > OVER_AFTER_MS) this.#since = undefined;
    return (this.perMinute !== undefined) !== wasReported;
  }
}
