// Faults of the endpoints that the exporter calls for a server.
import { expect } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import type { BlockedReason } from '../../../src/domain/server.ts';
import { DEFAULT_WAIT_MS } from '../../../src/panel/scheduler/rate-limit.ts';
import { lastingRefusal } from '../../../src/session/lasting-refusal.ts';
import type { RestFault } from '../../../src/simulator/simulator-schema.ts';
import { blocked, DARK, type Picture, POLLED } from '../../support/fault-picture.ts';
import type { FaultRow } from '../../support/fault-row.ts';
import { loseToken } from '../../support/fault-scene.ts';
import { TARGET } from '../../support/fault-stage.ts';
import { REQUEST_TIMEOUT_MS, SLOW_MS, TOKENS_MS, TRIAL_GAP_MS } from './bounds.ts';

const SHAPES = ['errors', 'message', 'html'] as const;
type Shape = (typeof SHAPES)[number];

const SUSPENDED = 'This server is currently suspended and the functionality requested is unavailable.';

const CREDENTIALS_CAUSES: Readonly<Record<number, CauseCode>> = {
  400: 'bad_request',
  401: 'key_refused',
  403: 'no_console_permission',
  404: 'not_found',
  409: 'suspended',
  429: 'console_limit',
  500: 'panel_error',
  502: 'panel_down',
  503: 'panel_down',
  504: 'node_unreachable',
};

/** The causes for HTML pages, which say nothing about a server. */
const PAGE_CAUSES: Readonly<Record<number, CauseCode>> = {
  400: 'not_a_panel',
  401: 'login_page',
  403: 'access_rule',
  404: 'not_a_panel',
  409: 'not_a_panel',
  429: 'rate_limited',
  504: 'timeout',
};

/** The cause after the target server's credentials or resources were rejected. */
function causeOf({ status, shape }: Refusal, endpoint: 'websocket' | 'resources'): CauseCode {
  const isPage = shape === 'html';
  const late = endpoint === 'resources' ? 'node_silent' : 'timeout';
  if (status === 504 && shape !== 'errors') return late;
  // Only an error envelope contains the kind of the error. Without it, a 401 may be about a
  // permission.
  if (status === 401 && shape === 'message') return 'unauthorized';
  if (status === 403 && !isPage && endpoint === 'resources') return 'forbidden';
  // The panel knows the server, because polls work.
  if (status === 404 && !isPage && endpoint === 'websocket') return 'daemon_unknown';
  return (isPage ? PAGE_CAUSES[status] : undefined) ?? CREDENTIALS_CAUSES[status] ?? 'unexpected';
}

/** The wait that the panel demands with a 429. */
const PAUSE_SECONDS = 20;

const STATUSES = [400, 401, 403, 404, 409, 429, 500, 502, 503, 504];

interface Refusal {
  readonly status: number;
  readonly shape: Shape;
}

const refusals: readonly Refusal[] = STATUSES.flatMap((status) => SHAPES.map((shape) => ({ status, shape })));

/** The server gets no token. It is polled if the resources endpoint isn't affected. */
function withoutToken(refusal: Refusal): FaultRow {
  const { status, shape } = refusal;
  const cause = causeOf(refusal, 'websocket');
  const { reason, pollable } = lastingRefusal({ cause, detail: '' }) ?? {};
  const isBlocked = reason !== undefined && pollable === false;
  return {
    ...onCredentials(
      `${status} as ${shape}`,
      refuse(status, shape),
      CAUSES[cause].lasting ? SLOW_MS : TOKENS_MS,
    ),
    during: isBlocked ? blocked(reason) : POLLED,
    cause,
    log: new RegExp(`/websocket returned ${status}`),
  };
}

