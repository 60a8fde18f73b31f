// Faults of a console socket.
import { expect } from 'vitest';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { SILENCE_MS } from '../../../src/session/machine-effects.ts';
import type { SocketFault } from '../../../src/simulator/simulator-schema.ts';
import { blocked, POLLED, STREAMING } from '../../support/fault-picture.ts';
import { type FaultRow, ofPanel } from '../../support/fault-row.ts';
import { loseToken, type Scene } from '../../support/fault-scene.ts';
import { TARGET, TARGET_UUID } from '../../support/fault-stage.ts';
import { type NameService, startNameService } from '../../support/name-service.ts';
import {
  AT_ONCE_MS,
  AUTH_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  REFUSED_MS,
  SLOW_MS,
  TOKEN_LIFE_MS,
  TOKENS_MS,
} from './bounds.ts';

/** Closes the target server's socket, and makes new sockets fail in this way. */
function lastingFault(fault: SocketFault): Pick<FaultRow, 'arrange' | 'lift' | 'during'> {
  return {
    arrange: ({ panel }) => {
      panel.failSockets({ ...fault, server: TARGET });
      panel.sockets({ kind: 'drop', server: TARGET });
    },
    during: POLLED,
    lift: ({ panel }) => panel.clearFaults(),
  };
}

const REFUSED_UPGRADES: readonly (readonly [
  what: string,
  fault: Pick<SocketFault & { readonly kind: 'refuse-upgrade' }, 'status' | 'body' | 'headers'>,
  cause: CauseCode,
])[] = [
  [
    'because the socket table is full',
    { status: 400, body: '{"error":"Too many open websocket connections."}' },
    'too_many_sockets',
  ],
  [
    'because a proxy drops the headers of the upgrade',
    { status: 400, body: 'Bad Request\n' },
    'upgrade_headers',
  ],
  [
    'because the port uses TLS',
    { status: 400, body: 'Client sent an HTTP request to an HTTPS server.\n' },
    'node_https_needed',
  ],
  ['by a web server', { status: 403, body: '<title>403 Forbidden</title>' }, 'node_access_rule'],
  [
    'by a bot check',
    { status: 403, body: '<html>', headers: { 'cf-mitigated': 'challenge' } },
    'node_challenge_page',
  ],
  ["by Cloudflare, which can't reach the node", { status: 522, body: 'error code: 522' }, 'node_cloudflare'],
];

const upgrades: readonly FaultRow[] = [
  {
    name: 'upgrades that are refused with 403 because of the Origin',
    ...lastingFault({ kind: 'refuse-upgrade', status: 403, body: 'Forbidden\n' }),
    reconnects: 'upgrade_refused',
    cause: 'origin',
    log: /"cause":"origin"/,
    recoveryMs: REFUSED_MS,
  },
  ...REFUSED_UPGRADES.map(refusedUpgrade),
  ...[302, 401, 404, 500, 502, 503, 504].map(answeredUpgrade),
];

function refusedUpgrade([what, fault, cause]: (typeof REFUSED_UPGRADES)[number]): FaultRow {
  return {
    name: `upgrades that are refused with ${fault.status} ${what}`,
    ...lastingFault({ kind: 'refuse-upgrade', ...fault }),
    reconnects: 'upgrade_refused',
    cause,
    log: new RegExp(`rejected the socket upgrade \\(${fault.status}\\)`),
    recoveryMs: TOKENS_MS,
  };
}

function answeredUpgrade(status: number): FaultRow {
  return {
    name: `upgrades that are refused with ${status}`,
    ...lastingFault({ kind: 'refuse-upgrade', status, location: '/auth/login' }),
    reconnects: 'upgrade_refused',
    cause: status >= 500 ? 'upgrade_error' : status < 400 ? 'upgrade_redirected' : 'upgrade_refused',
    log: new RegExp(`rejected the socket upgrade \\(${status}\\)`),
    recoveryMs: TOKENS_MS,
  };
}

