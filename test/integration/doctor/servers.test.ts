import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { isAllHealthy, problemsOf, type ServerStep } from '../../../src/doctor/report.ts';
import { SystemClock } from '../../../src/domain/clock.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { configFor, fastClock } from '../../support/exporter.ts';
import { examined, results, serverFinding, shownOf } from './examination.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A cause: how it arises, and where and how it is reported. */
interface Row {
  readonly cause: CauseCode;
  readonly what: string;
  readonly step: ServerStep;
  readonly options?: SimulatorOptions;
  readonly settings?: readonly string[];
  readonly arrange?: (panel: Simulator) => void;
  readonly says: RegExp;
  /** The result of each step, in order: o(k), f(ailed), - (skipped). */
  readonly steps: string;
}

const SERVER = 'survival';

const refusals: readonly Row[] = [
  {
    cause: 'not_found',
    what: 'a wrong id, or no access to it',
    step: 'found',
    arrange: (panel) => panel.failRest({ kind: 'refuse', status: 404, server: SERVER }),
    says: /returned 404: .*could not be found/,
    steps: 'f-----',
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
      step: 'resources',
      arrange: (panel) => panel.setConflict(SERVER, conflict),
      says: /returned 409/,
      steps: 'o----f',
    }),
  ),
  {
    cause: 'suspended',
    what: 'the socket opens and is closed with 4409',
    step: 'auth',
    options: { suspendedCredentials: 'issue', conflictResources: 'answer' },
    arrange: (panel) => panel.suspend(SERVER),
    says: /closed \(code 4409\): "server is suspended"/,
    steps: 'ooof-f',
  },
  {
    cause: 'suspended',
    what: 'the flag in its resources',
    step: 'resources',
    options: { conflictResources: 'answer' },
    arrange: (panel) => panel.suspend(SERVER),
    says: /suspended according to the panel/,
    steps: 'of---f',
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
      step: 'credentials',
      arrange: (panel) => panel.failRest({ kind: 'refuse', status, shape: 'message', endpoint: 'websocket' }),
      says: new RegExp(`websocket returned ${status}`),
      steps: 'of---o',
    }),
  ),
  {
    cause: 'forbidden',
    what: '403 for its resources, while the server list accepts the key',
    step: 'resources',
    arrange: (panel) => panel.failRest({ kind: 'refuse', status: 403, endpoint: 'resources' }),
    says: /resources returned 403/,
    steps: 'ooooof',
  },
  {
    cause: 'unauthorized',
    what: '401 for all its calls, while the server list accepts the key',
    step: 'found',
    arrange: (panel) => panel.failRest({ kind: 'refuse', status: 401, shape: 'message', server: SERVER }),
    says: /returned 401/,
    steps: 'f-----',
  },
  {
    cause: 'console_limit',
    what: '429 for credentials only',
    step: 'credentials',
    arrange: (panel) =>
      panel.failRest({
        kind: 'refuse',
        status: 429,
        endpoint: 'websocket',
        headers: { 'x-ratelimit-limit': '5', 'retry-after': '30' },
      }),
    says: /returned 429/,
    steps: 'of---o',
  },
  {
    cause: 'panel_error',
    what: '500 for credentials',
    step: 'credentials',
    arrange: (panel) => panel.failRest({ kind: 'refuse', status: 500, endpoint: 'websocket' }),
    says: /returned 500/,
    steps: 'of---o',
  },
  {
    cause: 'bad_answer',
    what: "credentials that aren't JSON",
    step: 'credentials',
    arrange: (panel) => panel.failRest({ kind: 'garbage', endpoint: 'websocket' }),
    says: /returned 200: /,
    steps: 'of---o',
  },
];

