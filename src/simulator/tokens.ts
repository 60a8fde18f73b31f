// The tokens of console sockets, which panels issue and nodes check.

import { errors, jwtVerify, SignJWT } from 'jose';

/** The claims of a console token that nodes check. Times are Unix milliseconds. */
export interface IssuedClaims {
  readonly serverUuid: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

/** The result of a node's check: the token's claims, or the node's response. */
export type TokenVerdict =
  | { readonly ok: true; readonly claims: IssuedClaims; readonly permissions: readonly string[] }
  | { readonly ok: false; readonly event: 'jwt error' | 'daemon error'; readonly text: string };

export const EXPIRED_TEXT = 'jwt: exp claim is invalid';
export const DENYLISTED_TEXT = 'jwt: created too far in past (denylist)';
export const WRONG_SERVER_TEXT = 'jwt: server uuid mismatch';
export const NO_CONNECT_TEXT = 'jwt: missing connect permission';
export const NO_TOKEN_TEXT = 'jwt: no jwt present';
/** A node's message for an unexplained error, such as a token signed with another secret. */
export const DAEMON_ERROR_TEXT = 'an unexpected error was encountered while handling this request';

/** Signs a console token (HS256), as the panel does for its nodes. */
export function signToken(
  key: Uint8Array,
  claims: IssuedClaims,
  tokenId: string,
  permissions: readonly string[] = ['*'],
): Promise<string> {
  return new SignJWT({ server_uuid: claims.serverUuid, permissions })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setJti(tokenId)
    .setIssuedAt(claims.issuedAtMs / 1_000)
    .setExpirationTime(claims.expiresAtMs / 1_000)
    .sign(key);
}

/**
 * Checks a token as a node does when it is presented. `validSinceMs` is when the node last started;
 * older tokens are invalid. The token's server is checked only when the token is used.
 */
export async function checkToken(
  key: Uint8Array,
  token: string,
  expected: { readonly nowMs: number; readonly validSinceMs: number },
): Promise<TokenVerdict> {
  try {
    const { payload } = await jwtVerify(token, key, { currentDate: new Date(expected.nowMs) });
    const { iat, exp } = payload;
    if (iat === undefined || exp === undefined || typeof payload['server_uuid'] !== 'string') {
      return jwtError(DENYLISTED_TEXT);
    }
    const claims = {
      serverUuid: payload['server_uuid'],
      issuedAtMs: Math.round(iat * 1_000),
      expiresAtMs: Math.round(exp * 1_000),
    };
    // The check above uses whole seconds, but tokens here may live for only two.
    if (expected.nowMs >= claims.expiresAtMs) return jwtError(EXPIRED_TEXT);
    if (claims.issuedAtMs < expected.validSinceMs) return jwtError(DENYLISTED_TEXT);
    const permissions = strings(payload['permissions']);
    if (!allows(permissions, 'websocket.connect')) return jwtError(NO_CONNECT_TEXT);
    return { ok: true, claims, permissions };
  } catch (error) {
    if (error instanceof errors.JWTExpired) return jwtError(EXPIRED_TEXT);
    return { ok: false, event: 'daemon error', text: DAEMON_ERROR_TEXT };
  }
}

function jwtError(text: string): TokenVerdict {
  return { ok: false, event: 'jwt error', text };
}

/** Whether a token's permissions include this one. */
export function allows(permissions: readonly string[], needed: string): boolean {
  return permissions.includes(needed) || permissions.includes('*');
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}
