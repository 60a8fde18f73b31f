// A cheap clock that moves only when it is set, and runs timers only on request.
import type { Cancel, Clock } from '../../src/domain/clock.ts';

export class StillClock implements Clock {
  /** The current time in monotonic milliseconds. */
  at = 1_000_000;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  now(): number {
    return this.at;
  }

  toUnixMs(monotonicMs: number): number {
    return monotonicMs;
  }

  schedule(delayMs: number, run: () => void): Cancel {
    const timer = { at: this.at + delayMs, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** When the first timer is due; infinite if there is none. */
  get nextAt(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#timers].map(({ at }) => at));
  }

  /** Moves to the first timer, and runs it. */
  fire(): void {
    const { nextAt } = this;
    const timer = [...this.#timers].find(({ at }) => at === nextAt);
    if (timer === undefined) throw new Error('no timer waits');
    this.#timers.delete(timer);
    this.at = Math.max(this.at, timer.at);
    timer.run();
  }
}
