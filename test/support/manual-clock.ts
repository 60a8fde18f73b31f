import type { Cancel, Clock } from '../../src/domain/clock.ts';

interface Scheduled {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #now = 1_000_000;
  #order = 0;
  #timers = new Set<Scheduled>();
  /** The Unix time at monotonic zero; a test may step it. */
  unixOffsetMs = 1_700_000_000_000;

  now(): number {
    return this.#now;
  }

  toUnixMs(monotonicMs: number): number {
    return this.unixOffsetMs + monotonicMs;
  }

  schedule(delayMs: number, run: () => void): Cancel {
    const timer = { at: this.#now + Math.max(0, delayMs), order: this.#order++, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** The number of waiting timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Advances time, runs due timers in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const due = [...this.#timers]
        .filter((timer) => timer.at <= end)
        .sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
      await settle();
    }
    this.#now = end;
  }
}

/** Lets all promises settle that don't depend on I/O. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
