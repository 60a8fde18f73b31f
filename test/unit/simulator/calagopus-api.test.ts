import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiGate, CallTarget } from '../../../src/simulator/api-gate.ts';
import { calagopusApi } from '../../../src/simulator/calagopus-api.ts';
import { Faults } from '../../../src/simulator/faults.ts';
import { SimulatedFleet } from '../../../src/simulator/fleet.ts';
import type { SimulatedServer } from '../../../src/simulator/simulated-server.ts';
import type { Conflict } from '../../../src/simulator/simulator-schema.ts';
import { initialSettings, type SettingsChange } from '../../../src/simulator/simulator-settings.ts';
import { checkToken } from '../../../src/simulator/tokens.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const KEY = new Uint8Array(32);

let clock: ManualClock;
let fleet: SimulatedFleet;
/** What the gate was told of each call. */
let passed: CallTarget[];
let app: ReturnType<typeof calagopusApi>;
let survival: SimulatedServer;

/** A panel with these settings, whose gate passes every call. */
function open(changes: SettingsChange = {}): void {
  clock = new ManualClock(1_000_000);
  passed = [];
  const settings = initialSettings({ panel: 'calagopus', ...changes });
  fleet = new SimulatedFleet({
    clock,
    settings: () => settings,
    faults: new Faults(),
    seed: 1,
    statsIntervalMs: 1_000,
  });
  survival = fleet.add({
    name: 'survival',
    backups: [{ completed_at: null, bytes: 7, is_successful: false }],
  });
  const pass: ApiGate['pass'] = async (_context, target, endpoint) => {
    passed.push(target);
    const { status, headers, body } = await endpoint();
    return new Response(body, { status, headers });
  };
  app = calagopusApi(
    {
      clock,
      settings,
      fleet,
      tokenKey: KEY,
      stopped: new AbortController().signal,
      nodeSocketUrl: (node, reachedAt) => `wss://node-${node}.of.${reachedAt}`,
    },
    { pass } as unknown as ApiGate,
  );
}

beforeEach(() => open());

/** The status and the body of the response to a call. */
async function get(path: string): Promise<readonly [status: number, body: unknown]> {
  const response = await app.request(`/api${path}`, { headers: { host: 'panel:8080' } });
  return [response.status, await response.json()];
}

const ofServer = (path: string) => get(`/client/servers/${survival.uuid}/${path}`);
const texts = (...errors: readonly string[]) => ({ errors });

describe('the server list', () => {
  it.each<[string, boolean, string, readonly string[]]>([
    ['has the servers of the account', false, '', ['survival']],
    ['has those of others for an administrator who asks', true, '?other=true', ['foreign']],
    ['has none of others for anybody else', false, '?other=true', ['survival']],
  ])('%s', async (_what, admin, query, names) => {
    open({ admin });
    fleet.add({ name: 'foreign', owned: false });
    const data = names.map((name) => ({ name }));
    expect(await get(`/client/servers${query}`)).toMatchObject([200, { servers: { data } }]);
    expect(passed).toEqual([{ endpoint: 'listing' }]);
  });

  it('is divided into pages of at most 100', async () => {
    fleet.add({ name: 'second' });
    expect(await get('/client/servers?page=2&per_page=1')).toMatchObject([
      200,
      { servers: { total: 2, page: 2, per_page: 1, data: [{ name: 'second' }] } },
    ]);
    expect(await get('/client/servers?per_page=101')).toEqual([400, texts('per_page: greater than 100')]);
  });

  it('requires its permission', async () => {
    open({ accountPermissions: ['backups.read'] });
    const [status] = await get('/client/servers');
    expect(status).toBe(403);
  });
});

describe('the resources of a node', () => {
  const usage = { state: 'running' };

  it('are those of all of its servers, cached for 15 s', async () => {
    const [, list] = (await get('/client/servers')) as [
      number,
      { servers: { data: readonly { node_uuid: string }[] } },
    ];
    const node = list.servers.data[0]?.node_uuid ?? '';
    const path = `/client/servers/nodes/${node}/resources`;
    expect(await get(path)).toMatchObject([200, { resources: { [survival.uuid]: usage } }]);
    survival.game = { ...survival.game, state: 'offline' };
    await clock.advance(14_999);
    expect(await ofServer('resources')).toMatchObject([200, { resources: usage }]);
    await clock.advance(1);
    expect(await ofServer('resources')).toMatchObject([200, { resources: { state: 'offline' } }]);
  });

  it('are an error if the node is down', async () => {
    survival.nodeDown = true;
    expect(await ofServer('resources')).toEqual([500, texts('internal server error')]);
  });
});

it.each<[Conflict, boolean, number]>([
  ['installing', false, 409],
  ['installing', true, 409],
  ['suspended', false, 409],
  ['suspended', true, 200],
  ['maintenance', false, 200],
])(
  'backups of a server that is %s, for an administrator: %s, have the status %i',
  async (conflict, admin, expected) => {
    open({ admin });
    survival.conflict = conflict;
    const [status] = await ofServer('backups');
    expect(status).toBe(expected);
  },
);

it('credentials contain a token for the server, and the address of its node', async () => {
  const [status, body] = await ofServer('websocket');
  const { token, url } = body as { readonly token: string; readonly url: string };
  expect([status, url]).toEqual([
    200,
    `wss://node-${survival.node}.of.panel:8080/api/servers/${survival.uuid}/ws`,
  ]);
  const nowMs = clock.toUnixMs(clock.now());
  expect(await checkToken(KEY, token, { nowMs, validSinceMs: 0 })).toMatchObject({
    ok: true,
    claims: { serverUuid: survival.uuid },
  });
});

it('an unknown server and an unknown path are not found', async () => {
  expect(await get('/client/servers/00000000/resources')).toEqual([404, texts('server not found')]);
  expect(await get('/client/nonsense')).toEqual([404, texts('route not found')]);
});

it('nodes are listed for administrators only', async () => {
  expect((await get('/admin/nodes'))[0]).toBe(403);
  open({ admin: true });
  expect(await get('/admin/nodes')).toMatchObject([200, { nodes: { page: 1 } }]);
});
