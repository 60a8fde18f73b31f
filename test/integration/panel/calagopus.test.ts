import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PanelApi } from '../../../src/panel/panel-api.ts';
import { defaultApiKey } from '../../../src/simulator/simulator.ts';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { eventually } from '../../support/eventually.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { observed, simulated, yamlOf } from '../../support/stage.ts';
import { apiOptions } from './panel-api.ts';

const never = () => new AbortController().signal;

const BACKUP = { is_successful: true, completed_at: '2026-01-02T03:04:05.678901Z', bytes: 5 };

describe('a simulated Calagopus', () => {
  let panel: Simulator;

  beforeEach(async () => {
    panel = await simulated({
      panel: 'calagopus',
      servers: [
        { name: 'one', backups: [BACKUP], schedules: [{ name: 'nightly', everyMs: 1 }] },
        { name: 'two', profile: 'offline' },
        { name: 'suspended', profile: 'suspended' },
      ],
    });
  });

  const configured = () => [
    'servers:',
    ...panel.servers.map(({ uuid, name }) => `  - { id: ${uuid}, name: ${name}, expect: any }`),
  ];

  it.each([
    ['discovered', () => ['discover: true']],
    ['configured', configured],
  ])('has servers that stream if they are %s, with their backups and schedules', async (_how, lines) => {
    const exporter = await observed({
      yaml: yamlOf(panel, [...lines(), 'backups: true', 'schedules: true']),
    });
    await exporter.until('gameserver_exporter_sockets', { state: 'streaming' }, 2);
    await exporter.until('gameserver_state', { server: 'one', state: 'running' }, 1);
    await exporter.until('gameserver_state', { server: 'two', state: 'offline' }, 1);
    await exporter.until('gameserver_blocked', { server: 'suspended', reason: 'suspended' }, 1);
    await exporter.until('gameserver_backups', { server: 'one' }, 1);
    const loud = exporter.lines.filter(({ level }) => level === 'warn' || level === 'error');
    expect(loud).toEqual([]);
  });

  it('has the memory limit, egg and node of its list', async () => {
    const exporter = await observed({ yaml: yamlOf(panel, ['discover: true']) });
    await exporter.until('gameserver_info', { server: 'one', node: 'node-1' }, 1);
    await exporter.until('gameserver_exporter_allowed_calls_per_minute', { panel: 'main' }, 576);
  });
});

it.each(['auto', 'poll'])(
  'a suspended server stays blocked although an administrator may poll it: %s',
  async (mode) => {
    const names = ['one', 'two', 'three'];
    const panel = await simulated({
      panel: 'calagopus',
      admin: true,
      servers: [...names.map((name) => ({ name })), { name: 'suspended', profile: 'suspended' }],
    });
    const servers = panel.servers.map(
      ({ uuid, name }) => `  - { id: ${uuid}, name: ${name}, mode: ${mode} }`,
    );
    const exporter = await observed({ yaml: yamlOf(panel, ['servers:', ...servers]) });
    const condition = mode === 'poll' ? 'polling' : 'streaming';
    const isBlocked = () =>
      exporter.value('gameserver_blocked', { server: 'suspended', reason: 'suspended' });
    await exporter.until('gameserver_exporter_servers', { condition }, 3);
    await exporter.until('gameserver_blocked', { server: 'suspended', reason: 'suspended' }, 1);
    // The node's later lists also contain the server.
    const { calls } = panel.record;
    await eventually(() => expect(panel.record.calls.length).toBeGreaterThan(calls.length + 3));
    expect(await isBlocked()).toBe(1);
    const loud = exporter.lines.filter(({ level }) => level === 'warn' || level === 'error');
    expect(loud).toEqual([]);
  },
);

