import type { Simulator } from '../../src/simulator/api.ts';
import type { RestFault, ServerSpec } from '../../src/simulator/schema.ts';

/** The keys that must never appear: inline, and from an environment variable. */
export const INLINE_KEY = 'ptlc_TopSecretInlineKey0123456789';
export const VARIABLE_KEY = 'ptlc_TopSecretVariableKey9876543210';
export const PROXY_PASSWORD = 'TopSecretProxyPassword';

/** The parts of a call that a careless program would repeat. */
const ECHO = `Authorization: Bearer ${INLINE_KEY}`;

/** A token in the form that panels issue. */
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJUb3BTZWNyZXQifQ.VG9wU2VjcmV0VG9wU2VjcmV0';

type Unscoped<Fault> = Fault extends unknown ? Omit<Fault, 'server' | 'endpoint' | 'times'> : never;
type AnyRestFault = Unscoped<RestFault>;
type AnySocketFault = Unscoped<Parameters<Simulator['failSockets']>[0]>;
type AnySocketAction = Unscoped<Parameters<Simulator['sockets']>[0]>;

const STATUSES = [400, 401, 403, 404, 409, 429, 500, 502, 504, 520];

/** An error with each status, with the key repeated in its text. */
const refusals = STATUSES.map((status): [string, AnyRestFault] => [
  `${status}`,
  { kind: 'refuse', status, shape: 'errors', detail: `suspended. ${ECHO}` },
]);

/** The other forms that panels and proxies use for errors. */
const otherForms = [403, 429, 502].flatMap((status): [string, AnyRestFault][] => [
  [`${status}-message`, { kind: 'refuse', status, shape: 'message', detail: `Wait 7 seconds. ${ECHO}` }],
  [`${status}-html`, { kind: 'refuse', status, shape: 'html' }],
  [`${status}-page`, { kind: 'refuse', status, body: `<html><title>${ECHO}</title></html>` }],
  [`${status}-text`, { kind: 'refuse', status, body: ECHO, headers: { 'content-type': 'text/plain' } }],
]);

const REST_FAULTS: readonly (readonly [string, AnyRestFault])[] = [
  ...refusals,
  ...otherForms,
  ['delay', { kind: 'delay', ms: 2_000 }],
  ['hang', { kind: 'hang' }],
  ['hang-in-body', { kind: 'hang', before: 'body' }],
  ['drop', { kind: 'drop' }],
  ['oversize', { kind: 'oversize' }],
  ['garbage', { kind: 'garbage' }],
  ['garbage-echo', { kind: 'garbage', body: ECHO }],
  ['garbage-token', { kind: 'garbage', body: `{"data":{"token":"${TOKEN}"` }],
  [
    'wrong-shape',
    { kind: 'garbage', body: `{"data":{"token":"${TOKEN}","socket":7,"key":"${INLINE_KEY}"}}` },
  ],
  ['redirect', { kind: 'redirect' }],
  ['redirect-query', { kind: 'redirect', location: `https://login.example.com/?key=${INLINE_KEY}` }],
];

/** Faults of every attempt to open a server's socket. */
const SOCKET_FAULTS: readonly (readonly [string, AnySocketFault])[] = [
  ...[301, 400, 401, 403, 404, 409, 429, 500, 502].map(
    (status) => [`upgrade-${status}`, { kind: 'refuse-upgrade', status }] as const,
  ),
  [
    'upgrade-redirect',
    { kind: 'refuse-upgrade', status: 302, location: `https://login.example.com/?token=${TOKEN}` },
  ],
  ['upgrade-hang', { kind: 'hang-upgrade' }],
  ['upgrade-drop', { kind: 'drop-upgrade' }],
  ...[1000, 1001, 1008, 1011, 4400, 4409].map(
    (code) => [`open-close-${code}`, { kind: 'close-on-open', code, reason: 'server is suspended' }] as const,
  ),
  ['open-half', { kind: 'half-open-on-open' }],
  ['auth-ignored', { kind: 'ignore-auth' }],
  ['auth-expired', { kind: 'jwt-error-on-auth' }],
  ['auth-denied', { kind: 'jwt-error-on-auth', text: 'jwt: missing connect permission' }],
  ['auth-echo', { kind: 'jwt-error-on-auth', text: `jwt: malformed token ${TOKEN}` }],
  ['open-close-echo', { kind: 'close-on-open', code: 1008, reason: `bad token ${TOKEN}` }],
  ['silent', { kind: 'silence' }],
];

/** Other addresses to which the panel sends a server's socket. */
const ADDRESSES: readonly (readonly [string, string])[] = [
  ['address-query', `https://127.0.0.1:1/ws?token=${TOKEN}`],
  ['address-closed', `ws://127.0.0.1:1/ws?token=${TOKEN}`],
  ['address-user', `ws://me:${INLINE_KEY}@127.0.0.1:1/ws`],
  ['address-swapped', TOKEN],
];

/** Single events on a server's open socket. */
const SOCKET_ACTIONS: readonly (readonly [string, AnySocketAction])[] = [
  ['live-drop', { kind: 'drop' }],
  ['live-half', { kind: 'half-open' }],
  ['live-expire', { kind: 'expire' }],
  ['live-garbage', { kind: 'garbage' }],
  ['live-binary', { kind: 'binary', base64: 'AAEC' }],
  ['live-oversize', { kind: 'oversize' }],
  ['live-raw', { kind: 'raw', text: '{"event":"stats","args":["{\\"memory_bytes\\":-1}"]}' }],
  ...[1000, 1001, 1009, 1011, 4400, 4409].map((code): [string, AnySocketAction] => [
    `live-close-${code}`,
    { kind: 'close', code, reason: 'server deleted' },
  ]),
  ...['token expiring', 'token expired', 'jwt error', 'daemon error', 'something new'].map(
    (event): [string, AnySocketAction] => [
      `live-${event.replaceAll(' ', '-')}`,
      { kind: 'send', event, args: ['jwt: expired'] },
    ],
  ),
];

