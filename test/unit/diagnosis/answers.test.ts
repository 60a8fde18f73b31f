import { describe, expect, it } from 'vitest';
import {
  closeCause,
  daemonWords,
  isFixedByNewToken,
  jwtErrorCause,
  upgradeCause,
} from '../../../src/diagnosis/node-answer.ts';
import { type PanelRefusal, refusalCause, unreadableCause } from '../../../src/diagnosis/panel-answer.ts';

const refusal = (facts: Partial<PanelRefusal>): PanelRefusal => ({
  endpoint: 'resources',
  status: 403,
  form: 'envelope',
  url: 'https://panel.example.com',
  isApplicationKey: false,
  ...facts,
});

const IP_LIMIT =
  'This IP address (203.0.113.7) does not have permission to access the API using these credentials.';

describe("a rejection in the panel's own form", () => {
  it.each<[string, Partial<PanelRefusal>, string]>([
    ['a key limited to other addresses', { detail: IP_LIMIT }, 'key_address'],
    [
      'a key limited to other addresses, on the listing',
      { detail: IP_LIMIT, endpoint: 'listing' },
      'key_address',
    ],
    ['an application key, by its prefix', { isApplicationKey: true }, 'application_key'],
    [
      'an application key, by the message',
      {
        detail:
          'You are attempting to use an application API key on an endpoint that requires a client API key.',
      },
      'application_key',
    ],
    [
      'an account without two-factor authentication',
      { status: 400, code: 'TwoFactorAuthRequiredException' },
      'key_two_factor',
    ],
    ['no console permission', { endpoint: 'websocket' }, 'no_console_permission'],
    ['no access to the resources', {}, 'forbidden'],
    ['401 from the authentication', { status: 401, code: 'AuthenticationException' }, 'key_refused'],
    ['401 on the listing', { status: 401, endpoint: 'listing', form: 'message' }, 'key_refused'],
    ['401 that may be a missing permission', { status: 401, form: 'message' }, 'unauthorized'],
    ['404', { status: 404 }, 'not_found'],
    ['409 suspended', { status: 409, detail: 'This server is currently suspended' }, 'suspended'],
    ['409 restoring', { status: 409, detail: 'is currently restoring from a backup' }, 'restoring'],
    ['409 with an unknown message', { status: 409, detail: 'no' }, 'maintenance'],
    ['429', { status: 429 }, 'rate_limited'],
    ['429 for a token', { status: 429, endpoint: 'websocket' }, 'console_limit'],
    ['504, although the panel waits for a node', { status: 504 }, 'node_silent'],
    ['504 for a token', { status: 504, endpoint: 'websocket' }, 'timeout'],
    ['500', { status: 500 }, 'panel_error'],
    ['503 in maintenance mode', { status: 503, form: 'message' }, 'panel_down'],
    ['422', { status: 422 }, 'bad_request'],
  ])('%s', (_, facts, cause) => {
    expect(refusalCause(refusal(facts))).toBe(cause);
  });
});

describe("the panel's own database and cache are its own problem, on every path", () => {
  const CLASSES = ['ConnectionException', 'ServerException', 'QueryException', 'DecryptException'];

  it.each(CLASSES)('%s', (code) => {
    for (const endpoint of ['websocket', 'resources', 'listing', 'backups', 'account'] as const)
      expect(refusalCause(refusal({ status: 500, code, endpoint }))).toBe('panel_error');
  });
});

describe("a node's answer that the panel forwards says nothing about the key or access to the server", () => {
  it.each<[number, number | undefined, string]>([
    [504, 401, 'node_token_mismatch'],
    [504, 403, 'node_token_mismatch'],
    [504, 404, 'server_not_on_node'],
    [504, 429, 'node_error'],
    [504, 500, 'node_error'],
    [504, 502, 'node_error'],
    [504, undefined, 'node_unreachable'],
    [500, undefined, 'node_unreachable'],
    [502, undefined, 'node_unreachable'],
    // Panels that pass on the node's status as their own.
    [403, undefined, 'node_token_mismatch'],
    [404, undefined, 'server_not_on_node'],
    [422, undefined, 'node_error'],
  ])('%d about the answer %s', (status, answer, cause) => {
    const fromNode = answer === undefined ? {} : { status: answer };
    expect(refusalCause(refusal({ status, fromNode }))).toBe(cause);
  });
});

