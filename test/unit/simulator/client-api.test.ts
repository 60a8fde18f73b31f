import { beforeEach, describe, expect, it, vi } from 'vitest';
import { clientApi } from '../../../src/simulator/client-api.ts';
import type { Conflict, ServerSpec } from '../../../src/simulator/simulator-schema.ts';
import type { SettingsChange } from '../../../src/simulator/simulator-settings.ts';
import { checkToken } from '../../../src/simulator/tokens.ts';
import { SimulatedApi, SimulatedPanel } from '../../support/simulated-api.ts';

let panel: SimulatedPanel;
let api: SimulatedApi;

/** Opens a panel with these settings and this server. */
function open(changes: SettingsChange = {}, spec: Partial<ServerSpec> = {}): void {
  panel = new SimulatedPanel(changes, spec);
  api = new SimulatedApi(panel, clientApi);
}

beforeEach(() => open());

const get = (path: string) => api.get(`/api/client${path}`);
const ofServer = (path = '', prefix = '') => get(`/servers${prefix}/${panel.survival.identifier}${path}`);
const error = (code: string, detail?: string) => ({
  errors: [{ code, ...(detail !== undefined && { detail }) }],
});

/** A list whose items have these attributes. */
const list = (...attributes: readonly object[]) => ({
  object: 'list',
  data: attributes.map((one) => ({ attributes: one })),
});
const names = (...all: readonly string[]) => list(...all.map((name) => ({ name })));

describe('the server list', () => {
  it.each<[string, boolean, string, readonly string[]]>([
    ['has the servers of the account', false, '', ['survival']],
    ['has no others for an administrator, unless asked', true, '', ['survival']],
    ['has those of others for an administrator', true, '?type=admin', ['foreign']],
    ['has all for an administrator', true, '?type=admin-all', ['survival', 'foreign']],
    ['has none of others for anybody else', false, '?type=admin', []],
    ['has nothing of all for anybody else', false, '?type=admin-all', []],
  ])('%s', async (_what, admin, query, expected) => {
    open({ admin });
    panel.fleet.add({ name: 'foreign', owned: false });
    expect(await get(query)).toMatchObject([200, names(...expected)]);
    expect(api.passed).toEqual([{ endpoint: 'listing' }]);
  });

  it('is divided into pages, at most as long as the panel allows', async () => {
    open({ maxPerPage: 2 });
    for (const name of ['second', 'third']) panel.fleet.add({ name });
    expect(await get('')).toMatchObject([200, names('survival', 'second')]);
    expect(await get('?page=2&per_page=50')).toMatchObject([200, names('third')]);
    expect(await get('?page=3&per_page=1')).toMatchObject([200, names('third')]);
  });

  it.each(['?page=0', '?per_page=-1', '?page=x', '?page=1234567890'])('rejects %s', async (query) => {
    expect(await get(query)).toMatchObject([400, error('BadRequestHttpException')]);
  });

  it.each([
    ['?include=egg', true],
    ['?include=allocations,egg', true],
    ['', false],
  ])('with the query "%s" has eggs: %s', async (query, hasEgg) => {
    const [, body] = await get(query);
    expect(JSON.stringify(body).includes('"egg"')).toBe(hasEgg);
  });

  it.each([
    [false, () => panel.survival.identifier],
    [true, () => expect.stringMatching(/^serv_/) as string],
  ])('has long identifiers: %s', async (longIdentifiers, identifier) => {
    open({ longIdentifiers });
    expect(await get('')).toMatchObject([200, list({ identifier: identifier() })]);
  });
});

describe('a server', () => {
  it('is found by its UUID and its short id, and named to the gate', async () => {
    for (const id of [panel.survival.uuid, panel.survival.identifier])
      expect(await get(`/servers/${id}`)).toMatchObject([200, { attributes: { name: 'survival' } }]);
    const server = panel.survival.uuid;
    expect(api.passed).toEqual(
      Array.from({ length: 2 }, () => ({ endpoint: 'other', server, node: 'node-1' })),
    );
  });

  it('that is unknown is not found, and another user’s neither, in other words', async () => {
    panel.fleet.add({ name: 'foreign', owned: false });
    const foreign = panel.fleet.find('foreign')?.uuid;
    expect(await get('/servers/0badcafe')).toMatchObject([404, error('NotFoundHttpException')]);
    expect(await get(`/servers/${foreign}`)).toMatchObject([
      404,
      error('NotFoundHttpException', 'The requested resource does not exist on this server.'),
    ]);
    expect(api.passed).toMatchObject([{ server: '0badcafe' }, { server: foreign }]);
  });

  it('of another user is an administrator’s as well, with more permissions in its tokens', async () => {
    open({ admin: true, tokenPermissions: ['websocket.connect'] }, { owned: false });
    const permissions = expect.arrayContaining(['websocket.connect', 'admin.websocket.errors']) as string[];
    expect(await ofServer()).toMatchObject([
      200,
      { meta: { is_server_owner: false, user_permissions: permissions } },
    ]);
  });
});

