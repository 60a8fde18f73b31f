import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { type CallEnd, callSigns, type Signs, socketSigns } from '../../../src/diagnosis/signs.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { API_ENDPOINTS, type ApiEndpoint } from '../../../src/domain/telemetry.ts';

const end = (endpoint: ApiEndpoint, cause?: CauseCode, more: Partial<CallEnd> = {}): CallEnd => ({
  endpoint,
  cause,
  fromPanel: true,
  isProven: true,
  ...more,
});

const NO_SIGNS: Signs = { panel: undefined, path: undefined, node: undefined, console: undefined };
const WORKS: Signs = { ...NO_SIGNS, panel: 'works', path: 'works' };
const FAILS: Signs = { ...NO_SIGNS, panel: 'fails', path: 'fails' };
const FOREIGN = { fromPanel: false };

/** The table in `src/diagnosis/signs.ts`. */
const ROWS: readonly (readonly [what: string, end: CallEnd, signs: Signs])[] = [
  ['a page of the server list', end('listing'), WORKS],
  ['a token', end('websocket'), { ...WORKS, console: 'works' }],
  ['resources', end('resources'), { ...WORKS, node: 'works' }],
  ['resources without data', end('resources', 'node_unreachable'), { ...WORKS, node: 'fails' }],
  ['a list of backups', end('backups'), WORKS],
  ['a suspended server (409)', end('websocket', 'suspended'), WORKS],
  ['a server that may not be read (403)', end('resources', 'forbidden'), WORKS],
  [
    'a console that is denied (403)',
    end('websocket', 'no_console_permission'),
    { ...WORKS, console: 'fails' },
  ],
  ['backups that are denied (401)', end('backups', 'unauthorized'), { ...NO_SIGNS, path: 'works' }],
  [
    'a server that the panel does not have (404)',
    end('resources', 'not_found'),
    { ...NO_SIGNS, path: 'works' },
  ],
  ['a server that is missing before any success', end('resources', 'not_found', { isProven: false }), FAILS],
  ['a path that lacks the daemon', end('websocket', 'daemon_unknown'), { ...NO_SIGNS, path: 'works' }],
  [
    'a path that lacks the daemon before any success',
    end('websocket', 'daemon_unknown', { isProven: false }),
    FAILS,
  ],
  ['a panel without a server list (404)', end('listing', 'not_found'), FAILS],
  [
    'a console that is denied (401)',
    end('websocket', 'unauthorized'),
    { ...NO_SIGNS, panel: 'fails', console: 'fails' },
  ],
  ['a key limited to other addresses', end('websocket', 'key_address'), FAILS],
  ['a second factor that is demanded', end('resources', 'key_two_factor'), FAILS],
  ['an application key', end('websocket', 'application_key'), FAILS],
  ['a server list that refuses the key', end('listing', 'key_refused'), FAILS],
  ['a node that the panel does not reach', end('resources', 'node_unreachable'), { ...WORKS, node: 'fails' }],
  ['an error of the node', end('resources', 'node_error'), { ...WORKS, node: 'fails' }],
  [
    'a 5xx of one server in the panel’s own form',
    end('websocket', 'panel_error'),
    { ...FAILS, node: 'may fail' },
  ],
  ['a 5xx of the server list in the panel’s own form', end('listing', 'panel_error'), FAILS],
  ['no response to a poll in time', end('resources', 'node_silent', FOREIGN), { ...FAILS, node: 'may fail' }],
  ['no response in time', end('websocket', 'timeout', FOREIGN), FAILS],
  ['a closed connection', end('websocket', 'connection_cut', FOREIGN), FAILS],
  ['a refused connection', end('listing', 'connection', FOREIGN), FAILS],
  ['a name that does not resolve', end('resources', 'dns', FOREIGN), FAILS],
  ['a firewall’s page', end('websocket', 'challenge_page', FOREIGN), FAILS],
  ['a proxy’s 502', end('resources', 'panel_down', FOREIGN), FAILS],
  ['a redirect', end('backups', 'redirect', FOREIGN), FAILS],
  ['a response of another shape', end('resources', 'bad_answer', FOREIGN), FAILS],
  [
    'a server that its node doesn’t know',
    end('resources', 'server_not_on_node'),
    { ...WORKS, node: 'fails' },
  ],
  ['a 429', end('resources', 'rate_limited'), NO_SIGNS],
  ['a 429 of one console', end('websocket', 'console_limit'), NO_SIGNS],
  ['a 400', end('websocket', 'bad_request'), NO_SIGNS],
  ['a call for which there was no file descriptor', end('listing', 'descriptors', FOREIGN), NO_SIGNS],
];

describe('what an outcome shows', () => {
  it.each(ROWS)('%s', (_what, call, signs) => {
    expect(callSigns(call)).toEqual(signs);
  });

  const causes = [undefined, ...Object.values(CAUSES).map(({ code }) => code)];
  const all = API_ENDPOINTS.flatMap((endpoint) =>
    causes.flatMap((cause) =>
      [true, false].map((fromPanel) => ({
        endpoint,
        signs: callSigns({ endpoint, cause, fromPanel, isProven: true }),
      })),
    ),
  );

  it('judges a node only by calls about a server', () => {
    const ofListing = all.filter(({ endpoint }) => endpoint === 'listing');
    expect(new Set(ofListing.map(({ signs }) => signs.node))).toEqual(new Set([undefined]));
  });

  it('judges a console only by calls for one', () => {
    const others = all.filter(({ endpoint }) => endpoint !== 'websocket');
    expect(new Set(others.map(({ signs }) => signs.console))).toEqual(new Set([undefined]));
  });
});

describe('the end of a socket', () => {
  it.each<[CauseCode | undefined, Signs['node']]>([
    [undefined, 'works'],
    ['node_connection', 'fails'],
    ['no_stats', 'fails'],
    ['server_not_on_node', 'fails'],
    ['token_wrong_server', undefined],
    ['suspended', undefined],
  ])('%s proves this of its node: %s', (cause, node) => {
    expect(socketSigns(cause)).toEqual({ ...NO_SIGNS, node });
  });
});
