import type { Clock } from '../domain/clock.ts';
import { Listeners } from '../domain/listeners.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import { PanelError } from './errors.ts';
import { DEFAULT_WAIT_MS, type RateFacts, RateLimit } from './rate-limit.ts';

export interface LimitWatchOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The panel's name. */
  readonly panel: string;
  /** The rate, if the operator set one; otherwise it is learned. */
  readonly pinnedPerMinute?: number;
  readonly limit: RateLimit;
}

/** Learns a panel's rate limit from what its calls return, obeys its demands to wait, and logs both. */
export class LimitWatch {
  readonly #options: LimitWatchOptions;
  readonly #pauses = new Listeners<[durationMs: number]>();
  /** The last call was throttled as well. */
  #isThrottling = false;

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
    this.#isThrottling = false;
    this.#learn(endpoint, facts);
  }

  failed(endpoint: ApiEndpoint, error: unknown): void {
    if (error instanceof PanelError && error.fromPanel) this.#learn(endpoint, error);
    if (isThrottled(endpoint, error)) this.#throttled(error);
  }

  #learn(endpoint: ApiEndpoint, facts: RateFacts): void {
    const { limit, log, panel, pinnedPerMinute } = this.#options;
    const wasKnown = limit.knownPerMinute !== undefined;
    if (!limit.answered(endpoint, facts) || pinnedPerMinute !== undefined) return;
    const { allowedPerMinute: perMinute, knownPerMinute: known } = limit;
    log[wasKnown ? 'info' : 'debug'](
      { panel, limit: known, perMinute },
      `panel ${panel}: rate limit ${known ?? 0}/min; using at most ${Number(perMinute.toFixed(1))}/min`,
    );
  }

  #throttled(error: PanelError): void {
    const { clock, limit, log, panel } = this.#options;
    const waitMs = error.problem.retryAfterMs ?? DEFAULT_WAIT_MS;
    const wasPaused = limit.throttledUntil > clock.now();
    const wasThrottling = this.#isThrottling;
    this.#isThrottling = true;
    limit.throttled(waitMs);
    if (wasPaused) return;
    const seconds = Math.ceil(waitMs / 1_000);
    log[wasThrottling ? 'debug' : 'warn'](
      { panel, cause: 'rate_limited', seconds },
      `panel ${panel}: rate limit exceeded (429): no calls for ${seconds} s. The limit applies to the account: give the exporter its own account, or lower requests_per_minute.`,
    );
    this.#pauses.notify(waitMs);
  }
}

/** Is it a 429 that concerns all calls? Consoles have their own, lower limit for each server. */
export function isThrottled(endpoint: ApiEndpoint, error: unknown): error is PanelError {
  return (
    error instanceof PanelError &&
    error.status === 429 &&
    RateLimit.concernsAccount(endpoint, error.limitPerMinute)
  );
}
