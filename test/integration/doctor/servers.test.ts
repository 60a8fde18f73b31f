import { afterEach, describe, expect, it } from 'vitest';
import type { Cause } from '../../../src/doctor/causes.ts';
import { REMEDIES } from '../../../src/doctor/causes.ts';
import type { ServerStep } from '../../../src/doctor/report.ts';
import { FastClock } from '../../../src/simulator/fast-clock.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../../src/simulator/index.ts';
import { configFor } from '../../support/exporter.ts';
import { examined, results, serverFinding, shownOf } from './examination.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** One cause: how it comes about, and where and how it shows. */
interface Row {
  readonly cause: Cause;
  readonly what: string;
  readonly step: ServerStep;
  readonly options?: SimulatorOptions;
  readonly settings?: readonly string[];
  readonly arrange?: (panel: Simulator) => void;
  readonly says: RegExp;
  /** Of each step, in order: o(k), f(ailed), - (skipped). */
  readonly steps: string;
  /** Runs so many times as fast, where a deadline of the program's own has to pass. */
  readonly speed?: number;
}

const SERVER = 'survival';

const refusals: readonly Row[] = [
  {
    cause: 'not_found',
    what: 'a wrong id, or no access',
    step: 'found',
    arrange: (panel) => panel.failRest({ kind: 'refuse', status: 404 }),
    says: /answered 404: .*no such server/,
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
      says: /answered 409/,
      steps: 'o----f',
    }),
  ),
  {
    cause: 'suspended',
    what: 'its socket opens and is closed with 4409',
    step: 'auth',
    options: { suspendedCredentials: 'issue', conflictResources: 'answer' },
    arrange: (panel) => panel.suspend(SERVER),
    says: /closed \(4409\): "server is suspended"/,
    steps: 'ooof-f',
  },
  {
    cause: 'suspended',
    what: 'the flag of its resources',
    step: 'resources',
    options: { conflictResources: 'answer' },
    arrange: (panel) => panel.suspend(SERVER),
    says: /the server is suspended/,
    steps: 'of---f',
  },
  ...[403, 401].map(
    (status): Row => ({
      cause: 'no_console_permission',
      what: `${status} on credentials alone`,
      step: 'credentials',
      arrange: (panel) => panel.failRest({ kind: 'refuse', status, endpoint: 'websocket' }),
      says: new RegExp(`websocket answered ${status}`),
      steps: 'of---o',
    }),
  ),
  {
    cause: 'forbidden',
    what: '403 on its resources, while the listing takes the key',
    step: 'resources',
    arrange: (panel) => panel.failRest({ kind: 'refuse', status: 403, endpoint: 'resources' }),
    says: /lacks the permission for this server/,
    steps: 'ooooof',
  },
  {
    cause: 'unauthorized',
    what: '401 on all that is asked of it, while the listing takes the key',
    step: 'found',
    arrange: (panel) => panel.failRest({ kind: 'refuse', status: 401, server: SERVER }),
    says: /answered 401/,
    steps: 'f-----',
  },
  {
    cause: 'console_limit',
    what: '429 of the credentials alone',
    step: 'credentials',
    arrange: (panel) =>
      panel.failRest({
        kind: 'refuse',
        status: 429,
        endpoint: 'websocket',
        headers: { 'x-ratelimit-limit': '5', 'retry-after': '30' },
      }),
    says: /answered 429/,
    steps: 'of---o',
  },
  {
    cause: 'panel_error',
    what: '500 on credentials',
    step: 'credentials',
    arrange: (panel) => panel.failRest({ kind: 'refuse', status: 500, endpoint: 'websocket' }),
    says: /answered 500/,
    steps: 'of---o',
  },
  {
    cause: 'bad_answer',
    what: 'credentials that are no JSON',
    step: 'credentials',
    arrange: (panel) => panel.failRest({ kind: 'garbage', endpoint: 'websocket' }),
    says: /not as a panel would/,
    steps: 'of---o',
  },
];

