import type { Cancel, Clock } from '../domain/clock.ts';

/** Named timers that belong to one owner: setting one anew replaces it, and all can be cancelled at once. */
export class Timers<Name extends string> {
  readonly #clock: Clock;
  readonly #onTimer: (name: Name) => void;
  readonly #running = new Map<Name, Cancel>();

  constructor(clock: Clock, onTimer: (name: Name) => void) {
    this.#clock = clock;
    this.#onTimer = onTimer;
  }

  set(name: Name, delayMs: number): void {
    this.#running.get(name)?.();
    const cancel = this.#clock.schedule(delayMs, () => {
      this.#running.delete(name);
      this.#onTimer(name);
    });
    this.#running.set(name, cancel);
  }

  cancelAll(): void {
    for (const cancel of this.#running.values()) cancel();
    this.#running.clear();
  }
}