const handshakes: readonly FaultRow[] = [
  {
    name: 'upgrades that hang',
    ...lastingFault({ kind: 'hang-upgrade' }),
    reconnects: 'connect_failed',
    cause: 'node_timeout',
    log: /connecting to the node timed out/,
    recoveryMs: CONNECT_TIMEOUT_MS + AT_ONCE_MS,
  },
  {
    name: 'upgrades that are dropped',
    ...lastingFault({ kind: 'drop-upgrade' }),
    reconnects: 'connect_failed',
    cause: 'node_connection',
    log: /the node closed the connection/,
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: 'an auth without a response',
    ...lastingFault({ kind: 'ignore-auth' }),
    reconnects: 'auth_timeout',
    cause: 'auth_unanswered',
    log: /the node didn't acknowledge the token in time/,
    recoveryMs: AUTH_TIMEOUT_MS + AT_ONCE_MS,
  },
  {
    name: 'sockets that are half-open from the start',
    ...lastingFault({ kind: 'half-open-on-open' }),
    reconnects: 'auth_timeout',
    recoveryMs: AUTH_TIMEOUT_MS + AT_ONCE_MS,
  },
];

const verification: FaultRow = {
  name: '"daemon error" in response to auth: the node and the panel have different daemon tokens',
  ...lastingFault({ kind: 'daemon-error-on-auth' }),
  cause: 'node_token_mismatch',
  reconnects: 'auth_refused',
  log: /the node could not verify the token: \\"an unexpected error/,
  recoveryMs: REFUSED_MS,
};

const unknownServer: FaultRow = {
  name: "upgrades that are refused with 404 because the node doesn't know the server",
  ...lastingFault({
    kind: 'refuse-upgrade',
    status: 404,
    body: '{"error":"The requested resource does not exist on this instance."}',
  }),
  cause: 'server_not_on_node',
  reconnects: 'upgrade_refused',
  recoveryMs: TOKENS_MS,
};

const forgottenServers: FaultRow = ofPanel({
  name: 'upgrades that are refused with 404 for every server of the node, because the daemon lost its servers',
  arrange: ({ panel }) => {
    panel.failSockets({
      kind: 'refuse-upgrade',
      status: 404,
      body: '{"error":"The requested resource does not exist on this instance."}',
    });
    panel.sockets({ kind: 'drop' });
  },
  during: POLLED,
  cause: 'node_lost_servers',
  reconnects: 'upgrade_refused',
  lift: ({ panel }) => panel.clearFaults(),
  recoveryMs: TOKENS_MS,
});

/** Invalid addresses of the target server's socket. PORT stands for a port without TLS. */
const ADDRESSES: readonly (readonly [address: string, cause: CauseCode])[] = [
  ['node one', 'socket_address'],
  ['ftp://127.0.0.1/ws', 'socket_address'],
  ['wss://127.0.0.1:1/ws', 'node_connection'],
  ['wss://127.0.0.1:PORT/ws', 'node_tls_plain_port'],
  ['wss://node.invalid/ws', 'node_dns'],
  ['ws://localhost:1/ws', 'socket_address_not_allowed'],
];

/** A silent socket, and an upgrade that hangs, so that the time between two sockets is visible. */
const silenceShown: FaultRow = {
  name: 'a socket on which no stats arrive, and no new one opens',
  arrange: ({ panel }) => {
    panel.failSockets({ kind: 'hang-upgrade', server: TARGET });
    panel.failSockets({ kind: 'silence', server: TARGET });
  },
  during: { panelUp: 1, blocked: 'no', streaming: 0 },
  reconnects: 'silent',
  cause: 'no_stats',
  isOfOpenSocket: true,
  log: /"cause":"no_stats"/,
  lift: ({ panel }) => panel.clearFaults(),
  recoveryMs: CONNECT_TIMEOUT_MS + TOKENS_MS,
};

/** Resolves names within this process, so that no lookup outlasts the row. */
function withUnknownName(): Pick<FaultRow, 'before' | 'clean'> {
  let names: NameService | undefined;
  return {
    before: () => {
      names = startNameService();
    },
    clean: () => names?.end(),
  };
}

