import type { Cancel, Clock } from './clock.ts';

/** What runs again and again. */
export interface Repeat {
  /** Begins the next run after this delay, if it would begin later. */
  hasten(delayMs: number): void;
  /** Aborts the signal of the run under way, after which no other follows. */
  stop(): void;
}

/** Runs something now and again after each number of milliseconds with which a run resolves, until that is stopped. */
export function repeat(clock: Clock, run: (signal: AbortSignal) => Promise<number>): Repeat {
  const scope = new AbortController();
  /** Undefined during a run. */
  let next: { readonly at: number; readonly cancel: Cancel } | undefined;
  const runOnce = async () => {
    next = undefined;
    const delayMs = await run(scope.signal);
    if (!scope.signal.aborted) schedule(delayMs);
  };
  const schedule = (delayMs: number) => {
    next?.cancel();
    next = {
      at: clock.now() + delayMs,
      cancel: clock.schedule(Math.max(0, delayMs), () => void runOnce()),
    };
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
