import { describe, expect, it } from 'vitest';
import { readJwtError, withoutIdentifier } from '../../../../../src/panel/dialects/pterodactyl/socket.ts';

it('a node is quoted without the request identifier, which is different each time', () => {
  const text = 'Error Event [3a1ad8a2-5e34-4b7e-9bb0-0c1f0a3ad9ce]: jwt: missing connect permission';
  const message = 'jwt: missing connect permission';
  expect(readJwtError(text)).toEqual({ message, isFixable: false, answersToken: true });
  expect(readJwtError(message)).toEqual({ message, isFixable: false, answersToken: false });
  expect(withoutIdentifier(text)).toBe(message);
});

describe('a jwt error is fixed by a new token', () => {
  it.each([
    'jwt: token expired',
    'jwt: token has expired',
    'JWT is EXPIRED',
    'jwt: created too far in past (denylist)',
    'jwt: token is on the deny list',
    'token is not yet valid',
    'token was revoked',
    'jwt: exp claim is invalid',
    'jwt: iat claim is invalid',
    'jwt: nbf claim is invalid',
  ])('if it contains: %s', (text) => {
    expect(readJwtError(text).isFixable).toBe(true);
  });

  it.each([
    '',
    'jwt: no jwt present',
    'jwt: missing connect permission',
    'jwt: server uuid mismatch',
    'jwt: aud claim is invalid',
    'an unexpected error was encountered while handling this request',
  ])('but not if it contains: %s', (text) => {
    expect(readJwtError(text).isFixable).toBe(false);
  });
});