const CONFLICTS = ['installing', 'restoring_backup', 'transferring', 'maintenance'] as const;
const SERVER_FAULTS = ['moved', 'moved-unseen', 'suspended', 'deleted', 'node-down', 'crashed'] as const;

/** Servers without faults of their own. */
export const HEALTHY = ['healthy-1', 'healthy-2', 'healthy-3'];

/** Servers on a panel entry whose key is revoked. */
export const REVOKED = ['revoked-1', 'revoked-2', 'revoked-3'];

const ENDPOINTS = ['websocket', 'resources'] as const;
const restCases = ENDPOINTS.flatMap((endpoint) =>
  REST_FAULTS.map(([what, fault]) => ({ name: `${endpoint}-${what}`, endpoint, fault })),
);

/** Servers with the same fault from start to end. */
export const TROUBLED: readonly string[] = [
  ...restCases.map(({ name }) => name),
  ...SOCKET_FAULTS.map(([name]) => name),
  ...ADDRESSES.map(([name]) => name),
];

/** Every server; one for each fault, so that all faults occur at once. */
export const SERVERS: readonly ServerSpec[] = [
  ...TROUBLED,
  ...SOCKET_ACTIONS.map(([name]) => name),
  ...CONFLICTS,
  ...SERVER_FAULTS,
  ...HEALTHY,
  ...REVOKED,
  'behind-a-proxy',
].map((name) => ({ name, profile: 'steady' }));

/** Adds the faults that last from the start. */
export function addFaults(panel: Simulator): void {
  for (const { name, endpoint, fault } of restCases) panel.failRest({ ...fault, endpoint, server: name });
  for (const [name, fault] of SOCKET_FAULTS) panel.failSockets({ ...fault, server: name });
  for (const [name, address] of ADDRESSES) panel.advertise(name, address);
}

/** Causes the events on open sockets, servers and a key. */
export function strike(panel: Simulator): void {
  for (const [name, action] of SOCKET_ACTIONS) panel.sockets({ ...action, server: name });
  for (const conflict of CONFLICTS) {
    panel.setConflict(conflict, conflict);
    panel.sockets({ kind: 'drop', server: conflict });
  }
  panel.move('moved');
  panel.move('moved-unseen', 'keep');
  panel.suspend('suspended');
  panel.deleteServer('deleted');
  panel.setNodeDown('node-down', true);
  panel.crash('crashed');
  panel.revokeKey(VARIABLE_KEY);
  for (const server of REVOKED) panel.sockets({ kind: 'send', server, event: 'token expiring' });
}

/** A panel that responds with 429 has an account of its own: a demand to wait concerns all entries with the same account. */
const keyOf = (name: string, index: number) =>
  name.includes('429') ? `ptlc_TopSecretKeyOf${index}0123456789` : INLINE_KEY;

/** The keys that the panel accepts. */
export const API_KEYS: readonly string[] = [INLINE_KEY, VARIABLE_KEY, ...TROUBLED.map(keyOf)];

/**
 * A configuration for all of them. Each lasting fault has its own panel entry, because it would be attributed to the whole panel or
 * node and hide the others.
 */
export function configuration(panel: Simulator): string {
  const polled = new Set(
    restCases.filter(({ endpoint }) => endpoint === 'resources').map(({ name }) => name),
  );
  const own = TROUBLED.map((name, index) =>
    panelEntry(panel, name, [name], { mode: polled.has(name) ? 'poll' : 'auto', key: keyOf(name, index) }),
  );
  const alone = new Set([...TROUBLED, ...REVOKED, 'behind-a-proxy']);
  const together = SERVERS.map(({ name }) => name).filter((name) => !alone.has(name));
  return [
    'panels:',
    ...own,
    panelEntry(panel, 'main', together),
    panelEntry(panel, 'revoked', REVOKED, { key: '${VARIABLE_KEY}' }),
    panelEntry(panel, 'proxied', ['behind-a-proxy'], { proxy: `http://me:${PROXY_PASSWORD}@127.0.0.1:1` }),
  ].join('\n');
}

function panelEntry(
  panel: Simulator,
  name: string,
  servers: readonly string[],
  options: {
    readonly mode?: string;
    readonly key?: string;
    readonly proxy?: string;
  } = {},
): string {
  const { mode = 'auto', key = INLINE_KEY, proxy } = options;
  return [
    `  - name: ${name}`,
    `    url: ${panel.url}`,
    `    api_key: ${key}`,
    ...(proxy === undefined ? [] : [`    proxy_url: ${proxy}`]),
    '    requests_per_minute: 6000',
    // At this speed the defaults are so short that a busy machine would cause faults of its own.
    ...(name.includes('hang') ? [] : ['    request_timeout: 2m']),
    '    connect_timeout: 1m',
    '    auth_timeout: 1m',
    '    servers:',
    ...servers.map(
      (server) => `      - { id: ${panel.server(server).uuid}, name: ${server}, mode: ${mode} }`,
    ),
  ].join('\n');
}