/** The server's resources can't be read, and it has no socket. */
function withoutResources(refusal: Refusal): FaultRow {
  const { status, shape } = refusal;
  const cause = causeOf(refusal, 'resources');
  const reason = lastingRefusal({ cause, detail: '' })?.reason;
  // The second pause for the same reason is twice as long.
  const recoveryMs = status === 429 ? DEFAULT_WAIT_MS : TRIAL_GAP_MS;
  return {
    ...onResources(
      `${status} as ${shape}`,
      refuse(status, shape),
      CAUSES[cause].lasting ? SLOW_MS : recoveryMs,
    ),
    during: reason === undefined ? whileRefused(status) : blocked(reason),
    ...(status === 429
      ? { shows: expectPaused, log: /rate limit exceeded/ }
      : { cause, log: new RegExp(`/resources returned ${status}`) }),
  };
}

const BOT_CHECK =
  '{"message":"Access denied by Imunify360 bot-protection. IPs used for automation should be whitelisted"}';

/** Invalid or missing responses. */
const OTHERS: readonly {
  readonly what: string;
  readonly fault: RestFault;
  readonly log: RegExp;
  readonly cause: CauseCode;
}[] = [
  {
    what: 'a redirect to a login page',
    fault: { kind: 'redirect' },
    log: /redirect to \/auth\/login/,
    cause: 'redirect',
  },
  {
    what: 'an HTML page instead of JSON',
    fault: { kind: 'garbage', body: '<!doctype html><title>Panel</title>' },
    log: /the body is a web page, not JSON: \\"Panel/,
    cause: 'bad_answer',
  },
  {
    what: 'a login page instead of JSON',
    fault: { kind: 'garbage', body: '<!doctype html><title>Panel</title><form>' },
    log: /the body is a web page, not JSON: \\"Panel/,
    cause: 'login_page',
  },
  {
    what: "a page of Cloudflare's, which can't reach the panel",
    fault: { kind: 'refuse', status: 521, shape: 'html' },
    log: /the server behind Cloudflare refuses connections/,
    cause: 'cloudflare',
  },
  {
    what: "Wings' response to a call without its token",
    fault: {
      kind: 'refuse',
      status: 401,
      body: '{"error":"The required authorization heads were not present in the request."}',
    },
    log: /required authorization heads/,
    cause: 'url_of_node',
  },
  ...[403, 200].map((status) => ({
    what: `a bot check's JSON with ${status}`,
    fault: { kind: 'refuse', status, body: BOT_CHECK } as const,
    log: /Access denied by Imunify360/,
    cause: 'challenge_page' as const,
  })),
  {
    what: "a gateway's JSON",
    fault: { kind: 'refuse', status: 404, body: '{"message":"no Route matched with those Values"}' },
    log: /no Route matched/,
    cause: 'not_a_panel',
  },
  { what: 'truncated JSON', fault: { kind: 'garbage' }, log: /the body is not JSON/, cause: 'bad_answer' },
  {
    what: 'JSON of another type',
    fault: { kind: 'garbage', body: '[]' },
    log: /returned 200: expected/,
    cause: 'bad_answer',
  },
  {
    what: 'an endless body',
    fault: { kind: 'oversize' },
    log: /longer than|exceeded/,
    cause: 'bad_answer',
  },
  {
    what: 'a dropped connection',
    fault: { kind: 'drop' },
    log: /the connection to \S+ was closed/,
    cause: 'connection_cut',
  },
  {
    what: 'headers that never arrive',
    fault: { kind: 'hang' },
    log: /no response from .* within 25 s/,
    cause: 'timeout',
  },
  {
    what: 'a body that never ends',
    fault: { kind: 'hang', before: 'body' },
    log: /no response from .* within 25 s/,
    cause: 'timeout',
  },
];

const hangMs = ({ kind }: RestFault) => (kind === 'hang' ? REQUEST_TIMEOUT_MS : 0);

const NO_ROUTE = 'The route api/client/servers/1a7ce997/websocket could not be found.';

const withoutDaemon: FaultRow = {
  ...onCredentials(
    'a path that lacks the daemon, as on Hydrodactyl',
    { kind: 'refuse', status: 404, detail: NO_ROUTE },
    SLOW_MS,
  ),
  during: POLLED,
  cause: 'daemon_unknown',
  log: /"cause":"daemon_unknown"/,
};

