import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { type ExporterOptions, type ExporterUnderTest, startExporter } from '../../support/exporter.ts';
import { pageData } from '../../support/page-data.ts';
import { TestTime } from '../../support/test-time.ts';

const SURVIVAL = 'a1a1a1a1-0000-4000-8000-000000000001';
const LOBBY = 'b2b2b2b2-0000-4000-8000-000000000002';
const STRANGERS = 'c3c3c3c3-0000-4000-8000-000000000003';

/** Much faster than real time: the minute between two readings of the server list passes in a fraction of a second. */
const SPEED = 200;

let time: TestTime;
let stops: (() => Promise<void>)[] = [];

beforeEach(() => {
  time = new TestTime(SPEED);
});

afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()));
  stops = [];
});

async function panelWith(options: SimulatorOptions): Promise<Simulator> {
  const panel = await startSimulator({ clock: time.clock(), rateLimitPerMinute: 6_000, ...options });
  stops.push(() => panel.stop());
  return panel;
}

const SERVERS: NonNullable<SimulatorOptions['servers']> = [
  {
    name: 'survival',
    uuid: SURVIVAL,
    node: 'fra-1',
    egg: 'Paper',
    limits: { memory: 1_024, disk: 0, cpu: 250 },
  },
  { name: 'lobby', uuid: LOBBY, node: 'ams-1', egg: 'Velocity', limits: { memory: 0 } },
  { name: 'not ours', uuid: STRANGERS, owned: false },
];

function yamlOf(panel: Simulator, lines: readonly string[]): string {
  const settings = [`url: ${panel.url}`, `api_key: ${panel.apiKey}`, 'staleness: 10m', ...lines];
  return ['panels:', '  - name: main', ...settings.map((line) => `    ${line}`)].join('\n');
}

async function observe(
  panel: Simulator,
  lines: readonly string[],
  options: Pick<ExporterOptions, 'shard' | 'random'> = {},
) {
  const exporter = await startExporter({ yaml: yamlOf(panel, lines), clock: time.clock(), ...options });
  stops.push(() => exporter.stop());
  return exporter;
}