it('servers of a node are polled together, also with a key that may only read', async () => {
  const panel = await simulated({ panel: 'calagopus', servers: 40, accountPermissions: ['servers.read'] });
  const servers = panel.servers.map(({ uuid, name }) => `  - { id: ${uuid}, name: ${name}, mode: poll }`);
  const exporter = await observed({ yaml: yamlOf(panel, ['servers:', ...servers]) });
  const polls = () => panel.record.calls.filter(({ endpoint }) => endpoint === 'resources');
  const lists = () => polls().filter(({ server }) => server === undefined);
  await exporter.until('gameserver_exporter_servers', { condition: 'polling' }, 40);
  await eventually(() => expect(lists().length).toBeGreaterThan(10));
  // Servers are polled individually only before the first list, or while few servers of a node are
  // polled.
  const alone = polls().length - lists().length;
  expect(alone).toBeLessThan(40 + 4);
  expect(await exporter.value('gameserver_exporter_servers', { condition: 'polling' })).toBe(40);
  expect(lists().every(({ status }) => status === 200)).toBe(true);
});

it('no daemon has more sockets without an accepted token than it allows, even if it accepts none', async () => {
  const panel = await simulated({ panel: 'calagopus', servers: 100 });
  const exporter = await observed({ yaml: yamlOf(panel, ['discover: true']) });
  const streaming = () => exporter.until('gameserver_exporter_sockets', { state: 'streaming' }, 100);
  await streaming();
  panel.failSockets({ kind: 'ignore-auth' });
  panel.sockets({ kind: 'drop' });
  await exporter.until('gameserver_exporter_servers', { condition: 'polling' }, 100);
  panel.clearFaults();
  await streaming();
  expect(panel.record.counters.socketsLimited).toBe(0);
});

it.each([
  ['backups', 'backups.read'],
  ['schedules', 'schedules.read'],
])("the log names Calagopus' permission for %s: %s", async (what, permission) => {
  const panel = await simulated({ panel: 'calagopus', servers: 2, accountPermissions: ['servers.read'] });
  const exporter = await observed({ yaml: yamlOf(panel, ['discover: true', `${what}: true`]) });
  const warnings = () => exporter.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  await eventually(() =>
    expect(warnings()).toEqual([
      expect.stringContaining(`; the account needs the permission ${permission}; retrying in a day`),
    ]),
  );
});

