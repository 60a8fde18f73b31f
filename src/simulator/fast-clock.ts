import type { Cancel, Clock } from '../domain/clock.ts';

/**
 * Real time, run faster: what the program takes for a second passes in a fraction of one. Given to the exporter and to the
 * simulated panel alike, it makes minutes of their dealings fit a test without any of their deadlines being changed.
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