describe('an answer in a foreign form never concerns a server', () => {
  it.each<[number, string, string]>([
    [403, 'Attention Required! | Cloudflare', 'challenge_page'],
    [403, '403 Forbidden', 'challenge_page'],
    [503, 'Just a moment...', 'challenge_page'],
    [404, '404 page not found', 'not_a_panel'],
    [401, '401 Authorization Required', 'login_page'],
    [407, '', 'proxy'],
    [429, 'Too Many Requests', 'rate_limited'],
    [500, 'Server Error', 'panel_error'],
    [502, '502 Bad Gateway', 'panel_down'],
    [504, '504 Gateway Time-out', 'timeout'],
    [521, 'Web server is down', 'panel_down'],
    [524, 'A timeout occurred', 'timeout'],
    [400, 'The plain HTTP request was sent to HTTPS port', 'https_needed'],
    [400, '400 No required SSL certificate was sent', 'tls_client_certificate'],
    [418, "I'm a teapot", 'not_a_panel'],
    [403, 'Access denied by Imunify360 bot-protection.', 'challenge_page'],
    [406, 'Bots are not welcome', 'challenge_page'],
    [503, 'Sorry, you have been blocked', 'challenge_page'],
    [404, 'no Route matched with those Values', 'not_a_panel'],
    [401, 'No API key found in request', 'login_page'],
    [404, 'The robotics shop has moved', 'not_a_panel'],
  ])('%d "%s" is %s', (status, detail, cause) => {
    for (const endpoint of ['websocket', 'resources', 'listing', 'backups'] as const) {
      // A call for resources waits for the server's node.
      const expected = cause === 'timeout' && endpoint === 'resources' ? 'node_silent' : cause;
      expect(refusalCause(refusal({ status, detail, form: 'foreign', endpoint }))).toBe(expected);
    }
  });

  it('a redirect to the same host over TLS means that https is needed, any other is a redirect', () => {
    const redirect = (location?: string) =>
      refusalCause(
        refusal({ status: 302, url: 'http://panel.example.com/base', ...(location && { location }) }),
      );
    expect(redirect('https://panel.example.com/auth/login')).toBe('https_needed');
    expect(redirect('https://other.example.com/')).toBe('redirect');
    expect(redirect('/auth/login')).toBe('redirect');
    expect(redirect()).toBe('redirect');
  });

  it.each([
    [{ isPage: false }, 'bad_answer'],
    [{ isPage: false, words: 'pong' }, 'bad_answer'],
    [{ isPage: false, words: 'Access denied by Imunify360 bot-protection.' }, 'challenge_page'],
    [{ isPage: true }, 'login_page'],
    [{ isPage: true, words: 'Sign in' }, 'login_page'],
    [{ isPage: true, words: 'Just a moment...' }, 'challenge_page'],
  ])('a success with %j instead of data is %s', (body, cause) => {
    expect(unreadableCause(body)).toBe(cause);
  });
});

describe('a node', () => {
  const failed = new Error('Unexpected server response');

  it.each<[number, string, string]>([
    [403, '', 'origin'],
    [400, '', 'too_many_sockets'],
    [404, '{"error":"The requested resource does not exist on this instance."}', 'server_not_on_node'],
    [404, '<html>404</html>', 'upgrade_refused'],
    [407, '', 'node_proxy'],
    [301, '', 'upgrade_redirected'],
    [502, '', 'upgrade_error'],
  ])('that answers the upgrade with %d %s: %s', (status, body, cause) => {
    expect(upgradeCause({ status, body, error: failed }, false)).toBe(cause);
  });

  it('that cannot be connected to is classified by the error', () => {
    const error = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    expect(upgradeCause({ error }, false)).toBe('node_connection');
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
    expect(isFixedByNewToken('JWT has been revoked')).toBe(true);
  });

  it('is quoted without the request identifier, which is different each time', () => {
    const words = 'Error Event [3a1ad8a2-5e34-4b7e-9bb0-0c1f0a3ad9ce]: jwt: missing connect permission';
    expect(daemonWords(words, 'main')).toBe('jwt: missing connect permission');
    expect(daemonWords('\u001b[31mplain\nwords', 'main')).toBe('plain words');
  });
});
