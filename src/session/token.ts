// When the token of a console socket is renewed and when it ends.

import type { Credentials } from '../panel/dialect.ts';
import type { Token } from './machine-model.ts';

/**
 * A token is refreshed at a random point between these parts of its life: early enough to retry,
 * late enough to cost few calls.
 */
const REFRESH = { from: 0.75, to: 0.9 };

/**
 * The first token of a socket is refreshed from here on, so that a fleet that started together
 * spreads at once.
 */
const FIRST_REFRESH_FROM = 0.1;

/**
 * A fleet's tokens are refreshed together, every 2 s if they live ten minutes: calls in a row take
 * half the CPU time.
 */
const REFRESH_STEPS = 300;

/**
 * Credentials with their instants: the lifetime counts on the monotonic clock from their receipt;
 * `random` is uniform in [0, 1).
 */
export function toToken(
  { token, socketUrl, lifetimeMs }: Credentials,
  { isRefresh, now, random }: Readonly<Record<'now' | 'random', number>> & { readonly isRefresh: boolean },
): Token {
  const from = isRefresh ? REFRESH.from : FIRST_REFRESH_FROM;
  const dueAt = now + lifetimeMs * (from + (REFRESH.to - from) * random);
  const stepMs = lifetimeMs / REFRESH_STEPS;
  const refreshAt = Math.floor(dueAt / stepMs) * stepMs;
  return { value: token, socketUrl, refreshAt, expiresAt: now + lifetimeMs };
}
