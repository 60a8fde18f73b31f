import type { Clock } from '../domain/clock.ts';

const MINUTE_MS = 60_000;

/**
 * Spaces calls evenly on the monotonic clock. A turn that nobody took is lost, so that a quiet hour is followed
 * by no burst.
 */
export class Pacer {
  readonly #clock: Clock;
  #perMinute: number;
  #lastTurnAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  get perMinute(): number {
    return this.#perMinute;
  }

  /** Changes the rate; the turn that is waited for moves with it. */
  setRate(perMinute: number): void {
    this.#perMinute = perMinute;
  }

  /** Milliseconds until the next turn; 0 when it is there. */
  waitMs(): number {
    return Math.max(0, this.#lastTurnAt + MINUTE_MS / this.#perMinute - this.#clock.now());
  }

  /** Takes the turn. One taken a moment late, as timers are, doesn't put off those after it. */
  take(): void {
    const now = this.#clock.now();
    const due = this.#lastTurnAt + MINUTE_MS / this.#perMinute;
    this.#lastTurnAt = now - due < MINUTE_MS / this.#perMinute / 2 ? due : now;
  }
}
