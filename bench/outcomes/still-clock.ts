/** A clock that costs nothing: it moves only when it is set, and keeps the last timer for whoever wants to run it. */
import type { Cancel, Clock } from '../../src/domain/time.ts';

export class StillClock implements Clock {
  /** In monotonic milliseconds. */
  at = 1_000_000;
  #timer: { readonly at: number; readonly run: () => void } | undefined;

  now(): number {
    return this.at;
  }

  toUnixMs(monotonicMs: number): number {
    return monotonicMs;
  }

  schedule(delayMs: number, run: () => void): Cancel {
    const timer = { at: this.at + delayMs, run };
    this.#timer = timer;
    return () => {
      if (this.#timer === timer) this.#timer = undefined;
    };
  }

  /** Moves to the instant of the last timer, and runs it. */
  fire(): void {
    const timer = this.#timer;
    if (timer === undefined) throw new Error('no timer waits');
    this.#timer = undefined;
    this.at = Math.max(this.at, timer.at);
    timer.run();
  }
}
