import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { isAllHealthy } from '../../../src/doctor/report.ts';
import { SystemClock } from '../../../src/domain/clock.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { examined, problemsOf, shownOf } from '../../support/doctor.ts';
import { configFor, fastClock } from '../../support/exporter.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A cause: how it arises, and where and how it is reported. */
interface Row {
  readonly cause: CauseCode;
  readonly what: string;
  readonly options?: SimulatorOptions;
  readonly settings?: readonly string[];
  /** The server is polled: nothing polls a server that streams. */
  readonly isPolled?: true;
  readonly arrange?: (panel: Simulator) => void;
  readonly says: RegExp;
}

const SERVER = 'survival';

const refusals: readonly Row[] = [
  {
    cause: 'not_found',
    what: 'a wrong id, or no access to it',
    arrange: (panel) => panel.failRest({ kind: 'refuse', status: 404, server: SERVER }),
    says: /returned 404: .*could not be found/,
  },
  ...(
    [
      ['suspended', 'suspended'],
      ['installing', 'installing'],
      ['install_failed', 'installing'],
      ['transferring', 'transferring'],
      ['restoring_backup', 'restoring'],
      ['maintenance', 'maintenance'],
    ] as const
  ).map(
    ([conflict, cause]): Row => ({
      cause,
      what: `409: ${conflict}`,
      arrange: (panel) => panel.setConflict(SERVER, conflict),
      says: /suspended|installing|transferring|restoring|maintenance/,
    }),
  ),
  {
    cause: 'suspended',
    what: 'the socket opens and is closed with 4409',
    options: { suspendedCredentials: 'issue', conflictResources: 'answer' },
    arrange: (panel) => panel.suspend(SERVER),
    says: /suspended/,
  },
  {
    cause: 'suspended',
    what: 'the flag in its resources',
    options: { conflictResources: 'answer' },
    arrange: (panel) => panel.suspend(SERVER),
    says: /suspended according to the panel/,
  },
  ...(
    [
      [403, 'no_console_permission'],
      [401, 'unauthorized'],
    ] as const
  ).map(
    ([status, cause]): Row => ({
      cause,
      what: `${status} for credentials only`,
      arrange: (panel) => panel.failRest({ kind: 'refuse', status, shape: 'message', endpoint: 'websocket' }),
      says: new RegExp(`websocket returned ${status}`),
    }),
  ),
  {
    cause: 'forbidden',
    what: '403 for its resources, while the server list accepts the key',
    isPolled: true,
    arrange: (panel) => panel.failRest({ kind: 'refuse', status: 403, endpoint: 'resources' }),
    says: /resources returned 403/,
  },
  {
    cause: 'unauthorized',
    what: '401 for all its calls, while the server list accepts the key',
    arrange: (panel) => panel.failRest({ kind: 'refuse', status: 401, shape: 'message', server: SERVER }),
    says: /returned 401/,
  },
  {
    cause: 'console_limit',
    what: '429 for credentials only',
    arrange: (panel) =>
      panel.failRest({
        kind: 'refuse',
        status: 429,
        endpoint: 'websocket',
        headers: { 'x-ratelimit-limit': '5', 'retry-after': '30' },
      }),
    says: /returned 429/,
  },
  {
    cause: 'panel_error',
    what: '500 for credentials',
    arrange: (panel) => panel.failRest({ kind: 'refuse', status: 500, endpoint: 'websocket' }),
    says: /websocket returned 500/,
  },
];

const nodes: readonly Row[] = [
  {
    cause: 'node_unreachable',
    what: 'the panel responds with 504',
    isPolled: true,
    arrange: (panel) => panel.setNodeDown(SERVER, true),
    says: /returned 504/,
  },
  {
    cause: 'node_unreachable',
    what: 'the panel responds with "missing"',
    isPolled: true,
    options: { unreachable: 'missing' },
    arrange: (panel) => panel.setNodeDown(SERVER, true),
    says: /no data: it can't reach the node/,
  },
  {
    cause: 'node_connection',
    what: 'nothing listens on its port',
    arrange: (panel) => panel.advertise(SERVER, 'ws://127.0.0.1:1/api/servers/x/ws'),
    says: /connecting to the node failed: .*ECONNREFUSED/,
  },
  {
    cause: 'node_connection',
    what: 'the connection is cut',
    arrange: (panel) => panel.failSockets({ kind: 'drop-upgrade' }),
    says: /connecting to the node failed/,
  },
  {
    cause: 'node_dns',
    what: 'its name is unknown',
    // The machine's name service takes real time.
    options: { clock: new SystemClock() },
    arrange: (panel) => panel.advertise(SERVER, 'ws://node.invalid/api/servers/x/ws'),
    says: /connecting to the node failed: .*(?:ENOTFOUND|EAI_AGAIN)/,
  },
  {
    cause: 'node_timeout',
    what: 'the upgrade hangs',
    settings: ['connect_timeout: 300ms'],
    arrange: (panel) => panel.failSockets({ kind: 'hang-upgrade' }),
    says: /connecting to the node timed out/,
  },
  {
    cause: 'node_tls_plain_port',
    what: "wss to a port that doesn't speak TLS",
    arrange: (panel) => panel.advertise(SERVER, panel.secondNodeUrl.replace('http:', 'wss:')),
    says: /connecting to the node failed/,
  },
];

