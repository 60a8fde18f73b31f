// A clock that runs faster than real time.

import type { Cancel, Clock } from '../domain/time.ts';

/**
 * Accelerated real time: what the program takes for a second passes in a fraction of one. When the
 * exporter and the simulated panel share this clock, minutes of their interaction fit into a test
 * without changing any deadline.
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
