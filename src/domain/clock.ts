/** Cancels a scheduled call; a second call does nothing. */
export type Cancel = () => void;

/**
 * Time as the rest of the program sees it. Deadlines, ages and intervals use only the monotonic clock, so a stepped system clock
 * changes nothing.
 */
export interface Clock {
  /** Milliseconds on a monotonic clock with an arbitrary origin. */
  now(): number;
  /** The Unix time in milliseconds of a monotonic instant; for timestamps that are shown, never for deadlines. */
  toUnixMs(monotonicMs: number): number;
  /** Calls `run` once after `delayMs` milliseconds. */
  schedule(delayMs: number, run: () => void): Cancel;
}

/** How far the wall clock may drift from its anchor before it counts as stepped. */
const STEP_MS = 1_000;

/** The longest delay that `setTimeout` accepts; a longer one would fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Delays from this length on end together, every quarter of a second: thousands of sockets have a timer of their own, and one of
 * Node for each costs more than what is done then.
 */
const SHARED_FROM_MS = 10_000;
const SHARED_STEP_MS = 250;

/** The machine's clocks. */
export class SystemClock implements Clock {
  #anchorMs = Date.now() - performance.now();
  /** What is to be called at the same instant, by that in steps. */
  readonly #shared = new Map<number, SharedTimer>();

  now(): number {
    return performance.now();
  }

  // The offset is anchored so that a start time computed from an uptime doesn't jitter when the clocks are slewed; a step of the
  // wall clock moves the anchor.
  toUnixMs(monotonicMs: number): number {
    const offset = Date.now() - performance.now();
    if (Math.abs(offset - this.#anchorMs) > STEP_MS) this.#anchorMs = offset;
    return this.#anchorMs + monotonicMs;
  }

  schedule(delayMs: number, run: () => void): Cancel {
    if (delayMs >= SHARED_FROM_MS)
      return this.#share(Math.ceil((this.now() + delayMs) / SHARED_STEP_MS), run);
    const timer = setTimeout(run, Math.max(0, delayMs));
    return () => clearTimeout(timer);
  }

  #share(step: number, run: () => void): Cancel {
    const { calls, timer } = this.#shared.get(step) ?? this.#begin(step);
    const call = { run };
    calls.add(call);
    return () => {
      if (!calls.delete(call) || calls.size > 0) return;
      clearTimeout(timer);
      this.#shared.delete(step);
    };
  }

  #begin(step: number): SharedTimer {
    const calls: SharedTimer['calls'] = new Set();
    const end = () => {
      this.#shared.delete(step);
      for (const { run } of calls) run();
    };
    // A millisecond later, because timers of Node may fire up to one early.
    const delayMs = Math.ceil(step * SHARED_STEP_MS - this.now()) + 1;
    const shared = { calls, timer: setTimeout(end, Math.min(delayMs, MAX_TIMEOUT_MS)) };
    this.#shared.set(step, shared);
    return shared;
  }
}

interface SharedTimer {
  readonly calls: Set<{ readonly run: () => void }>;
  readonly timer: ReturnType<typeof setTimeout>;
}
