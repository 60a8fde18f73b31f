import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CauseCode } from '../../src/domain/problem.ts';
import { PanelApi } from '../../src/panel/api.ts';
import { PanelError } from '../../src/panel/errors.ts';
import type { Simulator } from '../../src/simulator/api.ts';
import type { RestFault } from '../../src/simulator/schema.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { apiOptions } from '../integration/panel/panel-api.ts';

let panel: Simulator;
let api: PanelApi;

beforeEach(async () => {
  panel = await startSimulator({ servers: 1 });
  api = new PanelApi(apiOptions(panel.url, { apiKey: () => panel.apiKey, requestTimeoutMs: 2_000 }));
});

afterEach(async () => {
  await api.close();
  await panel.stop();
});

/** By status: the cause for the panel's own envelope, and for a page instead of it. */
const CAUSES_BY_STATUS: readonly (readonly [status: number, own: CauseCode, page: CauseCode])[] = [
  [400, 'bad_request', 'not_a_panel'],
  [401, 'key_refused', 'login_page'],
  [403, 'key_refused', 'challenge_page'],
  [404, 'not_found', 'not_a_panel'],
  [409, 'maintenance', 'not_a_panel'],
  [429, 'rate_limited', 'rate_limited'],
  [500, 'panel_error', 'panel_error'],
  [502, 'panel_down', 'panel_down'],
  [503, 'panel_down', 'panel_down'],
];

const refusals = CAUSES_BY_STATUS.flatMap(([status, own, page]) =>
  (['errors', 'message', 'html'] as const).map((shape) => ({
    what: `${status} as ${shape}`,
    fault: { kind: 'refuse', status, shape } as RestFault,
    cause: shape === 'html' ? page : own,
  })),
);

const ROWS: readonly { what: string; fault: RestFault; cause: CauseCode }[] = [
  ...refusals,
  // In the panel's envelope it concerns a node, otherwise the panel.
  {
    what: '504 as errors',
    fault: { kind: 'refuse', status: 504, shape: 'errors' },
    cause: 'node_unreachable',
  },
  { what: '504 as html', fault: { kind: 'refuse', status: 504, shape: 'html' }, cause: 'timeout' },
  { what: 'a redirect to a login page', fault: { kind: 'redirect' }, cause: 'redirect' },
  {
    what: 'a page',
    fault: { kind: 'garbage', body: '<!doctype html><title>Panel</title>' },
    cause: 'login_page',
  },
  { what: 'truncated JSON', fault: { kind: 'garbage' }, cause: 'bad_answer' },
  { what: 'an endless body', fault: { kind: 'oversize' }, cause: 'bad_answer' },
  { what: 'a dropped connection', fault: { kind: 'drop' }, cause: 'https_needed' },
  { what: 'headers that never arrive', fault: { kind: 'hang' }, cause: 'timeout' },
  { what: 'a body that never ends', fault: { kind: 'hang', before: 'body' }, cause: 'timeout' },
];

it.each(ROWS)(
  'a server list with $what is reported in one clear line, and the next call works',
  async ({ fault, cause }) => {
    panel.failRest({ ...fault, endpoint: 'listing', times: 1 });
    const ask = () => api.get('listing', { page: 1, perPage: 50 }, new AbortController().signal);
    const error: unknown = await ask().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PanelError);
    expect(error).toMatchObject({ problem: { cause } });
    const { message } = error as PanelError;
    expect(message).toMatch(/^GET \/api\/client\?\S+(?: returned \d+)?(?:: |, but ).{10,}$/);
    expect(message).not.toContain(panel.apiKey);
    expect((await ask()).value.servers).toHaveLength(1);
  },
);