const nodes: readonly Row[] = [
  {
    cause: 'node_unreachable',
    what: 'the panel responds with 504',
    step: 'resources',
    arrange: (panel) => panel.setNodeDown(SERVER, true),
    says: /returned 504/,
    steps: 'oof--f',
  },
  {
    cause: 'node_unreachable',
    what: 'the panel responds with "missing"',
    step: 'resources',
    options: { unreachable: 'missing' },
    arrange: (panel) => panel.setNodeDown(SERVER, true),
    says: /no data: it can't reach the node/,
    steps: 'oof--f',
  },
  {
    cause: 'node_connection',
    what: 'nothing listens on its port',
    step: 'upgrade',
    arrange: (panel) => panel.advertise(SERVER, 'ws://127.0.0.1:1/api/servers/x/ws'),
    says: /connecting to the node failed: .*ECONNREFUSED/,
    steps: 'oof--o',
  },
  {
    cause: 'node_connection',
    what: 'the connection is cut',
    step: 'upgrade',
    arrange: (panel) => panel.failSockets({ kind: 'drop-upgrade' }),
    says: /connecting to the node failed/,
    steps: 'oof--o',
  },
  {
    cause: 'node_dns',
    what: 'its name is unknown',
    step: 'upgrade',
    // The machine's name service takes real time.
    options: { clock: new SystemClock() },
    arrange: (panel) => panel.advertise(SERVER, 'ws://node.invalid/api/servers/x/ws'),
    says: /connecting to the node failed: .*(?:ENOTFOUND|EAI_AGAIN)/,
    steps: 'oof--o',
  },
  {
    cause: 'node_timeout',
    what: 'the upgrade hangs',
    step: 'upgrade',
    settings: ['connect_timeout: 300ms'],
    arrange: (panel) => panel.failSockets({ kind: 'hang-upgrade' }),
    says: /connecting to the node timed out/,
    steps: 'oof--o',
  },
  {
    cause: 'node_tls_plain_port',
    what: "wss to a port that doesn't speak TLS",
    step: 'upgrade',
    arrange: (panel) => panel.advertise(SERVER, panel.secondNodeUrl.replace('http:', 'wss:')),
    says: /connecting to the node failed/,
    steps: 'oof--o',
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
  step: 'resources',
  arrange: (panel) =>
    panel.failRest({ kind: 'refuse', status: 504, endpoint: 'resources', body: passedOn(status) }),
  says: new RegExp(`resources returned 504: "The node refused. \\(code: ${status}\\)`),
  steps: 'ooooof',
}));

const upgrades: readonly Row[] = [
  {
    cause: 'origin',
    what: 'the panel calls itself by another name',
    step: 'upgrade',
    options: { expectedOrigin: 'https://games.example.com' },
    says: /\(403\); Origin sent: http:\/\/127\.0\.0\.1:\d+/,
    steps: 'oof--o',
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
      step: 'upgrade',
      arrange: (panel) => panel.failSockets({ kind: 'refuse-upgrade', status }),
      says: new RegExp(`\\(${status}\\)`),
      steps: 'oof--o',
    }),
  ),
  {
    cause: 'socket_address_not_allowed',
    what: "socket_hosts doesn't list the node",
    step: 'upgrade',
    settings: ['socket_hosts: [node.example.com]'],
    says: /not in socket_hosts/,
    steps: 'oof--o',
  },
  ...['http://127.0.0.1/ws', 'nowhere', 'wss://me:secret@127.0.0.1/ws'].map(
    (address): Row => ({
      cause: 'socket_address',
      what: `the address ${address}`,
      step: 'upgrade',
      arrange: (panel) => panel.advertise(SERVER, address),
      says: /socket address/,
      steps: 'oof--o',
    }),
  ),
];

