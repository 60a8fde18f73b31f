import type { Cancel, Clock } from '../domain/clock.ts';

interface NamedTimer<Name> {
  readonly name: Name;
  /** In monotonic milliseconds. */
  readonly at: number;
}

/**
 * Named timers of one owner: setting one again replaces it, and all can be canceled at once. Only the next one is scheduled on
 * the clock: scheduling them all would be a quarter of what a server costs.
 */
export class Timers<Name extends string> {
  readonly #clock: Clock;
  readonly #onTimer: (name: Name) => void;
  /** In the order in which they are due. */
  #due: readonly NamedTimer<Name>[] = [];
  #cancel: Cancel | undefined;
  /** The instant for which the clock is set; undefined if it isn't. */
  #armedFor: number | undefined;

  constructor(clock: Clock, onTimer: (name: Name) => void) {
    this.#clock = clock;
    this.#onTimer = onTimer;
  }

  set(name: Name, delayMs: number): void {
    const timer = { name, at: this.#clock.now() + delayMs };
    const others = this.#due.filter((other) => other.name !== name);
    this.#due = [...others, timer].sort((one, other) => one.at - other.at);
    this.#arm();
  }

  cancelAll(): void {
    this.#due = [];
    this.#arm();
  }

  #arm(): void {
    const at = this.#due[0]?.at;
    if (at === this.#armedFor) return;
    this.#cancel?.();
    this.#armedFor = at;
    this.#cancel =
      at === undefined
        ? undefined
        : this.#clock.schedule(Math.max(0, at - this.#clock.now()), () => this.#fire());
  }

  // A timer may set others or cancel them all, so the list is read again for each.
  #fire(): void {
    this.#armedFor = undefined;
    for (;;) {
      const [next, ...rest] = this.#due;
      if (next === undefined || next.at > this.#clock.now()) break;
      this.#due = rest;
      this.#onTimer(next.name);
    }
    this.#arm();
  }
}
