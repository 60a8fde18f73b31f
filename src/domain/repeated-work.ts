// Repeats work after a delay that each run chooses.

import type { Cancel, Clock } from './clock.ts';
import { INTERNAL_ERRORS } from './internal-errors.ts';

export interface Repeat {
  /** Begins the next run after this delay at the latest. */
  hasten(delayMs: number): void;
  /** Aborts the signal of the current run; no other follows. */
  stop(): void;
}

/** The delay after a run that threw an exception, in milliseconds. */
const AFTER_ERROR_MS = 10_000;

/**
 * Repeats `run` until it is stopped, each time after the number of milliseconds with which the run
 * resolved. A run that rejects is reported as an internal error, and repeated.
 */
export function repeat(clock: Clock, run: (signal: AbortSignal) => Promise<number>): Repeat {
  const scope = new AbortController();
  /** The next run; undefined during a run. */
  let next: { readonly at: number; readonly cancel: Cancel } | undefined;
  const runOnce = async () => {
    next = undefined;
    let delayMs = AFTER_ERROR_MS;
    try {
      delayMs = await run(scope.signal);
    } catch (error) {
      if (!scope.signal.aborted) INTERNAL_ERRORS.report(error);
    }
    if (!scope.signal.aborted) schedule(delayMs);
  };
  const schedule = (delayMs: number) => {
    next?.cancel();
    const cancel = clock.schedule(Math.max(0, delayMs), () => void runOnce());
    next = { at: clock.now() + delayMs, cancel };
  };
  void runOnce();
  return {
    hasten: (delayMs) => {
      if (next !== undefined && clock.now() + delayMs < next.at) schedule(delayMs);
    },
    stop: () => {
      next?.cancel();
      next = undefined;
      scope.abort(new Error('this is no longer needed'));
    },
  };
}
