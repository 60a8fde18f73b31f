import { beforeEach, describe, expect, it } from 'vitest';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/simulator-interface.ts';
import { eventually } from '../../support/eventually.ts';
import type { ExporterUnderTest } from '../../support/exporter.ts';
import { observed, simulated, yamlOf } from '../../support/stage.ts';
import { TestTime } from '../../support/test-time.ts';

const SURVIVAL = 'a1a1a1a1-0000-4000-8000-000000000001';
const LOBBY = 'b2b2b2b2-0000-4000-8000-000000000002';
const STRANGERS = 'c3c3c3c3-0000-4000-8000-000000000003';

/**
 * So fast that the minute between two readings of the server list passes in a fraction of a second.
 */
const SPEED = 200;

let time: TestTime;

beforeEach(() => {
  time = new TestTime(SPEED);
});

const panelWith = (options: SimulatorOptions) =>
  simulated({ clock: time.clock(), rateLimitPerMinute: 6_000, ...options });

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

const observe = (panel: Simulator, lines: readonly string[]) =>
  observed({ yaml: yamlOf(panel, ['staleness: 10m', ...lines]), clock: time.clock() });

/** The names of the servers in `gameserver_info`. */
async function namesOf(exporter: ExporterUnderTest): Promise<string[]> {
  const text = await exporter.scrape();
  return [...text.matchAll(/^gameserver_info\{.*?server="([^"]*)"/gm)].map(([, name]) => name ?? '').sort();
}

function untilNames(exporter: ExporterUnderTest, names: readonly string[]): Promise<void> {
  return eventually(async () => expect(await namesOf(exporter)).toEqual(names));
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
    // The node's limit has priority. It is 5 % above the limit in the server list.
    const granted = Math.floor(1_024 * 1_048_576 * 1.05);
    expect(await exporter.value('gameserver_memory_limit_bytes', survival)).toBe(granted);
    await exporter.until('gameserver_expected_running', survival, 1);
    // For a server without a limit, the node reports the memory of its machine.
    await exporter.until('gameserver_collection_up', { server: 'lobby' }, 1);
    expect(await exporter.value('gameserver_memory_limit_bytes', { server: 'lobby' })).toBeUndefined();
    expect(await exporter.value('gameserver_exporter_discovered_servers')).toBe(2);
    expect(await exporter.value('gameserver_exporter_discovery_failures_total')).toBe(0);
    const succeeded = await exporter.value('gameserver_exporter_discovery_last_success_timestamp_seconds');
    expect(succeeded).toBeGreaterThan(1_600_000_000);
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

  it('drops a deleted server at the next reading of the list, which comes at once', async () => {
    const panel = await panelWith({ servers: SERVERS });
    const exporter = await observe(panel, ['discover: { interval: 1h, expect: [{ match: {} }] }']);
    await untilNames(exporter, ['lobby', 'survival']);
    await exporter.until('gameserver_collection_streaming', { server: 'lobby' }, 1);
    panel.deleteServer('lobby');
    await untilNames(exporter, ['survival']);
  });

  it.each([
    ['shows serv_ identifiers', { longIdentifiers: true }],
    ['becomes a Pelican', { panel: 'pelican' }],
    ['shows serv_ identifiers as Pelican', { panel: 'pelican', longIdentifiers: true }],
  ] as const)('keeps the series and exclusions of servers when a panel %s', async (_what, change) => {
    const panel = await panelWith({ servers: SERVERS });
    const rules = `discover: { interval: 1m, exclude: { id: [${LOBBY.slice(0, 8)}] } }`;
    const exporter = await observe(panel, [rules]);
    const survival = { server: 'survival', server_id: SURVIVAL.slice(0, 8) };
    await exporter.until('gameserver_collection_streaming', survival, 1);
    panel.set(change);
    const read = 'gameserver_exporter_discovery_last_success_timestamp_seconds';
    const before = (await exporter.value(read)) ?? 0;
    const observed = 'gameserver_observed_seconds_total';
    const seen = (await exporter.value(observed, survival)) ?? 0;
    await eventually(async () => expect(await exporter.value(read)).toBeGreaterThan(before + 60));
    expect(await namesOf(exporter)).toEqual(['survival']);
    await exporter.until('gameserver_collection_streaming', survival, 1);
    // The counter of a server that was dropped and added again would start at 0.
    expect(await exporter.value(observed, survival)).toBeGreaterThan(seen);
  });
});
