/** Reads a panel's rate limit and its demand for a pause from a response's headers and text. */
import { DEFAULT_WAIT_MS, MAX_WAIT_MS, type RateFacts } from './scheduler/rate-limit.ts';

/** The rate limit headers of a response, as received. */
export interface RateHeaders {
  readonly limit?: string;
  readonly remaining?: string;
  readonly retryAfter?: string;
  readonly reset?: string;
  /** The panel's own clock, for comparison with `reset`. */
  readonly date?: string;
}

/** The minimum wait, because 0 would cause a hot loop. */
const MIN_WAIT_MS = 1_000;

/** A reset further in the past can't be an instant of this window. */
const MAX_RESET_AGE_MS = 60_000;

/** A higher limit means unlimited. */
const MAX_LIMIT = 1_000_000;

/**
 * The wait after a 429 in milliseconds, from 1 s to 10 min: from `Retry-After`, the reset header,
 * or the seconds in the message, in this order; a minute by default.
 */
export function retryAfterMs(headers: RateHeaders, message: string | undefined, nowUnixMs: number): number {
  const panelNow = httpDateMs(headers.date) ?? nowUnixMs;
  const waitMs =
    byRetryAfter(headers.retryAfter, panelNow) ?? byReset(headers.reset, panelNow) ?? byText(message);
  return Math.min(Math.max(waitMs ?? DEFAULT_WAIT_MS, MIN_WAIT_MS), MAX_WAIT_MS);
}

/** The limit in the headers for a window of this length; undefined if it is implausible. */
export function rateFacts(headers: RateHeaders, windowMs = 60_000): RateFacts {
  const limit = ((wholeNumber(headers.limit) ?? 0) * 60_000) / windowMs;
  const limitPerMinute = limit >= 1 && limit <= MAX_LIMIT ? limit : undefined;
  return { limitPerMinute, remaining: wholeNumber(headers.remaining) };
}

function byRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const seconds = wholeNumber(value);
  if (seconds !== undefined) return seconds * 1_000;
  const at = httpDateMs(value);
  return at === undefined ? undefined : at - nowMs;
}

function byReset(value: string | undefined, nowMs: number): number | undefined {
  const epochSeconds = wholeNumber(value);
  if (epochSeconds === undefined) return undefined;
  const waitMs = epochSeconds * 1_000 - nowMs;
  return waitMs < -MAX_RESET_AGE_MS ? undefined : waitMs;
}

function byText(message: string | undefined): number | undefined {
  if (message === undefined) return undefined;
  const digits = /(\d{1,9})\s*s(?:ec|\b)/i.exec(message)?.[1] ?? /\bsec\D{0,40}(\d{1,9})/i.exec(message)?.[1];
  return digits === undefined ? undefined : Number(digits) * 1_000;
}

function wholeNumber(value: string | undefined): number | undefined {
  const text = value?.trim() ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

// Only HTTP dates, because `Date.parse` accepts almost any text.
function httpDateMs(value: string | undefined): number | undefined {
  if (value === undefined || !/^[A-Z][a-z]{2,8},? /.test(value)) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : at;
}
