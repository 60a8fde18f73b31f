import type { Cancel, Clock } from '../../src/domain/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  /** Undefined once it is cancelled. */
  run: (() => void) | undefined;
}

/** A power of two, so that differences of times are exact: what a rounding error leaves of a wait would never pass. */
const STEP_MS = 2 ** -10;

const isBefore = (a: Timer, b: Timer) => a.at < b.at || (a.at === b.at && a.order < b.order);

/**
 * Time that a test moves, for fleets of thousands: a manual clock whose timers are in a heap. No time passes while the machine
 * is busy, so that what happens is the same in every run.
 */
export class QueuedClock implements Clock {
  readonly #heap: Timer[] = [];
  #now = 0;
  #order = 0;

  now(): number {
    return this.#now;
  }

  toUnixMs(monotonicMs: number): number {
    return 1_700_000_000_000 + monotonicMs;
  }

  schedule(delayMs: number, run: () => void): Cancel {
    const at = Math.ceil((this.#now + Math.max(0, delayMs)) / STEP_MS) * STEP_MS;
    const timer: Timer = { at, order: this.#order, run };
    this.#order += 1;
    this.#push(timer);
    return () => {
      timer.run = undefined;
    };
  }

  /** Moves time on, running what falls due in order, and lets promises settle between instants. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let next = this.#heap[0]; next !== undefined && next.at <= end; next = this.#heap[0]) {
      this.#pop();
      if (next.run === undefined) continue;
      this.#now = next.at;
      next.run();
      await settled();
    }
    this.#now = end;
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let index = heap.length;
    for (;;) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (index === 0 || parent === undefined || isBefore(parent, timer)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = heap[2 * index + 1];
      const right = heap[2 * index + 2];
      const isRight = left !== undefined && right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (child === undefined || isBefore(last, child)) break;
      heap[index] = child;
      index = 2 * index + (isRight ? 2 : 1);
    }
    heap[index] = last;
  }
}

/** Lets every promise that can settle without input or output do so. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
