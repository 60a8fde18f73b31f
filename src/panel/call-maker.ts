/** Makes one panel's calls, and reports their outcomes to the panel's health. */

import type { Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problems.ts';
import { bounded } from '../domain/waits.ts';
import type { CallEnded } from './health/health.ts';
import type { PanelApi } from './panel-api.ts';
import { PanelError, toProblem } from './panel-error.ts';
import type { PanelRate } from './panel-rate.ts';
import type { RequestArguments } from './requests.ts';
import type { Resources } from './responses.ts';
import { NO_DATA } from './responses.ts';
import { type Call, isCanary } from './scheduler/call.ts';
import type { Path } from './subjects.ts';

export interface CallMakerOptions {
  readonly clock: Clock;
  readonly api: Pick<PanelApi, 'get'>;
  readonly rate: Pick<PanelRate, 'learnFrom'>;
  /** Called when a call ended. */
  readonly ended: (end: CallEnded, call: Call) => void;
}

/** The timeout of a canary, in case the panel hangs. */
const CANARY_MS = 10_000;

export class CallMaker {
  readonly #options: CallMakerOptions;
  /** Incremented when the key or the connection changes. */
  #beginnings = 0;

  constructor(options: CallMakerOptions) {
    this.#options = options;
  }

  /** Ignores the outcomes of calls in flight after the key or the connection changed. */
  beginAgain(): void {
    this.#beginnings += 1;
  }

  /**
   * Resolves with the decoded response; rejects with a `PanelError`, or with the signal's reason.
   */
  async make<P extends Path>(call: Call & { readonly path: P }, what: RequestArguments, signal: AbortSignal) {
    const { clock, api, rate } = this.#options;
    const { path, server } = call;
    const startedAt = clock.now();
    const beginning = this.#beginnings;
    const ended = (problem: Problem | undefined, fromPanel: boolean) => {
      if (beginning === this.#beginnings)
        this.#options.ended({ path, server, startedAt, problem, fromPanel }, call);
    };
    const ask = (scope: AbortSignal) => api.get(path, what, scope);
    try {
      const asked = isCanary(call)
        ? bounded({ clock, signal }, CANARY_MS, () => tooLate(path), ask)
        : ask(signal);
      const { value } = await rate.learnFrom(call, asked, signal);
      ended(responseProblem(path, value), true);
      return value;
    } catch (error) {
      // The outcome of a canceled call is no evidence.
      if (signal.aborted && !(error instanceof PanelError)) throw error;
      ended(toProblem(error), error instanceof PanelError && error.fromPanel);
      throw error;
    }
  }
}

function tooLate(path: Path): PanelError {
  const detail = `no response to a ${path} call within ${CANARY_MS / 1_000} s`;
  return new PanelError({ cause: 'timeout', detail });
}

/** Only a response to `/resources` can show that the node has no data. */
function responseProblem(path: Path, value: unknown): Problem | undefined {
  if (path !== 'resources') return undefined;
  const { sample, suspended } = value as Resources;
  return sample === undefined && !suspended ? NO_DATA : undefined;
}