describe('on Hydrodactyl', () => {
  beforeEach(() => open({ panel: 'hydrodactyl' }, { daemonType: 'elytra' }));

  it.each<[path: string, prefix: string, status: number]>([
    ['', '', 200],
    ['/resources', '', 200],
    ['/websocket', '', 404],
    ['/websocket', '/elytra', 200],
    ['/backups', '/elytra', 200],
    ['/schedules', '', 404],
    ['/websocket', '/wings', 400],
    ['/websocket', '/other', 404],
  ])('%s below "%s" responds with %s', async (path, prefix, status) => {
    expect((await ofServer(path, prefix))[0]).toBe(status);
  });

  it('names the daemon of a server, also in a refusal', async () => {
    expect(await ofServer()).toMatchObject([200, { meta: { daemonType: 'elytra' } }]);
    const detail = "This endpoint requires daemon type 'wings', but server is using 'elytra'.";
    expect(await ofServer('/websocket', '/wings')).toMatchObject([400, error('HttpException', detail)]);
  });

  it('paths with a daemon are those of no other panel', async () => {
    open();
    expect((await ofServer('/websocket', '/wings'))[0]).toBe(404);
  });
});

describe('credentials', () => {
  it('are a token for the server, and its node’s address as the client reached the panel', async () => {
    open({ tokenPermissions: ['websocket.connect'] });
    const [status, body] = await ofServer('/websocket');
    const { token, socket } = (body as { data: { token: string; socket: string } }).data;
    expect([status, socket]).toEqual([
      200,
      `wss://node-0.of.panel:8080/api/servers/${panel.survival.uuid}/ws`,
    ]);
    const nowMs = panel.clock.toUnixMs(panel.clock.now());
    expect(await checkToken(panel.tokenKey, token, { nowMs, validSinceMs: 0 })).toMatchObject({
      claims: { serverUuid: panel.survival.uuid },
      permissions: ['websocket.connect'],
    });
  });

  it('require a permission', async () => {
    open({ accountPermissions: ['control.console'] });
    expect(await ofServer('/websocket')).toMatchObject([403, error('HttpForbiddenException')]);
  });

  it.each<[Conflict, SettingsChange, number]>([
    ['suspended', {}, 409],
    ['suspended', { suspendedCredentials: 'issue' }, 200],
    ['suspended', { admin: true }, 409],
    ['installing', {}, 409],
    ['installing', { admin: true }, 200],
    ['transferring', { admin: true }, 200],
    ['maintenance', { admin: true }, 409],
    ['reinstall_failed', {}, 200],
  ])('of a server that is %s, with %j, have the status %s', async (conflict, changes, status) => {
    open(changes);
    panel.survival.conflict = conflict;
    expect((await ofServer('/websocket'))[0]).toBe(status);
  });
});

describe('resources', () => {
  const state = (current_state: string) => [200, { attributes: { current_state } }];

  it('are cached for 20 s', async () => {
    expect(await ofServer('/resources')).toMatchObject(state('running'));
    panel.fleet.apply(panel.survival, 'kill');
    await panel.clock.advance(19_999);
    expect(await ofServer('/resources')).toMatchObject(state('running'));
    await panel.clock.advance(1);
    expect(await ofServer('/resources')).toMatchObject(state('offline'));
  });

  it.each<[SettingsChange, unknown]>([
    [{}, [504, error('DaemonConnectionException')]],
    [{ unreachable: 'missing' }, state('missing')],
  ])('of a node that is down, with %j', async (changes, expected) => {
    open(changes);
    panel.survival.nodeDown = true;
    const answer = ofServer('/resources');
    await panel.clock.advance(0);
    expect(await answer).toMatchObject(expected as object);
  });

  it('of a node that is down may come late', async () => {
    open({ unreachableDelayMs: 20_000 });
    panel.survival.nodeDown = true;
    const late = ofServer('/resources');
    const ended = vi.fn<() => void>();
    void late.finally(ended);
    await panel.clock.advance(19_999);
    expect(ended).not.toHaveBeenCalled();
    await panel.clock.advance(1);
    expect((await late)[0]).toBe(504);
  });
});

describe.each(['backups', 'schedules'] as const)('%s', (what) => {
  it('require their permission', async () => {
    open({ accountPermissions: ['websocket.connect'] });
    expect(await ofServer(`/${what}`)).toMatchObject([403, error('AccessDeniedHttpException')]);
  });

  it('are refused while the server can’t be used', async () => {
    panel.survival.conflict = 'restoring_backup';
    expect(await ofServer(`/${what}`)).toMatchObject([409, error('ServerStateConflictException')]);
  });
});

it('backups are divided into pages, of which each says how many were successful', async () => {
  const backup = (bytes: number) => ({
    bytes,
    completed_at: '2026-01-02T03:04:05+00:00',
    is_successful: bytes !== 2,
  });
  open({}, { backups: [1, 2, 3].map(backup) });
  expect(await ofServer('/backups?per_page=2')).toMatchObject([
    200,
    { ...list({ bytes: 1 }, { bytes: 2 }), meta: { backup_count: 2 } },
  ]);
  expect(await ofServer('/backups?per_page=0')).toMatchObject([400, error('BadRequestHttpException')]);
});

it('schedules are shown as the panel has run them', async () => {
  open({}, { schedules: [{ name: 'restart', everyMs: 60_000 }] });
  expect(await ofServer('/schedules')).toMatchObject([200, names('restart')]);
});

it('a path that doesn’t exist is named in the refusal', async () => {
  const detail = 'The route api/client/nothing could not be found.';
  expect(await get('/nothing')).toMatchObject([404, error('NotFoundHttpException', detail)]);
  expect(api.passed).toEqual([{ endpoint: 'other' }]);
});
