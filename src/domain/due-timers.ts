/** Spreads timers that end at the same time over several turns of the event loop. */
import { INTERNAL_ERRORS } from './internal-errors.ts';

/** A timer whose time has come. */
export interface DueTimer {
  readonly run: () => void;
}

/** How long due timers run in one turn, in milliseconds. The last one may exceed it. */
export const LONGEST_TURN_MS = 5;

/**
 * A queue of due timers: thousands may end together, such as those of a node's servers.
 */
export class DueTimers {
  readonly #nextTurn: ((run: () => void) => void) | undefined;
  /** In the order in which they were due. */
  readonly #waiting = new Set<DueTimer>();
  /** How long callbacks have run in this turn, in milliseconds. */
  #spentMs = 0;
  #isTurnAwaited = false;

  /** `nextTurn` calls `run` once, in the next turn. Without it, all timers run at once. */
  constructor(nextTurn?: (run: () => void) => void) {
    this.#nextTurn = nextTurn;
  }

  /** Runs the timer at once, or in a later turn if others fill this one. */
  add(timer: DueTimer): void {
    if (this.#nextTurn === undefined) return INTERNAL_ERRORS.contain(timer.run);
    if (this.#waiting.size > 0 || this.#spentMs >= LONGEST_TURN_MS) this.#waiting.add(timer);
    else this.#run(timer);
    this.#awaitTurn();
  }

  /** Removes a timer that hasn't run yet. */
  cancel(timer: DueTimer): void {
    this.#waiting.delete(timer);
  }

  /** An exception in one callback must not end the process or prevent the others. */
  #run({ run }: DueTimer): void {
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
    for (const timer of this.#waiting) {
      if (this.#spentMs >= LONGEST_TURN_MS) break;
      this.#waiting.delete(timer);
      this.#run(timer);
    }
    if (this.#waiting.size > 0) this.#awaitTurn();
  };
}
