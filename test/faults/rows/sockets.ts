import { expect } from 'vitest';
import { PING_INTERVAL_MS } from '../../../src/session/heartbeat.ts';
import { SILENCE_MS } from '../../../src/session/transitions.ts';
import type { SocketFault } from '../../../src/simulator/schema.ts';
import { blocked, POLLED, STREAMING } from '../../support/fault-picture.ts';
import { type FaultRow } from '../../support/fault-row.ts';
import { type Scene } from '../../support/fault-scene.ts';
import { STRUCK, STRUCK_UUID } from '../../support/fault-stage.ts';
import { AT_ONCE_MS, AUTH_TIMEOUT_MS, CONNECT_TIMEOUT_MS, SLOW_MS, TOKENS_MS } from './bounds.ts';

/** The struck server's socket is lost, and the next ones meet this. */
function lastingFault(fault: SocketFault): Pick<FaultRow, 'arrange' | 'lift' | 'during'> {
  return {
    arrange: ({ panel }) => {
      panel.failSockets({ ...fault, server: STRUCK });
      panel.sockets({ kind: 'drop', server: STRUCK });
    },
    during: POLLED,
    lift: ({ panel }) => panel.clearFaults(),
  };
}

const upgrades: readonly FaultRow[] = [
  {
    name: 'upgrades that are refused with 403: another Origin is wanted',
    ...lastingFault({ kind: 'refuse-upgrade', status: 403 }),
    reconnects: 'upgrade_refused',
    log: /set origin for this panel to the panel's own address/,
    recoveryMs: SLOW_MS,
  },
  {
    name: 'upgrades that are refused with 400: the socket table is full',
    ...lastingFault({ kind: 'refuse-upgrade', status: 400 }),
    reconnects: 'upgrade_refused',
    log: /\(400\): it holds too many sockets of this server/,
    recoveryMs: TOKENS_MS,
  },
  ...[302, 401, 404, 500, 502, 503, 504].map(answeredUpgrade),
];

function answeredUpgrade(status: number): FaultRow {
  return {
    name: `upgrades that are answered with ${status}`,
    ...lastingFault({ kind: 'refuse-upgrade', status, location: '/auth/login' }),
    reconnects: 'upgrade_refused',
    log: new RegExp(`refused the socket's upgrade \\(${status}\\)`),
    recoveryMs: TOKENS_MS,
  };
}

const handshakes: readonly FaultRow[] = [
  {
    name: 'upgrades that hang',
    ...lastingFault({ kind: 'hang-upgrade' }),
    reconnects: 'connect_failed',
    log: /did not answer the connect in time/,
    recoveryMs: CONNECT_TIMEOUT_MS + AT_ONCE_MS,
  },
  {
    name: 'upgrades that are dropped',
    ...lastingFault({ kind: 'drop-upgrade' }),
    reconnects: 'connect_failed',
    log: /the node could not be reached/,
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: 'auth that nobody answers',
    ...lastingFault({ kind: 'ignore-auth' }),
    reconnects: 'auth_timeout',
    log: /did not answer the token in time/,
    recoveryMs: AUTH_TIMEOUT_MS + AT_ONCE_MS,
  },
  {
    name: 'sockets that are half open from the first',
    ...lastingFault({ kind: 'half-open-on-open' }),
    reconnects: 'auth_timeout',
    recoveryMs: AUTH_TIMEOUT_MS + AT_ONCE_MS,
  },
];

/** What daemons say of tokens, and how long a server is left alone after it. */
const JWT_ERRORS: readonly (readonly [text: string, recoveryMs: number])[] = [
  ['jwt: exp claim is invalid', TOKENS_MS],
  ['jwt: token is expired', TOKENS_MS],
  ['jwt: created too far in past (denylist)', TOKENS_MS],
  ['jwt: no permission to connect to this server', SLOW_MS],
  ['jwt: missing connect permission', SLOW_MS],
  ['jwt: malformed or wrongly signed token', SLOW_MS],
  ['no jwt present', SLOW_MS],
];

function refusedToken([text, recoveryMs]: (typeof JWT_ERRORS)[number]): FaultRow {
  return {
    name: `"${text}" in answer to auth`,
    ...lastingFault({ kind: 'jwt-error-on-auth', text }),
    reconnects: 'auth_refused',
    log: new RegExp(text.replaceAll(/[()]/g, '\\$&')),
    recoveryMs,
  };
}

