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
 * Delays from this length on are rounded up to tenths of a second: timers of the same length share a list in Node, and 10,000
 * lists of one timer each cost more than the work of the timers.
 */
const COARSE_FROM_MS = 10_000;
const COARSE_STEP_MS = 100;

/** The machine's clocks. */
export class SystemClock implements Clock {
  #anchorMs = Date.now() - performance.now();

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
    const timer = setTimeout(run, Math.min(Math.max(0, coarse(delayMs)), MAX_TIMEOUT_MS));
    return () => clearTimeout(timer);
  }
}

function coarse(delayMs: number): number {
  return delayMs < COARSE_FROM_MS ? delayMs : Math.ceil(delayMs / COARSE_STEP_MS) * COARSE_STEP_MS;
}
