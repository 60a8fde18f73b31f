import { expect } from 'vitest';
import type { BlockedReason } from '../../../src/domain/server.ts';
import type { RestFault } from '../../../src/simulator/index.ts';
import { blocked, DARK, type Picture, POLLED } from '../../support/fault-picture.ts';
import { type FaultRow } from '../../support/fault-row.ts';
import { loseToken } from '../../support/fault-scene.ts';
import { STRUCK } from '../../support/fault-stage.ts';
import { POLL_INTERVAL_MS, REQUEST_TIMEOUT_MS, SLOW_MS, TOKENS_MS } from './bounds.ts';

const SHAPES = ['errors', 'message', 'html'] as const;
type Shape = (typeof SHAPES)[number];

const SUSPENDED = 'This server is currently suspended and the functionality requested is unavailable.';

/** The refusals that stand until somebody lifts them; a page of a proxy's doesn't say which conflict it is. */
function lasting(status: number, shape: Shape): BlockedReason | undefined {
  if (status === 409) return shape === 'html' ? 'maintenance' : 'suspended';
  return ({ 401: 'unauthorized', 403: 'forbidden', 404: 'not_found' } as const)[status];
}

/** A 429 of the panel's says for how long. */
const PAUSE_SECONDS = 20;

const STATUSES = [400, 401, 403, 404, 409, 429, 500, 502, 503, 504];

interface Refusal {
  readonly status: number;
  readonly shape: Shape;
}

const refusals: readonly Refusal[] = STATUSES.flatMap((status) => SHAPES.map((shape) => ({ status, shape })));

/** No token is to be had for the server; where the resources endpoint may still answer, it is polled. */
function withoutToken({ status, shape }: Refusal): FaultRow {
  const reason = lasting(status, shape);
  const isBlocked = reason === 'not_found' || status === 409;
  return {
    ...onCredentials(
      `${status} as ${shape}`,
      refuse(status, shape),
      reason === undefined ? TOKENS_MS : SLOW_MS,
    ),
    during: isBlocked && reason !== undefined ? blocked(reason) : POLLED,
    log: new RegExp(`/websocket answered ${status}`),
  };
}

/** The server's resources can't be read, and it has no socket. */
function withoutResources({ status, shape }: Refusal): FaultRow {
  const reason = lasting(status, shape);
  const recoveryMs = status === 429 ? PAUSE_SECONDS * 1_000 : POLL_INTERVAL_MS;
  return {
    ...onResources(
      `${status} as ${shape}`,
      refuse(status, shape),
      reason === undefined ? recoveryMs : SLOW_MS,
    ),
    during: reason === undefined ? whileRefused(status) : blocked(reason),
    ...(status === 429
      ? { shows: expectPaused, log: /rate limit is exceeded/ }
      : { log: new RegExp(`/resources answered ${status}`) }),
  };
}

/** Answers that are no refusals but of no use, and no answers. */
const OTHERS: readonly { readonly what: string; readonly fault: RestFault; readonly log: RegExp }[] = [
  { what: 'a redirect to a login page', fault: { kind: 'redirect' }, log: /redirects to \/auth\/login/ },
  {
    what: 'a page in place of JSON',
    fault: { kind: 'garbage', body: '<!doctype html><title>Panel</title>' },
    log: /it is a page and not JSON/,
  },
  { what: 'JSON that breaks off', fault: { kind: 'garbage' }, log: /it is not JSON/ },
  { what: 'JSON of another kind', fault: { kind: 'garbage', body: '[]' }, log: /not as a panel would/ },
  { what: 'a body without end', fault: { kind: 'oversize' }, log: /longer than|exceeded/ },
  { what: 'a connection that is dropped', fault: { kind: 'drop' }, log: /can't be reached/ },
  { what: 'headers that never come', fault: { kind: 'hang' }, log: /no answer from .* within 25 s/ },
  {
    what: 'a body that never ends',
    fault: { kind: 'hang', before: 'body' },
    log: /no answer from .* within 25 s/,
  },
];

const hangMs = ({ kind }: RestFault) => (kind === 'hang' ? REQUEST_TIMEOUT_MS : 0);

const useless = OTHERS.flatMap(({ what, fault, log }): FaultRow[] => [
  { ...onCredentials(what, fault, TOKENS_MS + hangMs(fault)), during: POLLED, log },
  { ...onResources(what, fault, POLL_INTERVAL_MS + hangMs(fault)), during: DARK, log },
]);

/** Every refusal on both endpoints that the exporter asks for a server, in every shape. */
export const REST_ROWS: readonly FaultRow[] = [
  ...refusals.map(withoutToken),
  ...refusals.map(withoutResources),
  ...useless,
];

function refuse(status: number, shape: Shape): RestFault {
  return {
    kind: 'refuse',
    status,
    shape,
    ...(status === 409 && { detail: SUSPENDED }),
    // What the panel says of a limit of its own; on credentials it is that server's.
    ...(status === 429 && { headers: { 'Retry-After': String(PAUSE_SECONDS) } }),
  };
}

function onCredentials(what: string, fault: RestFault, recoveryMs: number): Omit<FaultRow, 'during'> {
  return {
    name: `credentials: ${what}`,
    arrange: ({ panel }) => {
      panel.failRest({ ...fault, endpoint: 'websocket', server: STRUCK });
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
    arrange: ({ panel }) => panel.failRest({ ...fault, endpoint: 'resources', server: STRUCK }),
    lift: ({ panel }) => panel.clearFaults(),
    after: POLLED,
    recoveryMs,
  };
}

/** The budget runs a throttled call again by itself: to the session it is one call that takes long. */
function whileRefused(status: number): Picture {
  return status === 429 ? { ...DARK, condition: 'polling' } : DARK;
}

function expectPaused(scraped: { value(name: string, labels: Record<string, string>): number | undefined }) {
  expect(scraped.value('gameserver_exporter_api_budget_paused', { panel: 'main' })).toBe(1);
}
