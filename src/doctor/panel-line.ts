import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import { type ListingQuery, PanelApi, type PanelApiOptions } from '../panel/api.ts';
import { Breaker, type Outcome, outcomeOf, type Trouble } from '../panel/breaker.ts';
import { ApiBudget } from '../panel/budget.ts';
import type { Credentials, Resources } from '../panel/decode.ts';
import type { ListingPage } from '../panel/decode-listing.ts';
import { Cut } from './attempt.ts';

export interface PanelLineOptions {
  readonly panel: string;
  readonly api: Omit<PanelApiOptions, 'telemetry' | 'clock'>;
  readonly clock: Clock;
  readonly pinnedPerMinute?: number;
  /** How many servers there are: where they are few, it takes fewer to tell that the panel is lost. */
  readonly fleetSize: () => number;
  /** Told when the panel holds all calls back. */
  readonly onThrottled: (words: string) => void;
}

/** The doctor's calls of one panel's API, within its budget; each rejects as `PanelApi` does. */
export class PanelLine {
  readonly #options: PanelLineOptions;
  readonly #api: PanelApi;
  readonly #budget: ApiBudget;
  readonly #breaker: Breaker;
  #calls = 0;
  #throttled: string | undefined;
  #lastError: unknown;

  constructor(options: PanelLineOptions) {
    const { api, clock } = options;
    this.#options = options;
    this.#api = new PanelApi({ ...api, clock, telemetry: this.telemetry });
    this.#budget = new ApiBudget({ ...options, log: this.#log() });
    this.#breaker = new Breaker(clock);
  }

  /** Counts the calls; what else there is to count is nobody's concern here. */
  get telemetry(): PanelTelemetry {
    return {
      message: () => undefined,
      badMessage: () => undefined,
      reconnect: () => undefined,
      request: () => {
        this.#calls += 1;
      },
    };
  }

  get calls(): number {
    return this.#calls;
  }

  /** The panel's limit in calls a minute, once it named it. */
  get knownLimit(): number | undefined {
    return this.#budget.knownLimit;
  }

  get perMinute(): number {
    return this.#budget.reading().limitPerMinute;
  }

  /** All calls wait because the panel said that its limit is exceeded. */
  get paused(): boolean {
    return this.#budget.reading().paused;
  }

  /** What the last 429 that held all calls back said. */
  get throttled(): string | undefined {
    return this.#throttled;
  }

  /** What ails the panel as a whole, once several servers met it, with the last call's error. */
  get lost(): { readonly trouble: Trouble; readonly error: unknown } | undefined {
    const { trouble } = this.#breaker;
    return trouble === undefined ? undefined : { trouble, error: this.#lastError };
  }

  /** The resources of a server that are asked for the panel's sake, before all else. */
  probe(server: string, signal: AbortSignal): Promise<Resources> {
    return this.#budget.run({ kind: 'probe', signal }, (scope) => this.#api.resources(server, scope));
  }

  listing(query: ListingQuery, signal: AbortSignal): Promise<ListingPage> {
    return this.#budget.run({ kind: 'listing', signal }, (scope) => this.#api.listing(query, scope));
  }

  resources(server: string, signal: AbortSignal): Promise<Resources> {
    return this.#judged(
      server,
      this.#budget.run({ kind: 'poll', signal }, (scope) => this.#api.resources(server, scope)),
    );
  }

  /** `span` is told when the call goes out and when it is answered, in Unix milliseconds. */
  credentials(
    server: string,
    signal: AbortSignal,
    span: (from: number, to: number) => void,
  ): Promise<Credentials> {
    const unixNow = () => this.#options.clock.toUnixMs(this.#options.clock.now());
    return this.#judged(
      server,
      this.#budget.run({ kind: 'connect', signal }, async (scope) => {
        const from = unixNow();
        const answer = await this.#api.credentials(server, scope);
        span(from, unixNow());
        return answer;
      }),
      // Some panels say 401 to an account that may not open consoles: whether it is the key, the resources tell.
      (outcome) => (outcome === 'refused' ? 'unclear' : outcome),
    );
  }

  async close(): Promise<void> {
    this.#budget.stop();
    await this.#api.close();
  }

  async #judged<T>(
    subject: string,
    call: Promise<T>,
    judge: (outcome: Outcome) => Outcome = (outcome) => outcome,
  ): Promise<T> {
    const end = { subject, isProbe: false, fleetSize: this.#options.fleetSize() };
    try {
      const value = await call;
      this.#breaker.ended({ ...end, outcome: 'success' });
      return value;
    } catch (error) {
      if (!(error instanceof Cut)) {
        this.#lastError = error;
        this.#breaker.ended({ ...end, outcome: judge(outcomeOf(error)) });
      }
      throw error;
    }
  }

  #log(): Logger {
    const ignored = () => undefined;
    const warn = (_fields: object, message: string) => {
      this.#throttled = message;
      this.#options.onThrottled(message);
    };
    return { debug: ignored, info: ignored, warn, error: ignored };
  }
}
