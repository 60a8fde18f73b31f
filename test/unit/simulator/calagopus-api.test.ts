import { beforeEach, describe, expect, it } from 'vitest';
import { calagopusApi } from '../../../src/simulator/calagopus-api.ts';
import { nodeUuid } from '../../../src/simulator/calagopus-documents.ts';
import type { Conflict } from '../../../src/simulator/simulator-schema.ts';
import type { SettingsChange } from '../../../src/simulator/simulator-settings.ts';
import { checkToken } from '../../../src/simulator/tokens.ts';
import { SimulatedApi, SimulatedPanel } from '../../support/simulated-api.ts';

let panel: SimulatedPanel;
let api: SimulatedApi;

/** Opens a panel with these settings. */
function open(changes: SettingsChange = {}): void {
  const backups = [{ completed_at: null, bytes: 7, is_successful: false }];
  panel = new SimulatedPanel({ panel: 'calagopus', ...changes }, { backups });
  api = new SimulatedApi(panel, calagopusApi);
}

beforeEach(() => open());

const get = (path: string) => api.get(`/api${path}`);
const ofServer = (path: string) => get(`/client/servers/${panel.survival.uuid}/${path}`);
const texts = (...errors: readonly string[]) => ({ errors });

describe('the server list', () => {
  it.each<[string, boolean, string, readonly string[]]>([
    ['has the servers of the account', false, '', ['survival']],
    ['has those of others for an administrator who asks', true, '?other=true', ['foreign']],
    ['has none of others for anybody else', false, '?other=true', ['survival']],
  ])('%s', async (_what, admin, query, names) => {
    open({ admin });
    panel.fleet.add({ name: 'foreign', owned: false });
    const data = names.map((name) => ({ name }));
    expect(await get(`/client/servers${query}`)).toMatchObject([200, { servers: { data } }]);
    expect(api.passed).toEqual([{ endpoint: 'listing' }]);
  });

  it('is divided into pages of at most 100', async () => {
    panel.fleet.add({ name: 'second' });
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

it('the resources of a node are those of its servers', async () => {
  const { uuid } = panel.survival;
  const usage = { state: 'running' };
  expect(await get(`/client/servers/nodes/${nodeUuid(panel.survival)}/resources`)).toMatchObject([
    200,
    { resources: { [uuid]: usage } },
  ]);
  expect(await ofServer('resources')).toMatchObject([200, { resources: usage }]);
  expect(api.passed.map(({ endpoint, node }) => [endpoint, node])).toEqual([
    ['resources', 'node-1'],
    ['resources', 'node-1'],
  ]);
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
    panel.survival.conflict = conflict;
    const [status] = await ofServer('backups');
    expect(status).toBe(expected);
  },
);

it('credentials are given in each state of the server, with the permissions of a console', async () => {
  open({ tokenPermissions: ['control.console'] });
  panel.survival.conflict = 'installing';
  const [status, body] = await ofServer('websocket');
  const { token, url } = body as { readonly token: string; readonly url: string };
  expect([status, url]).toEqual([200, `wss://node-0.of.panel:8080/api/servers/${panel.survival.uuid}/ws`]);
  const nowMs = panel.clock.toUnixMs(panel.clock.now());
  expect(await checkToken(panel.tokenKey, token, { nowMs, validSinceMs: 0 })).toMatchObject({
    permissions: ['websocket.connect', 'meta.calagopus', 'control.console'],
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
