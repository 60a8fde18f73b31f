// The clock: the program's only source of time.

import { DueTimers } from './due-timers.ts';

/** Cancels a scheduled call. Calling it again does nothing. */
export type Cancel = () => void;

/**
 * The time for the rest of the program. Deadlines, ages and intervals use only the monotonic clock,
 * so changes of the system clock have no effect on them.
 */
export interface Clock {
  /** Milliseconds on a monotonic clock with an arbitrary origin. */
  now(): number;
  /**
   * The Unix time of a monotonic instant, in milliseconds; for displayed timestamps, never for
   * deadlines.
   */
  toUnixMs(monotonicMs: number): number;
  /** Calls `run` once after `delayMs` milliseconds. */
  schedule(delayMs: number, run: () => void): Cancel;
}

/**
 * The maximum difference between the wall clock and its anchor before the clock counts as stepped.
 */
const STEP_MS = 1_000;

/** The longest delay that `setTimeout` accepts; a longer one would fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Delays of at least this length end together, every quarter of a second: thousands of sockets each
 * have a delay, and a Node timer for each costs more than the work that it starts.
 */
const SHARED_FROM_MS = 10_000;
const SHARED_STEP_MS = 250;

export class SystemClock implements Clock {
  #anchorMs = Date.now() - performance.now();
  /** For each shared instant, counted in steps, a function that adds a call. */
  readonly #shared = new Map<number, (run: () => void) => Cancel>();
  readonly #due: DueTimers;

  /** If `nextTurn` is given, calls that are due together are spread over several turns. */
  constructor(nextTurn?: (run: () => void) => void) {
    this.#due = new DueTimers(nextTurn);
  }

  now(): number {
    return performance.now();
  }

  // The offset between the clocks is anchored, so that a start time derived from an uptime doesn't
  // jitter while the clocks are slewed. A step of the wall clock moves the anchor.
  toUnixMs(monotonicMs: number): number {
    const offset = Date.now() - performance.now();
    if (Math.abs(offset - this.#anchorMs) > STEP_MS) this.#anchorMs = offset;
    return this.#anchorMs + monotonicMs;
  }

  schedule(delayMs: number, run: () => void): Cancel {
    const step = Math.ceil((this.now() + delayMs) / SHARED_STEP_MS);
    if (delayMs >= SHARED_FROM_MS) return (this.#shared.get(step) ?? this.#share(step))(run);
    const call = { run };
    const timer = setTimeout(() => this.#due.add(call), Math.max(0, delayMs));
    return () => {
      clearTimeout(timer);
      this.#due.cancel(call);
    };
  }

  #share(step: number): (run: () => void) => Cancel {
    const calls = new Set<{ readonly run: () => void }>();
    const end = () => {
      this.#shared.delete(step);
      for (const call of calls) this.#due.add(call);
    };
    // One millisecond is added because Node's timers may fire up to one early.
    const delayMs = Math.ceil(step * SHARED_STEP_MS - this.now()) + 1;
    const timer = setTimeout(end, Math.min(delayMs, MAX_TIMEOUT_MS));
    const add = (run: () => void) => {
      const call = { run };
      calls.add(call);
      return () => {
        this.#due.cancel(call);
        if (!calls.delete(call) || calls.size > 0) return;
        clearTimeout(timer);
        this.#shared.delete(step);
      };
    };
    this.#shared.set(step, add);
    return add;
  }
}

/** The instant of an event that never happened, before every other instant. */
export const NEVER = Number.NEGATIVE_INFINITY;

/** The earliest instant for something that nothing delays, before every other instant. */
export const AT_ONCE = Number.NEGATIVE_INFINITY;
