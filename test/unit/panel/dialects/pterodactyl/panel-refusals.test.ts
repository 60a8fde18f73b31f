import { describe, expect, it } from 'vitest';
import type { PanelRefusal } from '../../../../../src/panel/dialect.ts';
import { refusalCause } from '../../../../../src/panel/dialects/pterodactyl/refusals.ts';

const refusal = (facts: Partial<PanelRefusal>): PanelRefusal => ({
  endpoint: 'resources',
  status: 403,
  form: 'envelope',
  isApplicationKey: false,
  ...facts,
});

const IP_LIMIT =
  'This IP address (203.0.113.7) does not have permission to access the API using these credentials.';

describe("a rejection in the panel's own form", () => {
  it.each<[string, Partial<PanelRefusal>, string]>([
    ['a key limited to other addresses', { detail: IP_LIMIT }, 'key_address'],
    [
      'a key limited to other addresses, on the server list',
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
    ['401 on the server list', { status: 401, endpoint: 'listing', form: 'message' }, 'key_refused'],
    ['401 that may be a missing permission', { status: 401, form: 'message' }, 'unauthorized'],
    ['404', { status: 404 }, 'not_found'],
    ['409 suspended', { status: 409, detail: 'This server is currently suspended' }, 'suspended'],
    [
      '409 installing',
      { status: 409, detail: 'has not yet completed its installation process' },
      'installing',
    ],
    ['409 transferring', { status: 409, detail: 'is currently being transferred' }, 'transferring'],
    ['409 under maintenance', { status: 409, detail: 'is currently under maintenance' }, 'maintenance'],
    ['409 restoring', { status: 409, detail: 'is currently restoring from a backup' }, 'restoring'],
    ['409 with an unknown message', { status: 409, detail: 'no' }, 'maintenance'],
    ['429', { status: 429 }, 'rate_limited'],
    ['429 for a token', { status: 429, endpoint: 'websocket' }, 'console_limit'],
    ['504', { status: 504 }, 'timeout'],
    ['500', { status: 500 }, 'panel_error'],
    ['503 in maintenance mode', { status: 503, form: 'message' }, 'panel_down'],
    ['400', { status: 400 }, 'bad_request'],
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

describe("a node's response that the panel forwards means nothing for the key or access to the server", () => {
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
  ])('%d about the response %s', (status, answer, cause) => {
    const fromNode = answer === undefined ? {} : { status: answer };
    expect(refusalCause(refusal({ status, fromNode }))).toBe(cause);
  });
});
