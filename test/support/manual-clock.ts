// A clock that only the test moves.
import type { Cancel, Clock } from '../../src/domain/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  /** Undefined if it is canceled. */
  run: (() => void) | undefined;
}

/**
 * The resolution. A power of two makes differences of times exact, because a wait of a rounding
 * error would never end.
 */
const STEP_MS = 2 ** -10;

const isBefore = (a: Timer, b: Timer) => a.at < b.at || (a.at === b.at && a.order < b.order);

/**
 * A clock that stands still until a test advances it. It is fast enough for fleets of thousands of
 * servers.
 */
export class ManualClock implements Clock {
  readonly #heap: Timer[] = [];
  #now: number;
  #order = 0;
  /** The Unix time at the monotonic time 0. A test may change it. */
  unixOffsetMs = 1_700_000_000_000;

  constructor(now = 1_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  toUnixMs(monotonicMs: number): number {
    return this.unixOffsetMs + monotonicMs;
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

  /** The number of waiting timers. */
  get pending(): number {
    return this.#heap.filter(({ run }) => run !== undefined).length;
  }

  /** Advances the time, and runs due timers in order. Promises settle before each new time. */
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

/** Lets promises settle that don't depend on I/O, even if they yield to the event loop once. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
