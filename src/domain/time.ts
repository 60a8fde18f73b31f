// The clock, and what waits for it.

import { DueCalls } from './due-calls.ts';
import { INTERNAL_ERRORS } from './internal-errors.ts';

/** Cancels a scheduled call; a second call does nothing. */
export type Cancel = () => void;

/**
 * Time as the rest of the program sees it. Deadlines, ages and intervals use only the monotonic
 * clock, so a stepped system clock changes nothing.
 */
export interface Clock {
  /** Milliseconds on a monotonic clock with an arbitrary origin. */
  now(): number;
  /**
   * The Unix time in milliseconds of a monotonic instant; for timestamps that are shown, never for
   * deadlines.
   */
  toUnixMs(monotonicMs: number): number;
  /** Calls `run` once after `delayMs` milliseconds. */
  schedule(delayMs: number, run: () => void): Cancel;
}

/** How far the wall clock may drift from its anchor before it counts as stepped. */
const STEP_MS = 1_000;

/** The longest delay that `setTimeout` accepts; a longer one would fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Delays from this length on end together, every quarter of a second: thousands of sockets have a
 * timer of their own, and one of Node for each costs more than what is done then.
 */
const SHARED_FROM_MS = 10_000;
const SHARED_STEP_MS = 250;

export class SystemClock implements Clock {
  #anchorMs = Date.now() - performance.now();
  /** What adds a call to those at the same instant, by that in steps. */
  readonly #shared = new Map<number, (run: () => void) => Cancel>();
  readonly #due: DueCalls;

  /** What ends at once takes several turns of the event loop if `nextTurn` is given. */
  constructor(nextTurn?: (run: () => void) => void) {
    this.#due = new DueCalls(nextTurn);
  }

  now(): number {
    return performance.now();
  }

  // The offset is anchored so that a start time computed from an uptime doesn't jitter when the
  // clocks are slewed; a step of the wall clock moves the anchor.
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
    // A millisecond later, because timers of Node may fire up to one early.
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

/** Calls this once when the signal aborts, at once if it has; the result ends that. */
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
 * Runs work in a scope of its own, which aborts when the signal does. Not AbortSignal.any: on Node
 * 20 each scope would leave a reference on a long-lived signal.
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
 * Runs work with a signal that aborts when the outer one does, or with the error from `late` once
 * the time is up.
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

const UNITS_MS = [
  ['y', 365 * 86_400_000],
  ['w', 7 * 86_400_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** Prometheus's syntax: whole numbers with units, larger units first, each at most once. */
export const DURATION_PATTERN = `^(?=\\d)${UNITS_MS.map(([unit]) => `(?:(\\d+)${unit})?`).join('')}$`;
const DURATION = new RegExp(DURATION_PATTERN);

/**
 * Milliseconds of a duration in Prometheus's syntax (`15s`, `1h30m`); undefined for any other text.
 */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (match === null) return undefined;
  return UNITS_MS.reduce((sum, [, unitMs], index) => sum + Number(match[index + 1] ?? 0) * unitMs, 0);
}

/** The duration in Prometheus's syntax, such as `1h30m`. */
export function formatDuration(durationMs: number): string {
  let rest = durationMs;
  let text = '';
  for (const [unit, unitMs] of UNITS_MS) {
    const count = Math.floor(rest / unitMs);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * unitMs;
  }
  return text === '' ? '0s' : text;
}

/** The instant before all others. */
export const NEVER = Number.NEGATIVE_INFINITY;
