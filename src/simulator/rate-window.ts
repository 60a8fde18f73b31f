/** A minute of calls, counted from its first; times are milliseconds on one clock. */
export interface RateWindow {
  readonly endsAt: number;
  readonly used: number;
}

/** What a limit says of one call. */
export interface RateVerdict {
  readonly window: RateWindow;
  readonly allowed: boolean;
  readonly remaining: number;
  /** Milliseconds until the window ends. */
  readonly resetMs: number;
}

const WINDOW_MS = 60_000;

/** Counts one call against `limit` calls a minute; a refused call doesn't lengthen the wait. */
export function countCall(window: RateWindow | undefined, limit: number, now: number): RateVerdict {
  const open = window === undefined || now >= window.endsAt ? { endsAt: now + WINDOW_MS, used: 0 } : window;
  const allowed = open.used < limit;
  const used = allowed ? open.used + 1 : open.used;
  return {
    window: { endsAt: open.endsAt, used },
    allowed,
    remaining: Math.max(0, limit - used),
    resetMs: open.endsAt - now,
  };
}
