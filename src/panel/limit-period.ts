/** Infers the period of a panel's limit in minutes, which no header contains. */
import { MINUTE_MS } from '../domain/units.ts';

/**
 * The used calls in the response to one of the exporter's calls. The panel had counted at least
 * `atLeast` of the exporter's calls (this one and those that ended before it started) and at most
 * `atMost` (those that had started when the response came).
 */
export interface Reading {
  /** In monotonic milliseconds. */
  readonly at: number;
  readonly used: number;
  readonly atLeast: number;
  readonly atMost: number;
}

/** The maximum difference between the time between two responses and that between their calls. */
const SLACK_MS = 5_000;

/** With fewer used calls, calls by others could hide that the panel's count restarted. */
const MIN_USED = 10;

/**
 * Panels count in windows of whole minutes (Pelican's `APP_API_CLIENT_RATELIMIT_PERIOD`, 1 by
 * default). If the count grows only by the exporter's calls for 90 s, the window is at least two
 * minutes. If it restarts twice within 90 s, the window is one minute.
 */
export class LimitPeriod {
  #minutes = 1;
  /** Since when the count has only grown by the exporter's calls. */
  #grownSince: number | undefined;
  /** The last response before the count last restarted. */
  #anewAfter: number | undefined;

  /** The shortest period in minutes that agrees with the responses. */
  get minutes(): number {
    return this.#minutes;
  }

  /** Compares two responses. The earlier call ended before the later one started. */
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