const opened = ({ panel }: Scene) => panel.record.sockets(STRUCK_UUID).opened;
const tokens = ({ panel }: Scene) =>
  panel.record.calls.filter(({ endpoint, server }) => endpoint === 'websocket' && server === STRUCK_UUID);

/** Later than this after an auth, a refusal no longer speaks against the token itself. */
const SETTLED_MS = 35_000;

const revokedTokens: readonly FaultRow[] = [
  {
    name: '"jwt: exp claim is invalid" in place of events',
    arrange: async (scene) => {
      await scene.watch.until(() => expect(scene.clock.now()).toBeGreaterThan(SETTLED_MS), SETTLED_MS);
      scene.panel.sockets({ kind: 'expire', server: STRUCK });
    },
    during: STREAMING,
    shows: (_, scene) => expect(tokens(scene).length).toBe(2),
    // The token is renewed on the socket that there is.
    afterwards: (scene) => expect(opened(scene)).toBe(1),
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: '"jwt: no permission to connect" while it streams',
    arrange: ({ panel }) => {
      const args = ['jwt: no permission to connect to this server'];
      panel.sockets({ kind: 'send', server: STRUCK, event: 'jwt error', args });
    },
    during: POLLED,
    reconnects: 'auth_refused',
    recoveryMs: SLOW_MS,
  },
];

const closes = [1000, 1001, 1009, 1011].map(
  (code): FaultRow => ({
    name: `sockets that are closed with ${code} as soon as they open`,
    arrange: ({ panel }) => {
      panel.failSockets({ kind: 'close-on-open', server: STRUCK, code });
      panel.sockets({ kind: 'close', server: STRUCK, code });
    },
    during: POLLED,
    reconnects: 'closed',
    log: new RegExp(`the socket was closed \\(${code}\\)`),
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: AT_ONCE_MS,
  }),
);

const losses: readonly FaultRow[] = [
  {
    name: 'a socket that is closed without a frame (1006)',
    arrange: ({ panel }) => void panel.sockets({ kind: 'drop', server: STRUCK }),
    during: STREAMING,
    reconnects: 'closed',
    // With the token that still lives.
    afterwards: (scene) => expect(tokens(scene).length).toBe(1),
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: 'a socket that is closed with 4400: for good',
    arrange: ({ panel }) => void panel.sockets({ kind: 'close', server: STRUCK, code: 4400 }),
    during: POLLED,
    reconnects: 'closed',
    recoveryMs: SLOW_MS,
  },
  {
    name: 'a socket that is closed with 4409: suspended',
    arrange: ({ panel }) =>
      void panel.sockets({ kind: 'close', server: STRUCK, code: 4409, reason: 'server is suspended' }),
    during: blocked('suspended'),
    reconnects: 'closed',
    log: /4409\): \\"server is suspended/,
    recoveryMs: SLOW_MS,
  },
  {
    name: 'a frame of over 1 MiB',
    arrange: ({ panel }) => void panel.sockets({ kind: 'oversize', server: STRUCK }),
    during: STREAMING,
    shows: (scraped) => {
      const labels = { panel: 'main', kind: 'oversize' };
      expect(scraped.value('gameserver_exporter_bad_messages_total', labels)).toBe(1);
    },
    reconnects: 'closed',
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: 'a half-open socket, and no other to be had',
    arrange: ({ panel }) => {
      panel.failSockets({ kind: 'hang-upgrade', server: STRUCK });
      panel.sockets({ kind: 'half-open', server: STRUCK });
    },
    during: POLLED,
    reconnects: 'silent',
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: CONNECT_TIMEOUT_MS + AT_ONCE_MS,
  },
  {
    name: 'a half-open socket, found out by silence or by a ping',
    arrange: ({ panel }) => void panel.sockets({ kind: 'half-open', server: STRUCK }),
    during: STREAMING,
    shows: (_, scene) => expect(opened(scene)).toBe(2),
    recoveryMs: Math.max(3 * SILENCE_MS, 2 * PING_INTERVAL_MS),
  },
];

/** What befalls one server's socket: its upgrade, its auth, its frames and its end. */
export const SOCKET_ROWS: readonly FaultRow[] = [
  ...upgrades,
  ...handshakes,
  ...JWT_ERRORS.map(refusedToken),
  ...revokedTokens,
  ...closes,
  ...losses,
];
