import { describe, expect, it } from 'vitest';
import {
  closeCause,
  errorWords,
  jwtErrorCause,
  readJwtError,
  upgradeCause,
} from '../../../../../src/panel/dialects/pterodactyl/refusals.ts';

describe('a node', () => {
  it.each<[number, string, string]>([
    [403, '', 'origin'],
    [400, '', 'too_many_sockets'],
    [404, '{"error":"The requested resource does not exist on this instance."}', 'server_not_on_node'],
    [404, '<html>404</html>', 'upgrade_refused'],
    [407, '', 'node_proxy'],
    [301, '', 'upgrade_redirected'],
    [502, '', 'upgrade_error'],
  ])('that responds to the upgrade with %d %s: %s', (status, body, cause) => {
    expect(upgradeCause(status, body)).toBe(cause);
  });

  it('closes a socket because of a suspension, permanently, or without a reason', () => {
    expect([4409, 4400, 1006, 1001].map(closeCause)).toEqual([
      'suspended',
      'closed_for_good',
      'closed',
      'closed',
    ]);
  });

  it('rejects a token because it is old, for another server, without permission, or for another reason', () => {
    const granted = { permissions: ['*'] };
    expect(jwtErrorCause('jwt: exp claim is invalid')).toBe('token_clock');
    expect(jwtErrorCause('jwt: created too far in past (denylist)')).toBe('token_clock');
    expect(jwtErrorCause('jwt: server uuid mismatch', granted)).toBe('token_wrong_server');
    expect(jwtErrorCause('jwt: missing connect permission', { permissions: ['control.console'] })).toBe(
      'no_console_permission',
    );
    expect(jwtErrorCause('jwt: missing connect permission')).toBe('no_console_permission');
    expect(jwtErrorCause('jwt: missing connect permission', granted)).toBe('token_version');
    expect(jwtErrorCause('jwt: missing connect permission', { permissions: ['websocket.connect'] })).toBe(
      'token_version',
    );
    expect(jwtErrorCause('jwt: no jwt present')).toBe('token_refused');
  });

  it('is quoted without the request identifier, which is different each time', () => {
    const text = 'Error Event [3a1ad8a2-5e34-4b7e-9bb0-0c1f0a3ad9ce]: jwt: missing connect permission';
    const words = 'jwt: missing connect permission';
    expect(readJwtError(text)).toEqual({ words, isFixable: false, answersToken: true });
    expect(readJwtError(words)).toEqual({ words, isFixable: false, answersToken: false });
    expect(errorWords(text)).toBe(words);
  });
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