/** The servers' names according to `gameserver_info`. */
async function namesOf(exporter: ExporterUnderTest): Promise<string[]> {
  const text = await exporter.scrape();
  return [...text.matchAll(/^gameserver_info\{.*?server="([^"]*)"/gm)].map(([, name]) => name ?? '').sort();
}

function untilNames(exporter: ExporterUnderTest, names: readonly string[]): Promise<void> {
  return time.eventually(async () => expect(await namesOf(exporter)).toEqual(names));
}

const callsOf = (panel: Simulator, endpoint: string) =>
  panel.record.calls.filter((call) => call.endpoint === endpoint).length;

/** Waits for this many further responses with the server list. */
async function listings(panel: Simulator, more: number): Promise<void> {
  const before = callsOf(panel, 'listing');
  await time.eventually(() => expect(callsOf(panel, 'listing')).toBeGreaterThanOrEqual(before + more));
}

/** The first server of the JSON API. */
async function firstServer({ url }: ExporterUnderTest) {
  const { servers } = (await (await fetch(`${url}/api/v1/servers`)).json()) as {
    servers: { cause?: string; trouble?: string; condition: string }[];
  };
  return servers[0];
}

describe('discovery', () => {
  it("monitors the account's servers with their names, node, egg and limits, and expects a server to run once it was seen running", async () => {
    const panel = await panelWith({ servers: SERVERS });
    const exporter = await observe(panel, ['discover: { type: owner }']);
    await untilNames(exporter, ['lobby', 'survival']);
    const survival = { server: 'survival', server_id: SURVIVAL.slice(0, 8) };
    await exporter.until('gameserver_info', { ...survival, node: 'fra-1', egg: 'Paper', uuid: SURVIVAL }, 1);
    await exporter.until('gameserver_collection_streaming', survival, 1);
    await exporter.until('gameserver_cpu_limit_cores', survival, 2.5);
    expect(await exporter.value('gameserver_disk_limit_bytes', survival)).toBeUndefined();
    // The node's limit is 5 % above the listed one and takes precedence.
    const granted = Math.floor(1_024 * 1_048_576 * 1.05);
    expect(await exporter.value('gameserver_memory_limit_bytes', survival)).toBe(granted);
    await exporter.until('gameserver_expected_running', survival, 1);
    // For a server without a limit, the node reports the memory of the host.
    await exporter.until('gameserver_collection_up', { server: 'lobby' }, 1);
    expect(await exporter.value('gameserver_memory_limit_bytes', { server: 'lobby' })).toBeUndefined();
    expect(await exporter.value('gameserver_exporter_discovered_servers')).toBe(2);
    expect(await exporter.value('gameserver_exporter_discovery_failures_total')).toBe(0);
    const succeeded = await exporter.value('gameserver_exporter_discovery_last_success_timestamp_seconds');
    expect(succeeded).toBeGreaterThan(1_600_000_000);
  });

  it.each([
    ['type: admin-all', ['lobby', 'not ours', 'survival']],
    ['type: admin', ['not ours']],
    ['include: { node: [FRA-*] }', ['survival']],
    ['exclude: { egg: [velocity], name: [nobody] }', ['survival']],
    [`include: { id: [${LOBBY.slice(0, 8)}] }`, ['lobby']],
  ])('with %s, it monitors %j', async (setting, names) => {
    const panel = await panelWith({ servers: SERVERS, admin: setting.includes('admin') });
    const exporter = await observe(panel, [`discover: { ${setting} }`]);
    await untilNames(exporter, names);
    expect(await exporter.value('gameserver_exporter_discovered_servers')).toBe(names.length);
  });

  it('prefers the configuration to the server list, and adds servers from it', async () => {
    const panel = await panelWith({ servers: SERVERS });
    const exporter = await observe(panel, [
      'discover: { exclude: { name: [lobby] }, labels: { from: panel }, expect: [{ match: { name: [surv*] } }] }',
      'servers:',
      `  - { id: ${LOBBY.slice(0, 8)}, labels: { game: proxy }, limits: { cpu_cores: 7 } }`,
      `  - { id: ${STRANGERS}, name: named here, expect: any }`,
    ]);
    await untilNames(exporter, ['lobby', 'named here', 'survival']);
    const lobby = { server: 'lobby', server_id: LOBBY.slice(0, 8), game: 'proxy' };
    await exporter.until('gameserver_info', { ...lobby, node: 'ams-1', uuid: LOBBY }, 1);
    expect(await exporter.value('gameserver_expected_running', lobby)).toBe(1);
    await exporter.until('gameserver_cpu_limit_cores', lobby, 7);
    expect(await exporter.value('gameserver_expected_running', { server: 'survival', from: 'panel' })).toBe(
      1,
    );
    expect(panel.record.sockets(LOBBY).opened).toBe(1);
  });

  it("follows servers as they appear and disappear, and keeps the others' sockets", async () => {
    const panel = await panelWith({ servers: SERVERS, maxPerPage: 1 });
    const exporter = await observe(panel, ['discover: { interval: 1m }']);
    await untilNames(exporter, ['lobby', 'survival']);
    await exporter.until('gameserver_collection_streaming', { server: 'survival' }, 1);
    panel.addServer({ name: 'new' });
    panel.deleteServer('lobby');
    await untilNames(exporter, ['new', 'survival']);
    await exporter.until('gameserver_collection_streaming', { server: 'new' }, 1);
    expect(await exporter.scrape()).not.toContain('server="lobby"');
    expect(panel.record.sockets(SURVIVAL).opened).toBe(1);
  });

  it('keeps every server when a page of the server list fails', async () => {
    const panel = await panelWith({ servers: SERVERS, maxPerPage: 1 });
    const exporter = await observe(panel, ['discover: { interval: 1m }']);
    await untilNames(exporter, ['lobby', 'survival']);
    panel.failRest({ kind: 'refuse', endpoint: 'listing', page: 2, status: 500 });
    await listings(panel, 8);
    expect(await namesOf(exporter)).toEqual(['lobby', 'survival']);
    panel.clearFaults();
    panel.failRest({ kind: 'refuse', endpoint: 'listing', page: 1, status: 500 });
    await listings(panel, 4);
    expect(await namesOf(exporter)).toEqual(['lobby', 'survival']);
    expect(await exporter.value('gameserver_exporter_discovery_failures_total')).toBeGreaterThan(2);
    const incomplete = exporter.lines.filter(({ message }) => message.includes('server list incomplete'));
    expect(incomplete.filter(({ level }) => level === 'warn')).toHaveLength(1);
    panel.clearFaults();
    panel.addServer({ name: 'new' });
    await untilNames(exporter, ['lobby', 'new', 'survival']);
  });

  it('reports a blocked server by its flags, without a call, and reconnects at once when they are cleared', async () => {
    const panel = await panelWith({ servers: SERVERS });
    panel.suspend('survival');
    const exporter = await observe(panel, ['discover: { interval: 1m, include: { name: [survival] } }']);
    await exporter.until('gameserver_blocked', { server: 'survival', reason: 'suspended' }, 1);
    await listings(panel, 4);
    panel.setConflict('survival', 'transferring');
    await exporter.until('gameserver_blocked', { server: 'survival', reason: 'transferring' }, 1);
    expect(callsOf(panel, 'websocket') + callsOf(panel, 'resources')).toBe(0);
    panel.setConflict('survival', undefined);
    panel.power('survival', 'start');
    await exporter.until('gameserver_collection_streaming', { server: 'survival' }, 1);
    expect(await exporter.value('gameserver_blocked', { server: 'survival' })).toBeUndefined();
  });

  it('shows the flag of a server that still streams, without blocking it or closing the socket', async () => {
    const panel = await panelWith({ servers: SERVERS });
    const exporter = await observe(panel, ['discover: { interval: 1m, include: { name: [survival] } }']);
    await exporter.until('gameserver_collection_streaming', { server: 'survival' }, 1);
    panel.setConflict('survival', 'maintenance');
    await time.eventually(async () =>
      expect(await firstServer(exporter)).toMatchObject({
        condition: 'streaming',
        cause: 'maintenance',
        trouble: "maintenance according to the panel's server list, but the console socket streams",
      }),
    );
    expect(await exporter.value('gameserver_blocked', { server: 'survival' })).toBeUndefined();
    panel.setConflict('survival', undefined);
    await time.eventually(async () => expect(await firstServer(exporter)).not.toHaveProperty('cause'));
    expect(panel.record.sockets(SURVIVAL).opened).toBe(1);
  });

  it('requests no token for a flagged server, and lets its socket expire with the old one', async () => {
    const panel = await panelWith({ servers: SERVERS, tokenLifetimeSeconds: 240 });
    // The shortest random wait would renew the token at the moment at which the server list is read again.
    const exporter = await observe(panel, ['discover: { interval: 1m, include: { name: [survival] } }'], {
      random: () => 0.9,
    });
    await exporter.until('gameserver_collection_streaming', { server: 'survival' }, 1);
    panel.setConflict('survival', 'maintenance');
    await time.eventually(async () =>
      expect(await firstServer(exporter)).toHaveProperty('cause', 'maintenance'),
    );
    const tokens = callsOf(panel, 'websocket');
    await exporter.until('gameserver_blocked', { server: 'survival', reason: 'maintenance' }, 1);
    expect(await exporter.value('gameserver_collection_streaming', { server: 'survival' })).toBe(0);
    expect(callsOf(panel, 'websocket')).toBe(tokens);
    panel.setConflict('survival', undefined);
    await exporter.until('gameserver_collection_streaming', { server: 'survival' }, 1);
  });

  it('monitors one of two servers with the same identifier, and reports the other', async () => {
    const second = SURVIVAL.replace(/1$/, '2');
    const panel = await panelWith({
      servers: [
        { name: 'survival', uuid: SURVIVAL },
        { name: 'impostor', uuid: second },
      ],
    });
    const exporter = await observe(panel, ['discover: { interval: 1m }']);
    await untilNames(exporter, ['survival']);
    expect(await exporter.value('gameserver_exporter_discovery_ambiguous_servers')).toBe(1);
    expect(await exporter.value('gameserver_panel_problem', { cause: 'same_identifier' })).toBe(1);
    expect(await exporter.value('gameserver_panel_up')).toBe(1);
    const warnings = exporter.lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining(`first: impostor (${second})`),
    ]);
    panel.deleteServer(SURVIVAL);
    await untilNames(exporter, ['impostor']);
    await exporter.until('gameserver_exporter_discovery_ambiguous_servers', {}, 0);
  });

  it('gives servers with the same name separate series, and shows hostile names as one line of limited length', async () => {
    const panel = await panelWith({
      servers: [
        { name: 'twin', uuid: SURVIVAL, node: `a"\n\u001b[31m${'n'.repeat(500)}` },
        { name: 'twin ', uuid: LOBBY },
      ],
    });
    const exporter = await observe(panel, ['discover: {}']);
    await untilNames(exporter, ['twin', 'twin']);
    for (const uuid of [SURVIVAL, LOBBY]) {
      await exporter.until(
        'gameserver_collection_streaming',
        { server: 'twin', server_id: uuid.slice(0, 8) },
        1,
      );
    }
    const series = (await exporter.scrape())
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const names = series.map((line) => line.slice(0, line.lastIndexOf(' ')));
    expect(new Set(names).size).toBe(names.length);
    const node = /node="((?:[^"\\]|\\.)*)"/.exec(await exporter.scrape())?.[1] ?? '';
    expect(node).toMatch(/^a\\" n{100,200}…$/);
  });

  it('starts, changes and ends with a reload, and keeps the sockets of servers that stay', async () => {
    const panel = await panelWith({ servers: SERVERS, admin: true });
    const servers = ['limits_from_listing: false', 'servers:', `  - { id: ${SURVIVAL}, name: survival }`];
    const exporter = await observe(panel, servers);
    await exporter.until('gameserver_collection_streaming', { server: 'survival' }, 1);
    await exporter.reload(yamlOf(panel, ['discover: { type: admin-all }', ...servers]));
    await untilNames(exporter, ['lobby', 'not ours', 'survival']);
    await exporter.reload(
      yamlOf(panel, ['discover: { type: admin-all, exclude: { name: [not*] } }', ...servers]),
    );
    expect(await namesOf(exporter)).toEqual(['lobby', 'survival']);
    await exporter.reload(yamlOf(panel, servers));
    expect(await namesOf(exporter)).toEqual(['survival']);
    expect(await exporter.value('gameserver_exporter_discovered_servers')).toBeUndefined();
    expect(panel.record.sockets(SURVIVAL).opened).toBe(1);
  });

  it('divides discovered servers among shards', async () => {
    const panel = await panelWith({ servers: 9 });
    const shards = await Promise.all(
      [0, 1, 2].map((index) => observe(panel, ['discover: {}'], { shard: { index, total: 3 } })),
    );
    const expected = panel.servers.map(({ name }) => name).toSorted();
    await time.eventually(async () =>
      expect((await Promise.all(shards.map(namesOf))).flat().sort()).toEqual(expected),
    );
    for (const { uuid } of panel.servers) {
      await time.eventually(() => expect(panel.record.sockets(uuid).opened).toBe(1));
    }
  });

  it('shows what to check when the server list is empty', async () => {
    const panel = await panelWith({ servers: [{ name: 'survival' }] });
    const exporter = await observe(panel, ['discover: { type: admin }']);
    await time.eventually(() =>
      expect(exporter.lines.map(({ message }) => message).join('\n')).toContain('the server list is empty'),
    );
    expect(await exporter.value('gameserver_panel_up')).toBe(1);
    await exporter.until('gameserver_panel_problem', { cause: 'nothing_listed' }, 1);
    const json = await (await fetch(`${exporter.url}/api/v1/servers`)).text();
    for (const shown of [json, await pageData(exporter.url)])
      expect(shown).toContain('the server list is empty');
  });
});

