// When the token of a console socket is renewed and when it ends.

import type { Credentials } from '../panel/dialect.ts';
import type { Token } from './machine-model.ts';

/**
 * A token is renewed at a random point between these parts of its life: early enough to retry,
 * late enough to cost few calls.
 */
const RENEWAL = { from: 0.75, to: 0.9 };

/**
 * The first token of a socket is renewed from here on, so that a fleet that started together
 * spreads at once.
 */
const FIRST_RENEWAL_FROM = 0.1;

/**
 * A fleet's tokens are renewed together, every 2 s if they live ten minutes: calls in a row take
 * half the CPU time.
 */
const RENEWAL_STEPS = 300;

/**
 * Credentials with their instants: the lifetime counts on the monotonic clock from their receipt;
 * `random` is uniform in [0, 1).
 */
export function toToken(
  { token, socketUrl, lifetimeMs }: Credentials,
  { isRenewal, now, random }: Readonly<Record<'now' | 'random', number>> & { readonly isRenewal: boolean },
): Token {
  const from = isRenewal ? RENEWAL.from : FIRST_RENEWAL_FROM;
  const dueAt = now + lifetimeMs * (from + (RENEWAL.to - from) * random);
  const stepMs = lifetimeMs / RENEWAL_STEPS;
  const renewAt = Math.floor(dueAt / stepMs) * stepMs;
  return { value: token, socketUrl, renewAt, expiresAt: now + lifetimeMs };
}
