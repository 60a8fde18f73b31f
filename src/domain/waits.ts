// Waiting that ends when a signal aborts.

import type { Cancel, Clock } from './clock.ts';

/**
 * Calls `run` once when the signal aborts, or at once if it already has. The returned function
 * cancels that.
 */
function onAbort(signal: AbortSignal, run: () => void): Cancel {
  if (signal.aborted) run();
  else signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
}

/** Resolves like the work, or rejects with the signal's reason as soon as the signal aborts. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = onAbort(signal, () => reject(signal.reason as Error));
    work.finally(cancel).then(resolve, reject);
  });
}

/** Resolves after `delayMs`, or rejects with the signal's reason as soon as it aborts. */
export async function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  let cancel: Cancel = () => undefined;
  const passed = new Promise<void>((resolve) => {
    cancel = clock.schedule(delayMs, resolve);
  });
  await untilAborted(passed, signal).finally(cancel);
}

/**
 * Runs work in its own scope, which aborts with the signal. AbortSignal.any would leave a reference
 * on a long-lived signal for each scope (Node 20).
 */
export async function inScope<T>(
  signal: AbortSignal,
  work: (scope: AbortController) => Promise<T>,
): Promise<T> {
  const scope = new AbortController();
  const cancel = onAbort(signal, () => scope.abort(signal.reason));
  try {
    return await work(scope);
  } finally {
    cancel();
  }
}

/**
 * Runs work with a signal that aborts with the outer one, or with the error from `late` when the
 * time is up.
 */
export function bounded<T>(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  deadlineMs: number,
  late: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return inScope(signal, (scope) => {
    const cancel = clock.schedule(deadlineMs, () => scope.abort(late()));
    return work(scope.signal).finally(cancel);
  });
}
