import { afterEach, beforeEach, expect, it } from 'vitest';
import { PanelApi } from '../../src/panel/api.ts';
import { PanelError, type PanelErrorKind } from '../../src/panel/errors.ts';
import { type RestFault, type Simulator, startSimulator } from '../../src/simulator/index.ts';
import { apiOptions } from '../integration/panel/panel-api.ts';

let panel: Simulator;
let api: PanelApi;

beforeEach(async () => {
  panel = await startSimulator({ servers: 1 });
  api = new PanelApi(apiOptions(panel.url, { apiKey: () => panel.apiKey, requestTimeoutMs: 200 }));
});

afterEach(async () => {
  await api.close();
  await panel.stop();
});

const KINDS: readonly (readonly [status: number, kind: PanelErrorKind])[] = [
  [400, 'bad_request'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'conflict'],
  [429, 'rate_limited'],
  [500, 'server_error'],
  [502, 'panel_unavailable'],
  [503, 'panel_unavailable'],
];

const refusals = KINDS.flatMap(([status, kind]) =>
  (['errors', 'message', 'html'] as const).map((shape) => ({
    what: `${status} as ${shape}`,
    fault: { kind: 'refuse', status, shape } as RestFault,
    kind,
  })),
);

const ROWS: readonly { what: string; fault: RestFault; kind: PanelErrorKind }[] = [
  ...refusals,
  // In the panel's envelope it speaks of a node, otherwise of the panel.
  {
    what: '504 as errors',
    fault: { kind: 'refuse', status: 504, shape: 'errors' },
    kind: 'node_unreachable',
  },
  { what: '504 as html', fault: { kind: 'refuse', status: 504, shape: 'html' }, kind: 'panel_unavailable' },
  { what: 'a redirect to a login page', fault: { kind: 'redirect' }, kind: 'redirect' },
  {
    what: 'a page',
    fault: { kind: 'garbage', body: '<!doctype html><title>Panel</title>' },
    kind: 'bad_answer',
  },
  { what: 'JSON that breaks off', fault: { kind: 'garbage' }, kind: 'bad_answer' },
  { what: 'a body without end', fault: { kind: 'oversize' }, kind: 'bad_answer' },
  { what: 'a connection that is dropped', fault: { kind: 'drop' }, kind: 'network' },
  { what: 'headers that never come', fault: { kind: 'hang' }, kind: 'timeout' },
  { what: 'a body that never ends', fault: { kind: 'hang', before: 'body' }, kind: 'timeout' },
];

it.each(ROWS)('the listing: $what is one clear line, and the next call works', async ({ fault, kind }) => {
  panel.failRest({ ...fault, endpoint: 'listing', times: 1 });
  const ask = () => api.listing({ page: 1, perPage: 50 }, new AbortController().signal);
  const error: unknown = await ask().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(PanelError);
  expect(error).toMatchObject({ kind });
  const { message } = error as PanelError;
  expect(message).toMatch(/^GET \/api\/client\?\S+( answered \d+[^:]*)?: .{10,}$/);
  expect(message).not.toContain(panel.apiKey);
  expect((await ask()).value.servers).toHaveLength(1);
});
