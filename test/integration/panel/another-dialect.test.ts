import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { Sample } from '../../../src/domain/sample.ts';
import type { Dialect } from '../../../src/panel/dialect.ts';
import { DIALECTS } from '../../../src/panel/dialects/dialects.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import { asFields, asText, valueIn } from '../../../src/panel/dialects/wire.ts';
import { PanelApi } from '../../../src/panel/panel-api.ts';
import { ShapeError } from '../../../src/panel/responses.ts';
import { observed } from '../../support/stage.ts';
import { apiOptions } from './panel-api.ts';
import { json, type ScriptedServer, scriptedServer } from './scripted-server.ts';

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';

/** The content of a response, which this dialect puts below a single key. */
function toyIn(body: unknown) {
  const toy = asFields(valueIn(body, 'toy'));
  if (toy === undefined) throw new ShapeError('expected an object "toy"');
  return toy;
}

const nothing = () => ({ path: '/toy/nothing', decode: toyIn });

/**
 * A dialect that no other code knows. Its paths, responses, errors and keys differ from those of
 * all others.
 */
const TOY: Dialect = {
  name: 'toy',
  panels: ['Toy'],
  keys: { client: ['toykey-'] },
  daemons: [],
  permissions: { backups: 'toys.backups' },
  requests: {
    listing: () => ({
      path: '/toy/boxes',
      decode: (body) => ({
        servers: [{ identifier: UUID.slice(0, 8), uuid: UUID, name: String(toyIn(body)['box']), limits: {} }],
        badEntries: 0,
        totalPages: 1,
      }),
    }),
    websocket: ({ id }) => ({
      path: `/toy/doors/${id}`,
      decode: (body) => ({
        token: asText(toyIn(body)['key']) ?? '',
        socketUrl: 'wss://toys.example.com/door',
        lifetimeMs: 60_000,
      }),
    }),
    resources: ({ id }) => ({
      path: `/toy/weights/${id}`,
      decode: (body) => {
        const sample = new Sample();
        sample.state = 'running';
        sample.memoryBytes = Number(toyIn(body)['weight']);
        return { sample, suspended: false, badFields: 0 };
      },
    }),
    backups: () => ({ path: '/toy/backups', decode: () => ({ backups: [], totalPages: 1 }) }),
    schedules: () => ({ path: '/toy/schedules', decode: () => [] }),
    nodes: () => ({ ...nothing(), decode: () => ({ nodes: [], badEntries: 0, totalPages: 1 }) }),
    account: () => ({
      ...nothing(),
      decode: () => ({ username: 'child', isAdmin: false, isKeyUnlimited: true }),
    }),
  },
  socket: PTERODACTYL.socket,
  refusals: {
    read: (text) => ({ form: 'message', detail: text.slice(0, 100) }),
    cause: ({ status }) => (status === 418 ? 'key_refused' : 'panel_error'),
  },
  rate: { scope: 'address', windowMs: 10_000, defaultPerMinute: 600 },
  recognizes: ({ body }) => asFields(valueIn(body, 'toy')) !== undefined,
};

/** The table of dialects, to which only tests may add one. */
const TABLE = DIALECTS as Dialect[];

beforeAll(() => {
  TABLE.push(TOY);
});
afterAll(() => {
  TABLE.splice(TABLE.indexOf(TOY), 1);
});

let panel: ScriptedServer;

beforeEach(async () => {
  panel = await scriptedServer((response, request) => {
    const [, , what] = request.url?.split('/') ?? [];
    const toy = { boxes: { box: 'bricks' }, doors: { key: 'a-token' }, weights: { weight: 4_096 } }[
      what ?? ''
    ];
    const isKnown = request.headers.authorization === 'Bearer toykey-0123456789abcdef';
    json(isKnown ? 200 : 418, isKnown ? { toy } : { toy: { says: 'who are you' } })(response, request);
  });
  onTestFinished(() => panel.close());
});

const never = () => new AbortController().signal;

const paths = () => panel.requests.map(({ url }) => url);

function started(apiKey: string): PanelApi {
  const api = new PanelApi(apiOptions(panel.url, { apiKey: () => apiKey }));
  onTestFinished(() => api.close());
  return api;
}

it('a dialect of the table is spoken from the first call with one of its keys', async () => {
  const api = started('toykey-0123456789abcdef');
  expect((await api.get('listing', { perPage: 1 }, never())).value.servers).toMatchObject([
    { name: 'bricks' },
  ]);
  expect((await api.get('websocket', { id: UUID }, never())).value.token).toBe('a-token');
  expect((await api.get('resources', { id: UUID }, never())).value.sample?.memoryBytes).toBe(4_096);
  expect(paths()).toEqual(['/toy/boxes', `/toy/doors/${UUID}`, `/toy/weights/${UUID}`]);
});

it('a dialect is recognized by a response to any other key, and reads why that is refused', async () => {
  const api = started('0123456789abcdef0123456789abcdef');
  await expect(api.get('listing', {}, never())).rejects.toMatchObject({ problem: { cause: 'key_refused' } });
  expect(paths().at(-1)).toBe('/toy/boxes');
});

it('an exporter shows the servers of its list, with the values of its polls', async () => {
  const yaml = [
    'panels:',
    `  - { name: main, url: "${panel.url}", api_key: toykey-0123456789abcdef, discover: { mode: poll } }`,
  ].join('\n');
  const exporter = await observed({ yaml });
  await exporter.until('gameserver_memory_usage_bytes', { server: 'bricks' }, 4_096);
  await exporter.until('gameserver_panel_up', { panel: 'main' }, 1);
});
