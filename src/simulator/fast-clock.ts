// A clock that runs faster than real time.

import type { Cancel, Clock } from '../domain/clock.ts';

/**
 * Accelerated real time, in which a second of the program takes a fraction of a second. If the
 * exporter and the simulated panel share this clock, a test can cover minutes of their interaction
 * without a change of any deadline.
 */
export class FastClock implements Clock {
  readonly #speed: number;
  readonly #unixOrigin = Date.now();
  readonly #origin = performance.now();

  constructor(speed: number) {
    this.#speed = speed;
  }

  now(): number {
    return (performance.now() - this.#origin) * this.#speed;
  }

  toUnixMs(monotonicMs: number): number {
    return this.#unixOrigin + monotonicMs;
  }

  schedule(delayMs: number, run: () => void): Cancel {
    const timer = setTimeout(run, Math.min(Math.max(0, delayMs) / this.#speed, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  }
}
