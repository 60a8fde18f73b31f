/** Spreads calls that are due at the same time over several turns of the event loop. */
import { INTERNAL_ERRORS } from './internal-errors.ts';

/** A scheduled call. */
export interface DueCall {
  readonly run: () => void;
}

/** How long due calls run in one turn, in milliseconds. The last one may exceed it. */
export const LONGEST_TURN_MS = 5;

/**
 * A queue of due calls: thousands of timers may end together, such as those of a node's servers.
 */
export class DueCalls {
  readonly #nextTurn: ((run: () => void) => void) | undefined;
  /** In the order in which they were due. */
  readonly #waiting = new Set<DueCall>();
  /** How long calls have run in this turn, in milliseconds. */
  #spentMs = 0;
  #isTurnAwaited = false;

  /** `nextTurn` calls `run` once, in the next turn. Without it, all calls are made at once. */
  constructor(nextTurn?: (run: () => void) => void) {
    this.#nextTurn = nextTurn;
  }

  /** Makes the call at once, or in a later turn if others fill this one. */
  add(call: DueCall): void {
    if (this.#nextTurn === undefined) return INTERNAL_ERRORS.contain(call.run);
    if (this.#waiting.size > 0 || this.#spentMs >= LONGEST_TURN_MS) this.#waiting.add(call);
    else this.#make(call);
    this.#awaitTurn();
  }

  /** Removes a call that hasn't been made yet. */
  cancel(call: DueCall): void {
    this.#waiting.delete(call);
  }

  /** An exception in one call must not end the process or prevent other calls. */
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