/** The envelope in which the panel passes on a node's response. */
const passedOn = (status: number) =>
  JSON.stringify({
    errors: [
      { code: 'DaemonConnectionException', status: '504', detail: `The node refused. (code: ${status})` },
    ],
  });

const daemonAnswers: readonly Row[] = (
  [
    [403, 'node_token_mismatch'],
    [404, 'server_not_on_node'],
    [500, 'node_error'],
  ] as const
).map(([status, cause]) => ({
  cause,
  what: `the node's ${status} for its resources`,
  isPolled: true,
  arrange: (panel) =>
    panel.failRest({ kind: 'refuse', status: 504, endpoint: 'resources', body: passedOn(status) }),
  says: new RegExp(`resources returned 504: "The node refused. \\(code: ${status}\\)`),
}));

const upgrades: readonly Row[] = [
  {
    cause: 'origin',
    what: 'the panel calls itself by another name',
    options: { expectedOrigin: 'https://games.example.com' },
    says: /\(403\); Origin sent: http:\/\/127\.0\.0\.1:\d+/,
  },
  ...(
    [
      [400, 'too_many_sockets'],
      [302, 'upgrade_redirected'],
      [404, 'upgrade_refused'],
      [407, 'node_proxy'],
      [502, 'upgrade_error'],
    ] as const
  ).map(
    ([status, cause]): Row => ({
      cause,
      what: `the upgrade is refused with ${status}`,
      arrange: (panel) => panel.failSockets({ kind: 'refuse-upgrade', status }),
      says: new RegExp(`\\(${status}\\)`),
    }),
  ),
  {
    cause: 'socket_address_not_allowed',
    what: "socket_hosts doesn't list the node",
    settings: ['socket_hosts: [node.example.com]'],
    says: /not in socket_hosts/,
  },
  ...['http://127.0.0.1/ws', 'nowhere', 'wss://me:secret@127.0.0.1/ws'].map(
    (address): Row => ({
      cause: 'socket_address',
      what: `the address ${address}`,
      arrange: (panel) => panel.advertise(SERVER, address),
      says: /socket address/,
    }),
  ),
];

const sockets: readonly Row[] = [
  {
    cause: 'auth_unanswered',
    what: 'the token gets no response',
    settings: ['auth_timeout: 300ms'],
    arrange: (panel) => panel.failSockets({ kind: 'ignore-auth' }),
    says: /didn't acknowledge the token in time/,
  },
  ...[
    'jwt: exp claim is invalid',
    'jwt: nbf claim is invalid',
    'jwt: created too far in past (denylist)',
  ].map(
    (text): Row => ({
      cause: 'token_clock',
      what: text,
      arrange: (panel) => panel.failSockets({ kind: 'jwt-error-on-auth', text }),
      says: /the node rejected the token: "jwt: /,
    }),
  ),
  {
    cause: 'token_refused',
    what: 'a token that is rejected for an unknown reason',
    arrange: (panel) => panel.failSockets({ kind: 'jwt-error-on-auth', text: 'jwt: out of luck' }),
    says: /out of luck/,
  },
  {
    cause: 'token_wrong_server',
    what: 'a token for another server',
    arrange: (panel) => panel.failSockets({ kind: 'jwt-error-on-auth', text: 'jwt: server uuid mismatch' }),
    says: /server uuid mismatch/,
  },
  {
    cause: 'token_version',
    what: "a token that has the permission, but the node doesn't find it",
    arrange: (panel) =>
      panel.failSockets({ kind: 'jwt-error-on-auth', text: 'jwt: missing connect permission' }),
    says: /missing connect permission/,
  },
  {
    cause: 'closed',
    what: 'closed as soon as it opens',
    arrange: (panel) => panel.failSockets({ kind: 'close-on-open', code: 1011, reason: 'gone' }),
    says: /closed \(code 1011\): "gone"/,
  },
  {
    cause: 'closed_for_good',
    what: 'closed for good',
    arrange: (panel) => panel.failSockets({ kind: 'close-on-open', code: 4400 }),
    says: /closed \(code 4400\)/,
  },
  {
    cause: 'no_stats',
    what: 'open but silent',
    arrange: (panel) => panel.failSockets({ kind: 'silence' }),
    says: /no readable stats/,
  },
];

