import { decodeJwt } from 'jose/jwt/decode';
import { type Account, type Credentials, ShapeError } from '../../dialect.ts';
import { asFields, asText, attributesOf } from './fields.ts';

/** The contract specifies 10 to 15 minutes; the shorter is assumed if the token contains no expiry. */
const DEFAULT_LIFETIME_MS = 600_000;

/** A token that claims a longer lifetime is still renewed daily. */
const MAX_LIFETIME_MS = 86_400_000;

/** The far end silently drops an auth frame of 4,096 bytes or more; this leaves room for what surrounds the token. */
const MAX_TOKEN_BYTES = 4_000;

/**
 * The account in a response of the account endpoint.
 *
 * @throws ShapeError if it has no name
 */
export function decodeAccount(body: unknown): Account {
  const attributes = attributesOf(body);
  const username = asText(attributes?.['username']);
  if (username === undefined) throw new ShapeError('expected "username" in "attributes"');
  // Newer versions of Pelican call it root_admin (app/Transformers/Api/Client/UserTransformer.php).
  return { username, isAdmin: attributes?.['admin'] === true || attributes?.['root_admin'] === true };
}

/**
 * The token and the address in a response of the credentials endpoint.
 *
 * @throws ShapeError if either is missing
 */
export function decodeCredentials(body: unknown): Credentials {
  const data = asFields(asFields(body)?.['data']);
  const token = asText(data?.['token']);
  const socketUrl = asText(data?.['socket']);
  if (token === undefined || socketUrl === undefined) {
    throw new ShapeError('expected "token" and "socket" in "data"');
  }
  const bytes = Buffer.byteLength(JSON.stringify(token));
  if (bytes > MAX_TOKEN_BYTES)
    throw new ShapeError(`expected a token of at most ${MAX_TOKEN_BYTES} bytes, got ${bytes}`);
  return { token, socketUrl, lifetimeMs: tokenLifetimeMs(token) };
}

// Only the difference of the two claims is used: `exp` alone would have to be compared with this machine's wall clock, which may
// be wrong or stepped.
function tokenLifetimeMs(token: string): number {
  const { iat, exp } = readClaims(token);
  if (typeof iat !== 'number' || typeof exp !== 'number') return DEFAULT_LIFETIME_MS;
  const lifetimeMs = (exp - iat) * 1_000;
  return lifetimeMs > 0 ? Math.min(lifetimeMs, MAX_LIFETIME_MS) : DEFAULT_LIFETIME_MS;
}

function readClaims(token: string): { readonly iat?: unknown; readonly exp?: unknown } {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}