const useless = OTHERS.flatMap(({ what, fault, log, cause }): FaultRow[] => [
  { ...onCredentials(what, fault, TOKENS_MS + hangMs(fault)), during: POLLED, log, cause },
  {
    ...onResources(what, fault, TRIAL_GAP_MS + hangMs(fault)),
    during: DARK,
    log,
    cause: cause === 'timeout' ? 'node_silent' : cause,
  },
]);

/** The panel's message about an error response from the server's node. */
function passedOn(status: number): object {
  const detail = `There was an error while communicating with the machine. (code: ${status})`;
  return { status: 504, code: 'DaemonConnectionException', detail };
}

/** The panel's messages about the target server: why it is blocked, or how its node responded. */
const WORDED: readonly (readonly [
  what: string,
  refusal: object,
  cause: CauseCode,
  reason?: BlockedReason,
])[] = [
  [
    'installing',
    { status: 409, detail: 'has not yet completed its installation' },
    'installing',
    'installing',
  ],
  ['transferring', { status: 409, detail: 'is currently being transferred' }, 'transferring', 'transferring'],
  ['restoring', { status: 409, detail: 'is currently restoring from a backup' }, 'restoring', 'restoring'],
  ['maintenance', { status: 409, detail: 'The node is under maintenance' }, 'maintenance', 'maintenance'],
  ['its Redis is down', { status: 500, code: 'ConnectionException' }, 'panel_error'],
  ["the node's 401", passedOn(401), 'node_token_mismatch'],
  ["the node's 403", passedOn(403), 'node_token_mismatch'],
  ["the node's 404", passedOn(404), 'server_not_on_node'],
  ["the node's 500", passedOn(500), 'node_error'],
  ['no response from the node', { status: 504, code: 'DaemonConnectionException' }, 'node_unreachable'],
];

const worded = WORDED.map(wordedRefusal);

function wordedRefusal([what, refusal, cause, reason]: (typeof WORDED)[number]): FaultRow {
  return {
    ...onResources(
      `the panel reports: ${what}`,
      { kind: 'refuse', shape: 'errors', ...refusal } as RestFault,
      reason === undefined ? TRIAL_GAP_MS : SLOW_MS,
    ),
    during: reason === undefined ? DARK : blocked(reason),
    cause,
  };
}

/** All rejections on both endpoints, in every form, and other faults. */
export const REST_ROWS: readonly FaultRow[] = [
  ...refusals.map(withoutToken),
  ...refusals.map(withoutResources),
  ...useless,
  withoutDaemon,
  ...worded,
];

function refuse(status: number, shape: Shape): RestFault {
  return {
    kind: 'refuse',
    status,
    shape,
    ...(status === 409 && { detail: SUSPENDED }),
    // The panel's rate limit. For credentials, it is a limit of the server.
    ...(status === 429 && { headers: { 'Retry-After': String(PAUSE_SECONDS) } }),
  };
}

function onCredentials(what: string, fault: RestFault, recoveryMs: number): Omit<FaultRow, 'during'> {
  return {
    name: `credentials: ${what}`,
    arrange: ({ panel }) => {
      panel.failRest({ ...fault, endpoint: 'websocket', server: TARGET });
      loseToken(panel);
    },
    lift: ({ panel }) => panel.clearFaults(),
    recoveryMs,
  };
}

function onResources(what: string, fault: RestFault, recoveryMs: number): Omit<FaultRow, 'during'> {
  return {
    name: `resources: ${what}`,
    scene: { mode: 'poll' },
    arrange: ({ panel }) => panel.failRest({ ...fault, endpoint: 'resources', server: TARGET }),
    lift: ({ panel }) => panel.clearFaults(),
    after: POLLED,
    recoveryMs,
  };
}

/** After a 429, the budget repeats the call. The session only sees a slow call. */
function whileRefused(status: number): Picture {
  return status === 429 ? { ...DARK, condition: 'polling' } : DARK;
}

function expectPaused(scraped: { value(name: string, labels: Record<string, string>): number | undefined }) {
  expect(scraped.value('gameserver_exporter_api_budget_paused', { panel: 'main' })).toBe(1);
}
