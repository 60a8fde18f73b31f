/** Counts the calls in a window against a limit, as panels do. */

import { SECOND_MS } from '../domain/units.ts';

/** The calls since the first of a window. Times are in milliseconds on one clock. */
export interface RateWindow {
  readonly endsAt: number;
  readonly used: number;
}

/** The result of applying a limit to one call. */
export interface RateVerdict {
  readonly window: RateWindow;
  readonly allowed: boolean;
  readonly remaining: number;
  /** Milliseconds until the window ends. */
  readonly resetMs: number;
}

/** How a panel counts calls. */
export interface LimitForm {
  readonly windowMs: number;
  /**
   * A call in the last `carryMs` of a window extends the window, and its count continues
   * (Calagopus: 2,000 of 30,000 ms). Such panels also count in whole seconds, count rejected calls,
   * and reject the last call of the limit.
   */
  readonly carryMs?: number;
}

const PER_MINUTE: LimitForm = { windowMs: 60_000 };

/** Counts one call against `limit` calls in each window. */
export function countCall(
  window: RateWindow | undefined,
  limit: number,
  now: number,
  { windowMs, carryMs }: LimitForm = PER_MINUTE,
): RateVerdict {
  const isOver = window === undefined || now >= window.endsAt;
  if (carryMs === undefined) {
    const open = isOver ? { endsAt: now + windowMs, used: 0 } : window;
    const allowed = open.used < limit;
    return verdict({ ...open, used: open.used + Number(allowed) }, allowed, limit, now);
  }
  const second = Math.floor(now / SECOND_MS) * SECOND_MS;
  const isKept = !isOver && window.endsAt > second + carryMs;
  const used = (isOver ? 0 : window.used) + 1;
  const endsAt = isKept ? window.endsAt : second + windowMs;
  return verdict({ endsAt, used }, used < limit, limit, now);
}

function verdict(window: RateWindow, allowed: boolean, limit: number, now: number): RateVerdict {
  return { window, allowed, remaining: Math.max(0, limit - window.used), resetMs: window.endsAt - now };
}
