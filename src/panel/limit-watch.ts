import type { Clock } from '../domain/clock.ts';
import { Listeners } from '../domain/listeners.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import { PanelError } from './errors.ts';
import { concernsAccount, DEFAULT_WAIT_MS, type RateFacts, type RateLimit } from './rate-limit.ts';

export interface LimitWatchOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The panel's name. */
  readonly panel: string;
  readonly limit: RateLimit;
}

/** Learns a panel's rate limit from what its calls return, obeys its demands to wait, and logs both. */
export class LimitWatch {
  readonly #options: LimitWatchOptions;
  readonly #pauses = new Listeners<[durationMs: number]>();
  /** The last pause, if the calls after it were throttled as well; otherwise 0. */
  #pauseMs = 0;

  constructor(options: LimitWatchOptions) {
    this.#options = options;
  }

  /** The panel's demand to wait, as a problem of a panel that works. */
  get problem(): Problem | undefined {
    const { clock, limit } = this.#options;
    const until = limit.throttledUntil;
    if (until <= clock.now()) return undefined;
    const time = new Date(clock.toUnixMs(until)).toISOString().slice(11, 19);
    return { cause: 'rate_limited', detail: `rate limit exceeded (429): no calls until ${time} UTC` };
  }

  /** Calls the listener with the milliseconds for which all calls are paused; returns a function that unsubscribes. */
  onPause(listener: (durationMs: number) => void): () => void {
    return this.#pauses.add(listener);
  }

  succeeded(endpoint: ApiEndpoint, facts: RateFacts): void {
    this.#pauseMs = 0;
    this.#learn(endpoint, facts);
  }

  failed(endpoint: ApiEndpoint, error: unknown): void {
    if (error instanceof PanelError && error.fromPanel) this.#learn(endpoint, error);
    if (isThrottled(endpoint, error)) this.#throttled(error);
  }

  #learn(endpoint: ApiEndpoint, facts: RateFacts): void {
    const { limit, log, panel } = this.#options;
    const wasKnown = limit.knownPerMinute !== undefined;
    if (!limit.answered(endpoint, facts) || limit.isPinned) return;
    const { allowedPerMinute: perMinute, knownPerMinute: known } = limit;
    log[wasKnown ? 'info' : 'debug'](
      { panel, limit: known, perMinute },
      `panel ${panel}: rate limit ${known ?? 0}/min; using at most ${Number(perMinute.toFixed(1))}/min`,
    );
  }

  #throttled({ problem }: PanelError): void {
    const { clock, limit, log, panel } = this.#options;
    const demandedMs = problem.retryAfterMs ?? DEFAULT_WAIT_MS;
    // Calls that were in flight together are throttled together.
    if (limit.throttledUntil > clock.now()) {
      limit.throttled(demandedMs);
      return;
    }
    const wasThrottling = this.#pauseMs > 0;
    // A panel that demands too short a pause demands it again and again.
    this.#pauseMs = Math.max(demandedMs, Math.min(2 * this.#pauseMs, DEFAULT_WAIT_MS));
    limit.throttled(this.#pauseMs);
    const seconds = Math.ceil(this.#pauseMs / 1_000);
    log[wasThrottling ? 'debug' : 'warn'](
      { panel, cause: 'rate_limited', seconds },
      `panel ${panel}: rate limit exceeded (429): no calls for ${seconds} s. The limit applies to the account: give the exporter its own account, or lower requests_per_minute.`,
    );
    this.#pauses.notify(this.#pauseMs);
  }
}

/** Is it a 429 that concerns all calls? Consoles have their own, lower limit for each server. */
export function isThrottled(endpoint: ApiEndpoint, error: unknown): error is PanelError {
  return (
    error instanceof PanelError && error.status === 429 && concernsAccount(endpoint, error.limitPerMinute)
  );
}