describe('limits_from_listing', () => {
  it('adds limits to the servers of the configuration, and adds no servers', async () => {
    const panel = await panelWith({ servers: SERVERS });
    const exporter = await observe(panel, ['servers:', `  - { id: ${SURVIVAL.slice(0, 8)} }`]);
    const survival = { server: SURVIVAL.slice(0, 8), server_id: SURVIVAL.slice(0, 8) };
    await exporter.until('gameserver_info', { ...survival, node: 'fra-1', egg: 'Paper', uuid: SURVIVAL }, 1);
    await exporter.until('gameserver_cpu_limit_cores', survival, 2.5);
    expect(await namesOf(exporter)).toEqual([SURVIVAL.slice(0, 8)]);
    expect(await exporter.value('gameserver_exporter_discovered_servers')).toBe(0);
  });

  it('is all that is lost on a panel that refuses the server list', async () => {
    const panel = await panelWith({ servers: SERVERS });
    panel.failRest({ kind: 'refuse', status: 403, shape: 'errors', endpoint: 'listing' });
    const exporter = await observe(panel, ['servers:', `  - { id: ${SURVIVAL}, name: survival }`]);
    await exporter.until('gameserver_collection_streaming', { server: 'survival' }, 1);
    await listings(panel, 1);
    expect(await exporter.value('gameserver_panel_up')).toBe(1);
    expect(await exporter.scrape()).not.toMatch(/^gameserver_panel_problem\{/m);
    expect(await exporter.value('gameserver_cpu_limit_cores')).toBeUndefined();
    const loud = exporter.lines.filter(({ level }) => level === 'warn' || level === 'error');
    expect(loud.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^panel main: server list rejected: .*limits_from_listing: false/),
    ]);
    panel.clearFaults();
    await exporter.until('gameserver_cpu_limit_cores', { server: 'survival' }, 2.5);
  });
});