describe('a problem of one server', () => {
  it.each([...refusals, ...nodes, ...daemonAnswers, ...upgrades, ...sockets])(
    '$cause: $what',
    async (row) => {
      const { options, arrange, settings, cause, says, isPolled = false } = row;
      const clock = options?.clock ?? fastClock();
      const panel = await startSimulator({ servers: [{ name: SERVER }], ...options, clock });
      closers.push(() => panel.stop());
      arrange?.(panel);
      const yaml = configFor(panel, settings);
      const polled = yaml.replace(`"${SERVER}" }`, `"${SERVER}", mode: poll }`);
      const report = await examined({ yaml: isPolled ? polled : yaml, clock });
      expect(problemsOf(report)).toEqual([
        expect.objectContaining({
          cause,
          result: 'failed',
          detail: expect.stringMatching(says) as string,
          servers: [SERVER],
        }),
      ]);
      const shown = shownOf(report);
      expect(shown).toContain(CAUSES[cause].remedy);
      expect(shown).not.toMatch(/ptlc_|eyJ|me:secret/);
    },
  );
});

describe('a node with another daemon token than the panel', () => {
  it('is recognized at once by its daemon error', async () => {
    const clock = new SystemClock();
    const panel = await startSimulator({ servers: [{ name: SERVER }], clock });
    closers.push(() => panel.stop());
    const node = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    closers.push(() => new Promise((resolve) => node.close(() => resolve())));
    await once(node, 'listening');
    const said = 'an unexpected error was encountered while handling this request';
    node.on('connection', (socket) => {
      socket.on('message', () => socket.send(JSON.stringify({ event: 'daemon error', args: [said] })));
    });
    panel.advertise(SERVER, `ws://127.0.0.1:${(node.address() as AddressInfo).port}/ws`);
    const report = await examined({ yaml: configFor(panel), clock });
    expect(problemsOf(report)).toMatchObject([
      {
        cause: 'node_token_mismatch',
        detail: `the node could not verify the token: "${said}"`,
        servers: [SERVER],
      },
    ]);
  });
});

describe('a server that the panel blocks', () => {
  async function held(expected: string, arrange: (panel: Simulator) => void, options: SimulatorOptions = {}) {
    const clock = fastClock();
    const panel = await startSimulator({ servers: [{ name: SERVER }], clock, ...options });
    closers.push(() => panel.stop());
    arrange(panel);
    const yaml = configFor(panel).replace(`"${SERVER}" }`, `"${SERVER}", expect: ${expected} }`);
    return examined({ yaml, clock });
  }

  it.each([
    ['any', 'suspended'],
    ['auto', 'suspended'],
    ['any', 'installing'],
    ['any', 'transferring'],
    ['auto', 'restoring_backup'],
    ['any', 'maintenance'],
  ] as const)('is no failure if expect is %s: %s', async (expected, conflict) => {
    const report = await held(expected, (panel) => panel.setConflict(SERVER, conflict));
    expect(isAllHealthy(report)).toBe(true);
    expect(problemsOf(report)).toEqual([]);
    expect(shownOf(report)).toMatch(new RegExp(`; not a problem with expect: ${expected}\\n`));
  });

  it.each<readonly [string, SimulatorOptions]>([
    ['its socket', { suspendedCredentials: 'issue', conflictResources: 'answer' }],
    ['its resources', { conflictResources: 'answer' }],
  ])('is no failure if it is only visible in %s', async (_what, options) => {
    expect(isAllHealthy(await held('any', (panel) => panel.suspend(SERVER), options))).toBe(true);
  });

  it('is a failure if it is expected to run', async () => {
    const report = await held('running', (panel) => panel.setConflict(SERVER, 'suspended'));
    expect(isAllHealthy(report)).toBe(false);
  });

  it('hides no other problem', async () => {
    const report = await held('any', (panel) => panel.failRest({ kind: 'refuse', status: 404 }));
    expect(isAllHealthy(report)).toBe(false);
  });
});
