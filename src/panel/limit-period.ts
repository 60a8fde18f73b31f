/**
 * Finds out in how many minutes a panel allows the calls that it reports as its limit, which no
 * header contains.
 */

/**
 * The account's calls, as the response to an own call reports them. At that instant, the panel had
 * counted at least the own calls that had ended before that call started, and itself, and at most
 * those that had started when the response came.
 */
export interface Reading {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly used: number;
  readonly atLeast: number;
  readonly atMost: number;
}

const MINUTE_MS = 60_000;

/** By so much, a time between two responses may be longer than the time between their calls. */
const SLACK_MS = 5_000;

/** Others may have made as many calls as a count that began anew lacks, if these are few. */
const MIN_USED = 10;

/**
 * Panels count in windows of whole minutes (Pelican's `APP_API_CLIENT_RATELIMIT_PERIOD`, 1 by
 * default). A window is as long as a count that only grows by own calls, and at most as long as the
 * time between two counts that began anew.
 */
export class LimitPeriod {
  #minutes = 1;
  /** Since when the count has only grown by own calls. */
  #grownSince: number | undefined;
  /** The last response before the count last began anew. */
  #anewAfter: number | undefined;

  /** How many minutes the limit is for, at least. */
  get minutes(): number {
    return this.#minutes;
  }

  /**
   * Compares a response with an earlier one, of a call that ended before the later one's started.
   */
  saw(earlier: Reading, later: Reading): void {
    const more = later.used - earlier.used;
    if (more < 0) this.#beganAnew(earlier, later);
    const isOwn = more >= later.atLeast - earlier.atMost && more <= later.atMost - earlier.atLeast;
    if (!isOwn || earlier.used < MIN_USED) this.#grownSince = undefined;
    else {
      this.#grownSince ??= earlier.at;
      const grown = Math.ceil((later.at - this.#grownSince - SLACK_MS) / MINUTE_MS);
      this.#minutes = Math.max(this.#minutes, grown);
    }
  }

  #beganAnew(earlier: Reading, later: Reading): void {
    if (this.#anewAfter !== undefined) {
      const most = Math.floor((later.at - this.#anewAfter + SLACK_MS) / MINUTE_MS);
      this.#minutes = Math.min(this.#minutes, Math.max(1, most));
    }
    this.#anewAfter = earlier.at;
  }
}
