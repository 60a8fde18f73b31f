import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { APPLICATION_KEY } from '../../../src/simulator/application-api.ts';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { eventually } from '../../support/eventually.ts';
import type { ExporterUnderTest } from '../../support/exporter.ts';
import { observed, simulated, yamlOf } from '../../support/stage.ts';

const MIB = 1_048_576;
const SERVERS = [
  { name: 'one', node: 'big', limits: { memory: 1_024, disk: 2_048, cpu: 250 } },
  { name: 'two', node: 'big', limits: { memory: 512, disk: 0 } },
];
const NODES = [
  {
    name: 'big',
    memory: 4_096,
    memory_overallocate: 25,
    disk: 8_192,
    disk_overallocate: -1,
    cpu: 800,
    cpu_overallocate: 50,
    maintenance_mode: false,
  },
  {
    name: 'closed',
    memory: 0,
    memory_overallocate: 0,
    disk: 0,
    disk_overallocate: 0,
    maintenance_mode: true,
  },
];

let panel: Simulator;

beforeEach(async () => {
  panel = await simulated({ servers: SERVERS, nodes: NODES });
});

/** Starts an exporter that reads the application key from a file. */
async function start(key: string): Promise<ExporterUnderTest> {
  const exporter = await observed({ yaml: yamlOf(panel, ['discover: true']) });
  await writeFile(join(exporter.folder, 'nodes-key'), `${key}\n`, { mode: 0o600 });
  const yaml = yamlOf(panel, ['discover: true', 'nodes: { api_key_file: nodes-key }']);
  expect(await exporter.reload(yaml)).toMatchObject({ ok: true });
  return exporter;
}

describe("a panel's nodes", () => {
  it('are read with a key of their own: capacity, allocation, maintenance', async () => {
    const started = await start(APPLICATION_KEY);
    await started.until('gameserver_node_memory_bytes', { node: 'big' }, 4_096 * MIB);
    const read = (name: string, node: string) => started.value(`gameserver_node_${name}`, { node });
    expect(await read('memory_allocated_bytes', 'big')).toBe(1_536 * MIB);
    expect(await read('memory_overallocation_ratio', 'big')).toBe(0.25);
    expect(await read('disk_bytes', 'big')).toBe(8_192 * MIB);
    expect(await read('disk_allocated_bytes', 'big')).toBe(2_048 * MIB);
    expect(await started.scrape()).toContain(
      'gameserver_node_disk_overallocation_ratio{panel="main",node="big"} +Inf',
    );
    expect(await read('maintenance', 'big')).toBe(0);
    expect(await read('maintenance', 'closed')).toBe(1);
    // On Pelican, 0 means unlimited.
    expect(await read('memory_bytes', 'closed')).toBeUndefined();
  });

  it('have a CPU on Pelican', async () => {
    panel.set({ panel: 'pelican' });
    const started = await start(APPLICATION_KEY);
    await started.until('gameserver_node_cpu_cores', { node: 'big' }, 8);
    const read = (name: string, node: string) => started.value(`gameserver_node_${name}`, { node });
    expect(await read('cpu_allocated_cores', 'big')).toBe(4.5);
    expect(await read('cpu_overallocation_ratio', 'big')).toBe(0.5);
    // 0 means unlimited.
    expect(await read('cpu_cores', 'closed')).toBeUndefined();
    expect(await read('cpu_allocated_cores', 'closed')).toBe(0);
  });

  it.each([
    ['a client key', () => panel.apiKey, 'forbidden'],
    ['an unknown key', () => 'ptla_unknown', 'key_refused'],
  ])('%s loses only them, with one line', async (_, key, cause) => {
    const started = await start(key());
    await eventually(() =>
      expect(started.lines).toContainEqual(
        expect.objectContaining({ level: 'warn', fields: expect.objectContaining({ cause }) }),
      ),
    );
    await started.until('gameserver_exporter_servers', { condition: 'streaming' }, 2);
    expect(await started.value('gameserver_panel_up')).toBe(1);
    expect(await started.value('gameserver_node_maintenance', { node: 'big' })).toBeUndefined();
    expect(started.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });
});
