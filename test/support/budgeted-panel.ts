import { type Clock, sleep } from '../../src/domain/clock.ts';
import type { BudgetReading } from '../../src/domain/reading.ts';
import type { PanelAnswer } from '../../src/panel/api.ts';
import { ApiBudget } from '../../src/panel/budget.ts';
import type { Credentials } from '../../src/panel/dialect.ts';
import { PanelError } from '../../src/panel/errors.ts';
import type { CallKind } from '../../src/panel/fair-share.ts';
import { countCall, type RateWindow } from '../../src/simulator/gate.ts';
import { FakeGateway, RESOURCES } from './fleet-bench.ts';
import { collectingLogger } from './logger.ts';

/** One call, recorded when it reached the panel. */
export interface TimedCall {
  readonly kind: CallKind;
  readonly server: string;
  readonly at: number;
}

/** How long the panel takes to answer a call, in milliseconds. */
const ANSWER_MS = 60;

const TOKEN_LIFE_MS = 600_000;

/** A panel with its own rate limit, behind the real budget; its calls don't use the network. */
export class BudgetedPanel extends FakeGateway {
  readonly made: TimedCall[] = [];
  /** Calls that the panel answered with 429. */
  refused = 0;
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #budget: ApiBudget;
  #window: RateWindow | undefined;

  constructor(clock: Clock, limit: number) {
    super();
    this.#clock = clock;
    this.#limit = limit;
    this.#budget = new ApiBudget({ clock, requestTimeoutMs: 25_000, log: collectingLogger(), panel: 'main' });
  }

  override credentials(
    server: string,
    kind: 'refresh' | 'connect',
    signal: AbortSignal,
  ): Promise<Credentials> {
    return this.#call(kind, server, signal, {
      value: { token: `token of ${server}`, socketUrl: `wss://node/${server}`, lifetimeMs: TOKEN_LIFE_MS },
    });
  }

  override resources(server: string, signal: AbortSignal) {
    return this.#call('poll', server, signal, { value: RESOURCES, limitPerMinute: this.#limit });
  }

  override learn(server: string, signal: AbortSignal) {
    return this.#call('learn', server, signal, { value: RESOURCES, limitPerMinute: this.#limit });
  }

  override budget(): BudgetReading {
    return this.#budget.reading();
  }

  override onRateChange(listener: (perMinute: number) => void): () => void {
    return this.#budget.onRateChange(listener);
  }

  override close(): Promise<void> {
    this.#budget.stop();
    return super.close();
  }

  #call<Value>(
    kind: CallKind,
    server: string,
    signal: AbortSignal,
    answer: PanelAnswer<Value>,
  ): Promise<Value> {
    return this.#budget.run({ kind, server, signal }, async (scope) => {
      const at = this.#clock.now();
      const { window, allowed } = countCall(this.#window, this.#limit, at);
      this.#window = window;
      this.made.push({ kind, server, at });
      await sleep(this.#clock, ANSWER_MS, scope);
      if (allowed) return answer;
      this.refused += 1;
      throw new PanelError(
        { cause: 'rate_limited', detail: 'too many calls' },
        { status: 429, fromPanel: true },
      );
    });
  }
}