const sockets: readonly Row[] = [
  {
    cause: 'auth_unanswered',
    what: 'the token gets no response',
    step: 'auth',
    settings: ['auth_timeout: 300ms'],
    arrange: (panel) => panel.failSockets({ kind: 'ignore-auth' }),
    says: /didn't acknowledge the token in time/,
    steps: 'ooof-o',
  },
  ...[
    'jwt: exp claim is invalid',
    'jwt: nbf claim is invalid',
    'jwt: created too far in past (denylist)',
  ].map(
    (text): Row => ({
      cause: 'token_clock',
      what: text,
      step: 'auth',
      arrange: (panel) => panel.failSockets({ kind: 'jwt-error-on-auth', text }),
      says: /the node rejected the token: "jwt: /,
      steps: 'ooof-o',
    }),
  ),
  {
    cause: 'token_refused',
    what: 'a token that is rejected for an unknown reason',
    step: 'auth',
    arrange: (panel) => panel.failSockets({ kind: 'jwt-error-on-auth', text: 'jwt: out of luck' }),
    says: /out of luck/,
    steps: 'ooof-o',
  },
  {
    cause: 'token_wrong_server',
    what: 'a token for another server',
    step: 'auth',
    arrange: (panel) => panel.failSockets({ kind: 'jwt-error-on-auth', text: 'jwt: server uuid mismatch' }),
    says: /server uuid mismatch/,
    steps: 'ooof-o',
  },
  {
    cause: 'token_version',
    what: "a token that has the permission, but the node doesn't find it",
    step: 'auth',
    arrange: (panel) =>
      panel.failSockets({ kind: 'jwt-error-on-auth', text: 'jwt: missing connect permission' }),
    says: /missing connect permission/,
    steps: 'ooof-o',
  },
  {
    cause: 'closed',
    what: 'closed as soon as it opens',
    step: 'auth',
    arrange: (panel) => panel.failSockets({ kind: 'close-on-open', code: 1011, reason: 'gone' }),
    says: /closed \(code 1011\): "gone"/,
    steps: 'ooof-o',
  },
  {
    cause: 'closed_for_good',
    what: 'closed for good',
    step: 'auth',
    arrange: (panel) => panel.failSockets({ kind: 'close-on-open', code: 4400 }),
    says: /closed \(code 4400\)/,
    steps: 'ooof-o',
  },
  {
    cause: 'no_stats',
    what: 'open but silent',
    step: 'stats',
    arrange: (panel) => panel.failSockets({ kind: 'silence' }),
    says: /no readable stats/,
    steps: 'oooofo',
  },
];

const letters = { ok: 'o', failed: 'f', skipped: '-', warning: 'w' };

describe('a problem of one server', () => {
  it.each([...refusals, ...nodes, ...daemonAnswers, ...upgrades, ...sockets])(
    '$cause: $what',
    async (row) => {
      const { options, arrange, settings, step, cause, says } = row;
      const clock = options?.clock ?? fastClock();
      const panel = await startSimulator({ servers: [{ name: SERVER }], ...options, clock });
      closers.push(() => panel.stop());
      arrange?.(panel);
      const report = await examined({ yaml: configFor(panel, settings), clock });
      expect(serverFinding(report, step)).toMatchObject({ step, cause, detail: expect.stringMatching(says) });
      expect(
        results(report)
          .map((result) => letters[result as keyof typeof letters])
          .join(''),
      ).toBe(row.steps);
      const shown = shownOf(report);
      expect(shown).toContain(CAUSES[cause].remedy);
      expect(shown).not.toMatch(/ptlc_|eyJ|me:secret/);
      const tokens = panel.record.calls.filter(({ endpoint }) => endpoint === 'websocket');
      expect(tokens.length).toBeLessThanOrEqual(1);
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
    expect(serverFinding(report, 'auth')).toMatchObject({
      result: 'failed',
      cause: 'node_token_mismatch',
      detail: `the node could not verify the token: "${said}"`,
    });
    expect(results(report)).toEqual(['ok', 'ok', 'ok', 'failed', 'skipped', 'ok']);
    // Without the daemon's words, the check would wait for the token's deadline of 12 s.
    expect(report.panels[0]?.servers[0]?.durationMs).toBeLessThan(6_000);
  });
});

describe('servers with different refusals', () => {
  it('are listed separately even if the cause is the same', async () => {
    const said = [
      'jwt: server uuid mismatch',
      'jwt: missing connect permission',
      'jwt: out of luck',
      'jwt: out of patience',
      'jwt: out of patience',
    ];
    const clock = fastClock();
    const panel = await startSimulator({ servers: said.length, rateLimitPerMinute: 60_000, clock });
    closers.push(() => panel.stop());
    const names = panel.servers.map(({ name }) => name);
    for (const [index, text] of said.entries()) {
      panel.failSockets({ kind: 'jwt-error-on-auth', text, server: panel.servers[index]?.uuid });
    }
    const report = await examined({ yaml: configFor(panel), clock });
    expect(problemsOf(report).map(({ cause, servers }) => [cause, servers])).toEqual([
      ['token_wrong_server', [names[0]]],
      ['token_version', [names[1]]],
      ['token_refused', [names[2]]],
      ['token_refused', names.slice(3)],
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
    expect(results(report)).toEqual(['ok', 'skipped', 'skipped', 'skipped', 'skipped', 'skipped']);
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
