// Faults of a whole panel.
import { expect } from 'vitest';
import type { CauseCode } from '../../../src/domain/problems.ts';
import type { RestFault } from '../../../src/simulator/simulator-schema.ts';
import { type DeafPort, startDeafPort } from '../../support/deaf-port.ts';
import { DARK, POLLED, STREAMING } from '../../support/fault-picture.ts';
import { type FaultRow, ofPanel } from '../../support/fault-row.ts';
import type { Scene } from '../../support/fault-scene.ts';
import { NEIGHBORS, TARGET } from '../../support/fault-stage.ts';
import { type NameService, startNameService } from '../../support/name-service.ts';
import { REQUEST_TIMEOUT_MS, SHORT_TRIAL_GAP_MS, SLOW_MS, TOKENS_MS } from './bounds.ts';

/** The time for the probe that detects the panel's recovery, and for a token for each server. */
const RECOVERY_MS = SHORT_TRIAL_GAP_MS + TOKENS_MS;

const IP_LIMIT =
  'This IP address (203.0.113.7) does not have permission to access the API using these credentials.';

const UNREACHABLE = { ...DARK, panelUp: 0 } as const;

/** Asserts that one line reports the panel's problem, and no line those of its servers. */
function expectOneLine({ exporter }: Scene): void {
  const loud = exporter.lines.filter(({ level }) => level === 'error' || level === 'warn');
  expect(loud.map(({ message }) => message)).toHaveLength(1);
}

/** Makes several servers need the panel at the same time. */
function askForTokens({ panel }: Scene): void {
  for (const server of [TARGET, ...NEIGHBORS]) {
    panel.sockets({ kind: 'send', server, event: 'token expiring' });
  }
}

const connections: readonly FaultRow[] = [
  {
    name: 'refused connections: the panel is stopped, and its nodes with it',
    arrange: ({ panel }) => panel.stopListening(),
    during: UNREACHABLE,
    reconnects: 'connect_failed',
    cause: 'connection',
    log: /\): unreachable: .*ECONNREFUSED/,
    lift: ({ panel }) => panel.startListening(),
    recoveryMs: RECOVERY_MS,
  },
  {
    name: 'connections that are refused from the start',
    before: ({ panel }) => panel.stopListening(),
    during: { ...UNREACHABLE, condition: 'failing' },
    cause: 'connection',
    log: /\): unreachable: .*ECONNREFUSED/,
    lift: ({ panel }) => panel.startListening(),
    recoveryMs: RECOVERY_MS,
    afterwards: expectOneLine,
  },
];

const NAME = 'panel.faults.test';

function unknownName(): FaultRow {
  let names: NameService | undefined;
  return {
    name: "a name that can't be resolved",
    scene: {
      address: `http://${NAME}`,
      settings: ['allow_insecure: true', 'socket_hosts: [127.0.0.1]'],
    },
    before: ({ panel }) => {
      names = startNameService();
      panel.set({ expectedOrigin: `http://${NAME}:${new URL(panel.url).port}` });
    },
    during: UNREACHABLE,
    cause: 'dns',
    log: /resolving panel\.faults\.test failed \(ENOTFOUND\)/,
    lift: () => names?.add(NAME),
    recoveryMs: RECOVERY_MS,
    afterwards: (scene) => expectOneLine(scene),
    clean: () => names?.end(),
  };
}

function deaf(): FaultRow {
  let port: DeafPort | undefined;
  return {
    name: "connects that hang, because the machine doesn't respond",
    arrange: async ({ panel }) => {
      await panel.stopListening();
      port = await startDeafPort(Number(new URL(panel.url).port));
    },
    during: UNREACHABLE,
    reconnects: 'connect_failed',
    cause: 'timeout',
    log: /connecting to the node timed out|no response to a .* call within 10 s/,
    lift: async ({ panel }) => {
      await port?.end();
      port = undefined;
      await panel.startListening();
    },
    recoveryMs: REQUEST_TIMEOUT_MS + RECOVERY_MS,
    clean: () => port?.end(),
  };
}

const calls: readonly FaultRow[] = [
  {
    name: 'calls whose headers never arrive',
    before: ({ panel }) => panel.failRest({ kind: 'hang' }),
    during: UNREACHABLE,
    cause: 'timeout',
    log: /\): timed out: .*no response to a .* call within 10 s/,
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: REQUEST_TIMEOUT_MS + RECOVERY_MS,
  },
  {
    name: 'calls whose bodies never end',
    before: ({ panel }) => panel.failRest({ kind: 'hang', before: 'body' }),
    during: UNREACHABLE,
    cause: 'timeout',
    log: /\): timed out: .*no response to a .* call within 10 s/,
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: REQUEST_TIMEOUT_MS + RECOVERY_MS,
  },
  {
    name: 'redirects to a login page from every endpoint',
    before: ({ panel }) => panel.failRest({ kind: 'redirect' }),
    during: UNREACHABLE,
    cause: 'redirect',
    log: /redirect to \/auth\/login\. Set `url` to the panel's address/,
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: RECOVERY_MS,
    afterwards: expectOneLine,
  },
  {
    name: 'a rejected key',
    before: ({ panel }) => panel.revokeKey(panel.apiKey),
    during: { ...DARK, panelUp: 0 },
    cause: 'key_refused',
    log: /API key rejected: .*returned 401/,
    lift: ({ panel }) => panel.acceptKey(panel.apiKey),
    recoveryMs: RECOVERY_MS,
    afterwards: expectOneLine,
  },
];

