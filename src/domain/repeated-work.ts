// Work that is repeated, each time after a delay that it decides.

import { INTERNAL_ERRORS } from './internal-errors.ts';
import type { Cancel, Clock } from './time.ts';

export interface Repeat {
  /** Begins the next run after this delay, if it would begin later. */
  hasten(delayMs: number): void;
  /** Aborts the signal of the run under way, after which no other follows. */
  stop(): void;
}

/** After an exception in a run, the next one begins this much later, in milliseconds. */
const AFTER_ERROR_MS = 10_000;

/**
 * Runs something now and again after each number of milliseconds with which a run resolves, until
 * that is stopped. A run that rejects is reported as an internal error, and begins again.
 */
export function repeat(clock: Clock, run: (signal: AbortSignal) => Promise<number>): Repeat {
  const scope = new AbortController();
  /** Undefined during a run. */
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
