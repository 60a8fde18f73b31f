/** Spreads the calls that are due at once over several turns of the event loop. */
import { INTERNAL_ERRORS } from './internal-errors.ts';

/** A call that was scheduled. */
export interface DueCall {
  readonly run: () => void;
}

/** How long due calls run in one turn, in milliseconds; the last one may take longer. */
export const LONGEST_TURN_MS = 5;

/** Thousands of timers may end at once, such as those of a node's servers. */
export class DueCalls {
  readonly #nextTurn: ((run: () => void) => void) | undefined;
  /** In the order in which they were due. */
  readonly #waiting = new Set<DueCall>();
  /** How long calls have run in this turn. */
  #spentMs = 0;
  #isTurnAwaited = false;

  /** `nextTurn` calls `run` once, in the next turn; without it, all calls are made at once. */
  constructor(nextTurn?: (run: () => void) => void) {
    this.#nextTurn = nextTurn;
  }

  /** Makes the call at once, or in one of the next turns if others take all of this one. */
  add(call: DueCall): void {
    if (this.#nextTurn === undefined) return INTERNAL_ERRORS.contain(call.run);
    if (this.#waiting.size > 0 || this.#spentMs >= LONGEST_TURN_MS) this.#waiting.add(call);
    else this.#make(call);
    this.#awaitTurn();
  }

  /** The call isn't made, if it hasn't been yet. */
  cancel(call: DueCall): void {
    this.#waiting.delete(call);
  }

  /** An exception in one call must not end the process, or keep others from being made. */
  #make({ run }: DueCall): void {
    const startedAt = performance.now();
    INTERNAL_ERRORS.contain(run);
    this.#spentMs += performance.now() - startedAt;
  }

  #awaitTurn(): void {
    if (this.#isTurnAwaited) return;
    this.#isTurnAwaited = true;
    this.#nextTurn?.(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isTurnAwaited = false;
    this.#spentMs = 0;
    for (const call of this.#waiting) {
      if (this.#spentMs >= LONGEST_TURN_MS) break;
      this.#waiting.delete(call);
      this.#make(call);
    }
    if (this.#waiting.size > 0) this.#awaitTurn();
  };
}
