import { errors, jwtVerify, SignJWT } from 'jose';

/** The claims of a console token that the nodes check; times are Unix milliseconds. */
export interface IssuedClaims {
  readonly serverUuid: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

/** The result of a node's check: the token's claims, or the text of the `jwt error`. */
export type TokenVerdict =
  | { readonly ok: true; readonly claims: IssuedClaims; readonly permissions: readonly string[] }
  | { readonly ok: false; readonly text: string };

export const EXPIRED_TEXT = 'jwt: exp claim is invalid';
export const DENYLISTED_TEXT = 'jwt: created too far in past (denylist)';
export const WRONG_SERVER_TEXT = 'jwt: no permission to connect to this server';
export const NO_CONNECT_TEXT = 'jwt: missing connect permission';
export const NO_TOKEN_TEXT = 'no jwt present';

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

/** Checks a token as a node does; `validSinceMs` is when the node last started: older tokens are invalid. */
export async function checkToken(
  key: Uint8Array,
  token: string,
  expected: { readonly serverUuid: string; readonly nowMs: number; readonly validSinceMs: number },
): Promise<TokenVerdict> {
  try {
    const { payload } = await jwtVerify(token, key, { currentDate: new Date(expected.nowMs) });
    const { iat, exp } = payload;
    if (iat === undefined || exp === undefined || typeof payload['server_uuid'] !== 'string') {
      return { ok: false, text: 'jwt: missing claims' };
    }
    const claims = {
      serverUuid: payload['server_uuid'],
      issuedAtMs: Math.round(iat * 1_000),
      expiresAtMs: Math.round(exp * 1_000),
    };
    // The check above uses whole seconds, but tokens here may live for only two.
    if (expected.nowMs >= claims.expiresAtMs) return { ok: false, text: EXPIRED_TEXT };
    if (claims.serverUuid !== expected.serverUuid) return { ok: false, text: WRONG_SERVER_TEXT };
    if (claims.issuedAtMs < expected.validSinceMs) return { ok: false, text: DENYLISTED_TEXT };
    const permissions = stringsOf(payload['permissions']);
    if (!allows(permissions, 'websocket.connect')) return { ok: false, text: NO_CONNECT_TEXT };
    return { ok: true, claims, permissions };
  } catch (error) {
    if (error instanceof errors.JWTExpired) return { ok: false, text: EXPIRED_TEXT };
    return { ok: false, text: 'jwt: malformed or wrongly signed token' };
  }
}

/** Whether a token's permissions include this one. */
export function allows(permissions: readonly string[], needed: string): boolean {
  return permissions.includes(needed) || permissions.includes('*');
}

function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}