describe('an exporter of a Calagopus and one of a Pterodactyl', () => {
  /**
   * Data that Calagopus doesn't report: its daemon runs the schedules, and doesn't count the disk's
   * reads and writes.
   */
  const UNKNOWN = [
    'gameserver_disk_read_bytes_total one   panel server_id',
    'gameserver_disk_read_bytes_total two   panel server_id',
    'gameserver_disk_written_bytes_total one   panel server_id',
    'gameserver_disk_written_bytes_total two   panel server_id',
    'gameserver_schedule_next_run_timestamp_seconds one   panel schedule schedule_id server_id',
    'gameserver_schedule_processing one   panel schedule schedule_id server_id',
  ];

  const exporterOf = async (kind: 'pterodactyl' | 'calagopus') => {
    const panel = await simulated({
      panel: kind,
      servers: [
        {
          name: 'one',
          backups: [BACKUP],
          schedules: [{ name: 'nightly', everyMs: 1 }],
          players: { max: 20 },
        },
        { name: 'two', profile: 'offline' },
        { name: 'suspended', profile: 'suspended' },
      ],
    });
    const exporter = await observed({
      yaml: yamlOf(panel, ['discover: true', 'backups: true', 'schedules: true']),
    });
    await exporter.until('gameserver_exporter_sockets', { state: 'streaming' }, 2);
    await exporter.until('gameserver_backups', { server: 'one' }, 1);
    return exporter;
  };

  /** The series without their values, and without labels that differ between panels. */
  const seriesOf = (text: string) =>
    parseExposition(text).flatMap(({ series }) =>
      series.map(({ name, labels: { server = '', state = '', reason = '', ...labels } }) =>
        [name, server, state, reason, ...Object.keys(labels).sort()].join(' '),
      ),
    );

  it('have the same series, except for what a Calagopus does not know', async () => {
    const [usual, other] = await Promise.all([exporterOf('pterodactyl'), exporterOf('calagopus')]);
    await eventually(async () => {
      const [expected, shown] = [seriesOf(await usual.scrape()), seriesOf(await other.scrape())];
      expect(shown.filter((series) => !expected.includes(series))).toEqual([]);
      expect(expected.filter((series) => !shown.includes(series))).toEqual(UNKNOWN);
    });
  });

  it('have the same fields in their JSON, except for the disk', async () => {
    const fields = async ({ url }: { readonly url: string }) => {
      const { servers } = (await (await fetch(`${url}/api/v1/servers`)).json()) as { servers: object[] };
      return servers.map((server) => Object.keys(server).sort());
    };
    const [usual, other] = await Promise.all([exporterOf('pterodactyl'), exporterOf('calagopus')]);
    await eventually(async () => {
      const [expected, shown] = [await fields(usual), await fields(other)];
      const missing = expected.map((names, at) => names.filter((name) => !shown[at]?.includes(name)));
      expect([...new Set(missing.flat())]).toEqual(['disk_read_bytes_total', 'disk_written_bytes_total']);
      expect(shown.flat().filter((name) => !expected.flat().includes(name))).toEqual([]);
    });
    const page = await fetch(other.url, { headers: { accept: 'text/html' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ]);
  });
});

describe('the calls of a Calagopus', () => {
  let panel: Simulator;
  let api: PanelApi;
  afterEach(() => api.close());

  async function start(settings: Parameters<typeof simulated>[0], apiKey = defaultApiKey('calagopus')) {
    panel = await simulated({ panel: 'calagopus', ...settings });
    api = new PanelApi(apiOptions(panel.url, { apiKey: () => apiKey }));
  }

  const causeOf = (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (error: { problem: { cause: string; detail: string } }) => error.problem,
    );

  it('are in its dialect after the first response, whatever the key looks like', async () => {
    await start({ servers: 2 }, 'ptlc_0123456789');
    expect(await causeOf(api.get('listing', { perPage: 100 }, never()))).toMatchObject({
      cause: 'key_refused',
      detail: expect.stringContaining('GET /api/client/servers?page=1&per_page=100 returned 401'),
    });
  });

  it('read every page, of all servers where an administrator asks for them', async () => {
    await start({
      admin: true,
      servers: [...Array(5).keys()].map((index) => ({ name: `s${index}`, owned: index < 2 })),
    });
    const names = async (type?: 'admin' | 'admin-all') => {
      const first = (await api.get('listing', { page: 1, perPage: 2, type }, never())).value;
      const pages = [first];
      for (let page = 2; page <= first.totalPages; page += 1)
        pages.push((await api.get('listing', { page, perPage: 2, type }, never())).value);
      return pages.flatMap(({ servers }) => servers.map(({ name }) => name)).sort();
    };
    expect(await names()).toEqual(['s0', 's1']);
    expect(await names('admin')).toEqual(['s2', 's3', 's4']);
  });

  it.each([
    ['listing', 'servers.read', 'listing_refused'],
    ['backups', 'backups.read', 'forbidden'],
    ['schedules', 'schedules.read', 'forbidden'],
  ] as const)('name the permission that the key lacks: %s', async (endpoint, permission, cause) => {
    await start({ servers: 1, accountPermissions: ['control.read-console'] });
    const [server] = panel.servers;
    expect(await causeOf(api.get(endpoint, { id: server?.uuid ?? '' }, never()))).toMatchObject({
      cause,
      detail: expect.stringContaining(permission),
    });
  });

  it.each([
    [{ allowedAddresses: ['203.0.113.7'] }, 'key_address'],
    [{ twoFactorRequired: true }, 'key_two_factor'],
    [{ rateLimitPerMinute: 2 }, 'rate_limited'],
  ])('are refused with %s', async (settings, cause) => {
    await start({ servers: 1, ...settings });
    for (let call = 0; call < 3; call += 1) await causeOf(api.get('listing', {}, never()));
    expect(await causeOf(api.get('listing', {}, never()))).toMatchObject({ cause });
  });
});