const addresses = ADDRESSES.map(badAddress);

function badAddress([address, cause]: (typeof ADDRESSES)[number]): FaultRow {
  return {
    name: `the socket address ${address}`,
    scene: { settings: cause === 'socket_address_not_allowed' ? ['socket_hosts: [127.0.0.1]'] : [] },
    arrange: ({ panel }) => {
      panel.advertise(TARGET, address.replace('PORT', new URL(panel.url).port));
      loseToken(panel);
    },
    during: POLLED,
    cause,
    lift: ({ panel }) => panel.advertise(TARGET, undefined),
    ...(cause === 'node_dns' && withUnknownName()),
    // A token contains the address and is used until it expires.
    recoveryMs: TOKEN_LIFE_MS,
  };
}

/** A daemon's messages about tokens, the wait until the next attempt, and the cause. */
const JWT_ERRORS: readonly (readonly [
  text: string,
  recoveryMs: number,
  cause: CauseCode,
  permissions?: readonly string[],
])[] = [
  ['jwt: exp claim is invalid', TOKENS_MS, 'token_clock'],
  ['jwt: token is expired', TOKENS_MS, 'token_clock'],
  ['jwt: created too far in past (denylist)', TOKENS_MS, 'token_clock'],
  // The simulator's tokens have all permissions by default. If the node doesn't find one, it
  // expects another version of tokens.
  ['jwt: no permission to connect to this server', REFUSED_MS, 'token_version'],
  ['jwt: missing connect permission', REFUSED_MS, 'token_version'],
  ['jwt: missing connect permission', SLOW_MS, 'no_console_permission', ['control.console']],
  ['jwt: server uuid mismatch', SLOW_MS, 'token_wrong_server'],
  ['jwt: malformed or wrongly signed token', REFUSED_MS, 'token_refused'],
  ['no jwt present', REFUSED_MS, 'token_refused'],
];

function refusedToken([text, recoveryMs, cause, permissions]: (typeof JWT_ERRORS)[number]): FaultRow {
  const fault = lastingFault({ kind: 'jwt-error-on-auth', text });
  return {
    name: `"${text}" in response to auth${permissions === undefined ? '' : ", and the token doesn't grant the console"}`,
    ...fault,
    ...(permissions !== undefined && {
      arrange: (scene) => {
        scene.panel.set({ tokenPermissions: [...permissions] });
        loseToken(scene.panel);
        return fault.arrange?.(scene);
      },
      lift: ({ panel }) => {
        panel.clearFaults();
        panel.set({ tokenPermissions: ['*'] });
      },
    }),
    cause,
    reconnects: 'auth_refused',
    log: new RegExp(text.replaceAll(/[()]/g, '\\$&')),
    recoveryMs,
  };
}

const opened = ({ panel }: Scene) => panel.record.sockets(TARGET_UUID).opened;
const tokens = ({ panel }: Scene) =>
  panel.record.calls.filter(({ endpoint, server }) => endpoint === 'websocket' && server === TARGET_UUID);

/** The time after an authentication from which on a rejection doesn't indicate a bad token. */
const SETTLED_MS = 35_000;

const revokedTokens: readonly FaultRow[] = [
  {
    name: '"jwt: exp claim is invalid" instead of events',
    arrange: async (scene) => {
      await scene.watch.until(() => expect(scene.clock.now()).toBeGreaterThan(SETTLED_MS), SETTLED_MS);
      scene.panel.sockets({ kind: 'expire', server: TARGET });
    },
    during: STREAMING,
    shows: (_, scene) => expect(tokens(scene).length).toBe(2),
    // The same socket continues with the renewed token.
    afterwards: (scene) => expect(opened(scene)).toBe(1),
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: '"jwt: no permission to connect" while it streams',
    arrange: ({ panel }) => {
      const args = ['jwt: no permission to connect to this server'];
      panel.sockets({ kind: 'send', server: TARGET, event: 'jwt error', args });
    },
    during: POLLED,
    reconnects: 'auth_refused',
    recoveryMs: REFUSED_MS,
  },
];

