import type { Cancel, Clock } from '../domain/clock.ts';

/** Limits change seldom; one call an hour notices. */
const RELEARN_MS = 60 * 60_000;

/** How soon a failed attempt is repeated, with the next server. */
const RETRY_MS = 60_000;

export interface LimitLearnerOptions {
  readonly clock: Clock;
  /** Ids to ask about, in turn. */
  readonly servers: readonly string[];
  /** Makes one call to the resources endpoint, whose answer carries the panel's limit. */
  readonly ask: (server: string, signal: AbortSignal) => Promise<void>;
}

/** Asks the resources endpoint at the start, and whenever nothing else asked it for an hour. */
export class LimitLearner {
  readonly #options: LimitLearnerOptions;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #next = 0;
  #cancel: Cancel | undefined;
  #inFlight: AbortController | undefined;

  constructor(options: LimitLearnerOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#ask();
  }

  stop(): void {
    this.#cancel?.();
    this.#inFlight?.abort(new Error('the exporter stops'));
  }

  /** The resources endpoint answered somebody. */
  answered(): void {
    this.#answeredAt = this.#options.clock.now();
  }

  async #ask(): Promise<void> {
    const { servers, ask } = this.#options;
    const server = servers[this.#next % servers.length];
    if (server === undefined) return;
    this.#next += 1;
    const controller = new AbortController();
    this.#inFlight = controller;
    const learnt = await ask(server, controller.signal).then(
      () => true,
      () => false,
    );
    if (controller.signal.aborted) return;
    if (learnt) this.answered();
    this.#wait(learnt ? RELEARN_MS : RETRY_MS);
  }

  #wait(delayMs: number): void {
    const { clock } = this.#options;
    this.#cancel = clock.schedule(delayMs, () => {
      const since = clock.now() - this.#answeredAt;
      if (since < RELEARN_MS) this.#wait(RELEARN_MS - since);
      else void this.#ask();
    });
  }
}
