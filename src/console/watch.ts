import type { Clock } from '../domain/clock.ts';

/** Waits for conditions, which are looked at whenever something happened. */
export class Watch {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #looks = new Set<() => void>();

  /** Every wait rejects with the signal's reason when that aborts. */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Something happened. */
  poke(): void {
    for (const look of this.#looks) look();
  }

  /** Resolves with true once the condition holds, or with false after `deadlineMs`. */
  until(condition: () => boolean, deadlineMs?: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        cancel();
        this.#looks.delete(look);
        this.#signal.removeEventListener('abort', onAbort);
        settle();
      };
      const look = () => {
        if (condition()) end(() => resolve(true));
      };
      const onAbort = () => end(() => reject(this.#signal.reason as Error));
      const cancel =
        deadlineMs === undefined
          ? () => undefined
          : this.#clock.schedule(deadlineMs, () => end(() => resolve(condition())));
      this.#looks.add(look);
      this.#signal.addEventListener('abort', onAbort, { once: true });
      if (this.#signal.aborted) onAbort();
      else look();
    });
  }
}