/** The panel fails, but the open sockets stream as long as their tokens are valid. */
const outages = [502, 503, 504].map(
  (status): FaultRow => ({
    name: `${status} from a proxy for every call while sockets are open`,
    arrange: (scene) => {
      scene.panel.failRest({ kind: 'refuse', status, shape: 'html' });
      askForTokens(scene);
    },
    during: { ...STREAMING, panelUp: 0 },
    cause: status === 504 ? 'timeout' : 'panel_down',
    log: new RegExp(`(?:down|timed out): .*returned ${status}`),
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: RECOVERY_MS,
    afterwards: expectOneLine,
  }),
);

const revocation: FaultRow = {
  name: 'a key that is revoked while sockets are open',
  arrange: (scene) => {
    const { panel } = scene;
    panel.revokeKey(panel.apiKey);
    askForTokens(scene);
  },
  during: { ...STREAMING, panelUp: 0 },
  cause: 'key_refused',
  log: /API key rejected: .*returned 401/,
  lift: ({ panel }) => panel.acceptKey(panel.apiKey),
  recoveryMs: RECOVERY_MS,
};

/** Responses to every call, from the start. */
const ANSWERS: readonly (readonly [what: string, fault: RestFault, cause: CauseCode])[] = [
  [
    'a firewall page',
    { kind: 'refuse', status: 403, shape: 'html', body: '<title>Attention Required! | Cloudflare</title>' },
    'challenge_page',
  ],
  [
    "a proxy's 404 in plain text",
    { kind: 'refuse', status: 404, body: '404 page not found\n', headers: { 'content-type': 'text/plain' } },
    'not_a_panel',
  ],
  [
    "the panel's own 404, for an address with a wrong path",
    { kind: 'refuse', status: 404, shape: 'errors' },
    'not_a_panel',
  ],
  ['a login page', { kind: 'garbage', body: '<!doctype html><title>Sign in</title>' }, 'login_page'],
  ['JSON of another program', { kind: 'garbage', body: '{"status":"ok"}' }, 'bad_answer'],
  ['500 as html', { kind: 'refuse', status: 500, shape: 'html' }, 'panel_error'],
  ['500 as errors', { kind: 'refuse', status: 500, shape: 'errors' }, 'panel_error'],
  ['closed connections', { kind: 'drop' }, 'https_needed'],
  ['a redirect to https', { kind: 'redirect', location: 'https://127.0.0.1/auth/login' }, 'https_needed'],
  [
    'a key that is limited to other addresses',
    { kind: 'refuse', status: 403, shape: 'errors', detail: IP_LIMIT },
    'key_address',
  ],
  [
    'an application key',
    {
      kind: 'refuse',
      status: 403,
      shape: 'errors',
      detail:
        'You are attempting to use an application API key on an endpoint that requires a client API key.',
    },
    'application_key',
  ],
  [
    'an account without two-factor authentication',
    { kind: 'refuse', status: 400, shape: 'errors', code: 'TwoFactorAuthRequiredException' },
    'key_two_factor',
  ],
];

const answers = ANSWERS.map(
  ([what, fault, cause]): FaultRow => ({
    name: `every call fails because of ${what}`,
    before: ({ panel }) => panel.failRest(fault),
    during: UNREACHABLE,
    cause,
    lift: ({ panel }) => panel.clearFaults(),
    // The time includes the trial of the suspicion.
    recoveryMs: RECOVERY_MS,
    afterwards: expectOneLine,
  }),
);

/** A problem of the account. Its servers are polled. */
const noConsoles: FaultRow = {
  name: 'an account without the console permission on any server',
  before: ({ panel }) => panel.failRest({ kind: 'refuse', status: 403, endpoint: 'websocket' }),
  during: POLLED,
  cause: 'key_console_permission',
  lift: ({ panel }) => panel.clearFaults(),
  recoveryMs: SLOW_MS + TOKENS_MS,
};

/** An https address of a port without TLS. */
const noTls: FaultRow = {
  name: 'a port without TLS behind an https address',
  scene: { address: 'https://127.0.0.1' },
  before: () => undefined,
  during: UNREACHABLE,
  cause: 'tls_plain_port',
  after: UNREACHABLE,
  recoveryMs: 0,
};

/** All faults of panels. */
export const PANEL_ROWS: readonly FaultRow[] = [
  ...connections,
  unknownName(),
  deaf(),
  ...calls,
  ...outages,
  revocation,
  ...answers,
  noConsoles,
  noTls,
].map(ofPanel);