const closes = [1000, 1001, 1009, 1011].map(
  (code): FaultRow => ({
    name: `sockets that are closed with ${code} as soon as they open`,
    arrange: ({ panel }) => {
      panel.failSockets({ kind: 'close-on-open', server: TARGET, code });
      panel.sockets({ kind: 'close', server: TARGET, code });
    },
    during: POLLED,
    reconnects: 'closed',
    cause: 'closed',
    log: new RegExp(`socket closed \\(code ${code}\\)`),
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: AT_ONCE_MS,
  }),
);

const losses: readonly FaultRow[] = [
  {
    name: 'a socket that is closed without a close frame (1006)',
    arrange: ({ panel }) => void panel.sockets({ kind: 'drop', server: TARGET }),
    during: STREAMING,
    reconnects: 'closed',
    // The token is still valid, so it is used again.
    afterwards: (scene) => expect(tokens(scene).length).toBe(1),
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: 'a socket that is closed with 4400, permanently',
    arrange: ({ panel }) => void panel.sockets({ kind: 'close', server: TARGET, code: 4400 }),
    during: POLLED,
    cause: 'closed_for_good',
    isOfOpenSocket: true,
    reconnects: 'closed',
    recoveryMs: SLOW_MS,
  },
  {
    name: 'a socket that is closed with 4409 because of a suspension',
    arrange: ({ panel }) =>
      void panel.sockets({ kind: 'close', server: TARGET, code: 4409, reason: 'server is suspended' }),
    during: blocked('suspended'),
    cause: 'suspended',
    isOfOpenSocket: true,
    reconnects: 'closed',
    log: /4409\): \\"server is suspended/,
    recoveryMs: SLOW_MS,
  },
  {
    name: "more than 20 texts within a minute that aren't JSON",
    arrange: ({ panel }) => {
      panel.failSockets({ kind: 'hang-upgrade', server: TARGET });
      for (let sent = 0; sent < 21; sent += 1) panel.sockets({ kind: 'garbage', server: TARGET });
    },
    during: { panelUp: 1, blocked: 'no', streaming: 0 },
    cause: 'unreadable',
    isOfOpenSocket: true,
    log: /"cause":"unreadable"/,
    reconnects: 'closed',
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: CONNECT_TIMEOUT_MS + TOKENS_MS,
  },
  {
    name: 'a frame of over 1 MiB',
    arrange: ({ panel }) => void panel.sockets({ kind: 'oversize', server: TARGET }),
    during: STREAMING,
    shows: (scraped) => {
      const labels = { panel: 'main', kind: 'oversize' };
      expect(scraped.value('gameserver_exporter_bad_messages_total', labels)).toBe(1);
    },
    reconnects: 'closed',
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: 'a half-open socket, and no new one opens',
    arrange: ({ panel }) => {
      panel.failSockets({ kind: 'hang-upgrade', server: TARGET });
      panel.sockets({ kind: 'half-open', server: TARGET });
    },
    during: POLLED,
    reconnects: 'silent',
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs: CONNECT_TIMEOUT_MS + AT_ONCE_MS,
  },
  {
    name: 'a half-open socket, detected by silence',
    arrange: ({ panel }) => void panel.sockets({ kind: 'half-open', server: TARGET }),
    during: STREAMING,
    shows: (_, scene) => expect(opened(scene)).toBe(2),
    recoveryMs: 3 * SILENCE_MS,
  },
];

/** Faults of a socket's upgrade, authentication, frames and end. */
export const SOCKET_ROWS: readonly FaultRow[] = [
  ...upgrades,
  ...handshakes,
  verification,
  unknownServer,
  forgottenServers,
  ...addresses,
  silenceShown,
  ...JWT_ERRORS.map(refusedToken),
  ...revokedTokens,
  ...closes,
  ...losses,
];