const nodes: readonly Row[] = [
  {
    cause: 'node_unreachable',
    what: 'the panel answers 504',
    step: 'resources',
    arrange: (panel) => panel.setNodeDown(SERVER, true),
    says: /answered 504.*can't reach the server's node/,
    steps: 'oof--f',
  },
  {
    cause: 'node_unreachable',
    what: 'the panel says "missing"',
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
    says: /nothing listens there/,
    steps: 'oof--o',
  },
  {
    cause: 'node_connection',
    what: 'the connection is cut',
    step: 'upgrade',
    arrange: (panel) => panel.failSockets({ kind: 'drop-upgrade' }),
    says: /the node could not be reached/,
    steps: 'oof--o',
  },
  {
    cause: 'node_dns',
    what: 'its name is unknown',
    step: 'upgrade',
    arrange: (panel) => panel.advertise(SERVER, 'ws://node.invalid/api/servers/x/ws'),
    says: /name does not resolve|name server did not answer/,
    steps: 'oof--o',
  },
  {
    cause: 'node_timeout',
    what: 'the upgrade hangs',
    step: 'upgrade',
    settings: ['connect_timeout: 300ms'],
    arrange: (panel) => panel.failSockets({ kind: 'hang-upgrade' }),
    says: /did not answer the connect in time/,
    steps: 'oof--o',
  },
  {
    cause: 'node_tls_plain_port',
    what: 'wss to a port that speaks none',
    step: 'upgrade',
    arrange: (panel) => panel.advertise(SERVER, panel.secondNodeUrl.replace('http:', 'wss:')),
    says: /the node could not be reached/,
    steps: 'oof--o',
  },
];

const upgrades: readonly Row[] = [
  {
    cause: 'origin',
    what: 'the panel calls itself something else',
    step: 'upgrade',
    options: { expectedOrigin: 'https://games.example.com' },
    says: /403.*another Origin than "http:\/\/127\.0\.0\.1:\d+"; set origin/,
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
      what: `an upgrade that is answered with ${status}`,
      step: 'upgrade',
      arrange: (panel) => panel.failSockets({ kind: 'refuse-upgrade', status }),
      says: new RegExp(`\\(${status}\\)`),
      steps: 'oof--o',
    }),
  ),
  {
    cause: 'socket_address_not_allowed',
    what: 'a node that socket_hosts leaves out',
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
    what: 'nobody answers the token',
    step: 'auth',
    settings: ['auth_timeout: 300ms'],
    arrange: (panel) => panel.failSockets({ kind: 'ignore-auth' }),
    says: /did not answer the token in time/,
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
      says: /the node refused the token: "jwt: /,
      steps: 'ooof-o',
    }),
  ),
  {
    cause: 'token_refused',
    what: 'a token without the permission',
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
    says: /closed \(1011\): "gone"/,
    steps: 'ooof-o',
  },
  {
    cause: 'token_refused',
    what: 'closed for good',
    step: 'auth',
    arrange: (panel) => panel.failSockets({ kind: 'close-on-open', code: 4400 }),
    says: /closed \(4400\)/,
    steps: 'ooof-o',
  },
  {
    cause: 'no_stats',
    what: 'open but silent',
    step: 'stats',
    arrange: (panel) => panel.failSockets({ kind: 'silence' }),
    says: /open but silent/,
    steps: 'oooofo',
    speed: 5,
  },
];

const letters = { ok: 'o', failed: 'f', skipped: '-', warning: 'w' };

describe('what ails one server', () => {
  it.each([...refusals, ...nodes, ...upgrades, ...sockets])('$cause: $what', async (row) => {
    const { options, arrange, settings, step, cause, says, speed } = row;
    const clock = speed === undefined ? {} : { clock: new FastClock(speed) };
    const panel = await startSimulator({ servers: [{ name: SERVER }], ...clock, ...options });
    closers.push(() => panel.stop());
    arrange?.(panel);
    const report = await examined({ yaml: configFor(panel, settings), ...clock });
    expect(serverFinding(report, step)).toMatchObject({ step, cause, detail: expect.stringMatching(says) });
    expect(
      results(report)
        .map((result) => letters[result as keyof typeof letters])
        .join(''),
    ).toBe(row.steps);
    const shown = shownOf(report);
    expect(shown).toContain(REMEDIES[cause].change);
    expect(shown).not.toMatch(/ptlc_|eyJ|me:secret/);
    const tokens = panel.record.calls.filter(({ endpoint }) => endpoint === 'websocket');
    expect(tokens.length).toBeLessThanOrEqual(1);
  });
});
