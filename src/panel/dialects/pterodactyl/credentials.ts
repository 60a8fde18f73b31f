// Reads the credentials of a console socket and the claims in its token.

import { decodeJwt } from 'jose/jwt/decode';
import { type Credentials, ShapeError } from '../../responses.ts';
import { asText, type Fields, valueIn } from '../wire.ts';

/**
 * The lifetime if the token contains no expiry: the shorter one of the contract's 10 to 15 minutes.
 */
const DEFAULT_LIFETIME_MS = 600_000;

/** The maximum lifetime: a token that claims a longer one is still renewed daily. */
const MAX_LIFETIME_MS = 86_400_000;

/**
 * The far end silently drops an auth frame of 4,096 bytes or more. This leaves room for the frame
 * around the token.
 */
const MAX_TOKEN_BYTES = 4_000;

/**
 * Much longer than any real address. The limit exists because an open socket keeps several copies
 * of its address.
 */
const MAX_SOCKET_URL_LENGTH = 2_048;

export function decodeCredentials(body: unknown): Credentials {
  return readCredentials(
    valueIn(body, 'data', 'token'),
    valueIn(body, 'data', 'socket'),
    '"token" and "socket" in "data"',
  );
}

/**
 * Credentials from a token and an address as received. `expected` is their description for errors.
 */
export function readCredentials(givenToken: unknown, givenUrl: unknown, expected: string): Credentials {
  const [token, socketUrl] = [asText(givenToken), asText(givenUrl)];
  if (token === undefined || socketUrl === undefined) throw new ShapeError(`expected ${expected}`);
  const bytes = Buffer.byteLength(JSON.stringify(token));
  if (bytes > MAX_TOKEN_BYTES)
    throw new ShapeError(`expected a token of at most ${MAX_TOKEN_BYTES} bytes, got ${bytes}`);
  if (socketUrl.length > MAX_SOCKET_URL_LENGTH) {
    const most = `expected a socket address of at most ${MAX_SOCKET_URL_LENGTH} characters`;
    throw new ShapeError(`${most}, got ${socketUrl.length}`);
  }
  return { token, socketUrl, lifetimeMs: tokenLifetimeMs(token) };
}

// Only the difference of the two claims is used. `exp` alone would have to be compared with this
// machine's clock, which may be wrong.
function tokenLifetimeMs(token: string): number {
  const { iat, exp } = readClaims(token);
  if (typeof iat !== 'number' || typeof exp !== 'number') return DEFAULT_LIFETIME_MS;
  const lifetimeMs = (exp - iat) * 1_000;
  return lifetimeMs > 0 ? Math.min(lifetimeMs, MAX_LIFETIME_MS) : DEFAULT_LIFETIME_MS;
}

/**
 * The permissions in a token; undefined if it can't be read. Verifying the signature is up to the
 * node.
 */
export function readPermissions(token: string): readonly string[] | undefined {
  const { permissions } = readClaims(token);
  if (!Array.isArray(permissions)) return undefined;
  return permissions.filter((permission) => typeof permission === 'string');
}

function readClaims(token: string): Fields {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}
