import { expect } from 'vitest';
import { PROBE_INTERVAL_MS } from '../../../src/panel/breaker.ts';
import { type DeafPort, startDeafPort } from '../../support/deaf-port.ts';
import { blocked, DARK, STREAMING } from '../../support/fault-picture.ts';
import { type FaultRow, HURRIED, ofPanel } from '../../support/fault-row.ts';
import { type Scene } from '../../support/fault-scene.ts';
import { NEIGHBOURS, STRUCK } from '../../support/fault-stage.ts';
import { type NameService, startNameService } from '../../support/name-service.ts';
import { REQUEST_TIMEOUT_MS, TOKENS_MS } from './bounds.ts';

/** The probe that finds the panel well, and then a token for each server. */
const RECOVERY_MS = PROBE_INTERVAL_MS + TOKENS_MS;

const UNREACHABLE = { ...DARK, panelUp: 0 } as const;

/** One line tells of a panel's trouble, and none of each server's. */
function expectOneLine({ exporter }: Scene): void {
  const loud = exporter.lines.filter(({ level }) => level === 'error' || level === 'warn');
  expect(loud.map(({ message }) => message)).toHaveLength(1);
}

/** Several servers find at once that they need the panel. */
function askForTokens({ panel }: Scene): void {
  for (const server of [STRUCK, ...NEIGHBOURS]) {
    panel.sockets({ kind: 'send', server, event: 'token expiring' });
  }
}

const connections: readonly FaultRow[] = [
  {
    name: 'connections that are refused: the panel is stopped, and its nodes with it',
    arrange: ({ panel }) => panel.stopListening(),
    during: UNREACHABLE,
    reconnects: 'connect_failed',
    log: /can't be reached.*ECONNREFUSED/,
    lift: ({ panel }) => panel.startListening(),
    recoveryMs: RECOVERY_MS,
  },
  {
    name: 'connections that are refused from the first',
    before: ({ panel }) => panel.stopListening(),
    during: { ...UNREACHABLE, condition: 'failing' },
    log: /can't be reached.*ECONNREFUSED/,
    lift: ({ panel }) => panel.startListening(),
    recoveryMs: RECOVERY_MS,
    afterwards: expectOneLine,
  },
];

const NAME = 'panel.faults.test';

function unknownName(): FaultRow {
  let names: NameService | undefined;
  return {
    name: 'a name that does not resolve',
    scene: {
      address: `http://${NAME}`,
      settings: ['allow_insecure: true', 'socket_hosts: [127.0.0.1]'],
    },
    before: ({ panel }) => {
      names = startNameService();
      panel.set({ expectedOrigin: `http://${NAME}:${new URL(panel.url).port}` });
    },
    during: UNREACHABLE,
    log: /the name panel\.faults\.test can't be resolved \(ENOTFOUND\)/,
    lift: () => names?.add(NAME),
    recoveryMs: RECOVERY_MS,
    afterwards: (scene) => expectOneLine(scene),
    clean: () => names?.end(),
  };
}

function deaf(): FaultRow {
  let port: DeafPort | undefined;
  return {
    name: 'connects that hang: the machine does not answer',
    arrange: async ({ panel }) => {
      await panel.stopListening();
      port = await startDeafPort(Number(new URL(panel.url).port));
    },
    during: UNREACHABLE,
    reconnects: 'connect_failed',
    log: /did not answer the connect in time|no answer from .* within 25 s/,
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
    name: 'calls whose headers never come',
    before: ({ panel }) => panel.failRest({ kind: 'hang' }),
    during: UNREACHABLE,
    log: /can't be reached.*no answer from .* within 25 s/,
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: REQUEST_TIMEOUT_MS + RECOVERY_MS,
  },
  {
    name: 'calls whose bodies never end',
    before: ({ panel }) => panel.failRest({ kind: 'hang', before: 'body' }),
    during: UNREACHABLE,
    log: /can't be reached.*no answer from .* within 25 s/,
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: REQUEST_TIMEOUT_MS + RECOVERY_MS,
  },
  {
    name: 'redirects to a login page from every endpoint',
    before: ({ panel }) => panel.failRest({ kind: 'redirect' }),
    during: UNREACHABLE,
    log: /redirects to \/auth\/login; redirects are not followed: check the panel's url/,
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: TOKENS_MS,
  },
  {
    name: 'a key that is refused',
    before: ({ panel }) => panel.revokeKey(panel.apiKey),
    during: { ...blocked('unauthorized'), panelUp: 0 },
    log: /refuses the API key \(401\)/,
    lift: ({ panel }) => panel.acceptKey(panel.apiKey),
    recoveryMs: RECOVERY_MS,
    afterwards: expectOneLine,
  },
];

const LONG_MS = 15 * 60_000;

/** Long enough for what each probe might leave behind to gather. */
const longRefusal: FaultRow = {
  name: 'a key that is refused for a quarter of an hour',
  before: ({ panel }) => panel.revokeKey(panel.apiKey),
  during: { ...blocked('unauthorized'), panelUp: 0 },
  lift: async ({ panel, time, clock, watch }) => {
    const until = clock.now() + LONG_MS;
    time.speed = HURRIED;
    await watch.until(() => expect(clock.now()).toBeGreaterThan(until), 2 * LONG_MS);
    // One probe a minute, after those calls by which the trouble was found.
    expect(panel.record.calls.length).toBeLessThanOrEqual(LONG_MS / PROBE_INTERVAL_MS + 5);
    expect(panel.record.calls.length).toBeGreaterThanOrEqual(LONG_MS / PROBE_INTERVAL_MS - 1);
    panel.acceptKey(panel.apiKey);
  },
  recoveryMs: RECOVERY_MS,
  afterwards: expectOneLine,
};

/** While the sockets' tokens live, what the panel's API says or doesn't say changes nothing for them. */
const outages = [502, 503, 504].map(
  (status): FaultRow => ({
    name: `${status} from a proxy for every call, while the sockets live`,
    arrange: (scene) => {
      scene.panel.failRest({ kind: 'refuse', status, shape: 'html' });
      askForTokens(scene);
    },
    during: { ...STREAMING, panelUp: 0 },
    log: new RegExp(`can't be reached.*answered ${status}`),
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: RECOVERY_MS,
    afterwards: expectOneLine,
  }),
);

const revocation: FaultRow = {
  name: 'a key that is revoked, while the sockets live',
  arrange: (scene) => {
    const { panel } = scene;
    panel.revokeKey(panel.apiKey);
    askForTokens(scene);
  },
  during: { ...STREAMING, panelUp: 0 },
  log: /refuses the API key \(401\)/,
  lift: ({ panel }) => panel.acceptKey(panel.apiKey),
  recoveryMs: RECOVERY_MS,
};

/** What befalls a panel as a whole. */
export const PANEL_ROWS: readonly FaultRow[] = [
  ...connections,
  unknownName(),
  deaf(),
  ...calls,
  longRefusal,
  ...outages,
  revocation,
].map(ofPanel);
