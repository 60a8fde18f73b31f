import { decodeJwt } from 'jose/jwt/decode';
import type { Credentials, TokenClaims } from '../panel/dialect.ts';
import type { Token } from './machine-model.ts';

/** A token is refreshed at a random point between these parts of its life: early enough to retry, late enough to cost few calls. */
const REFRESH_FROM = 0.75;
const REFRESH_TO = 0.9;

/** The first token of a socket is refreshed from here on, so that a fleet that started together spreads at once. */
const FIRST_REFRESH_FROM = 0.1;

/** Credentials with their instants: the lifetime counts on the monotonic clock from their receipt; `random` is uniform in [0, 1). */
export function toToken(
  { token, socketUrl, lifetimeMs }: Credentials,
  { isRefresh, now, random }: Readonly<Record<'now' | 'random', number>> & { readonly isRefresh: boolean },
): Token {
  const from = isRefresh ? REFRESH_FROM : FIRST_REFRESH_FROM;
  const part = from + (REFRESH_TO - from) * random;
  return { value: token, socketUrl, refreshAt: now + lifetimeMs * part, expiresAt: now + lifetimeMs };
}

/** The claims of a token, as far as its payload can be read; verifying the signature is up to the node. */
export function claimsOf(token: string): TokenClaims {
  try {
    const { permissions } = decodeJwt(token);
    if (!Array.isArray(permissions)) return {};
    return { permissions: permissions.filter((permission) => typeof permission === 'string') };
  } catch {
    return {};
  }
}
