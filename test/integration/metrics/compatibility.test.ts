import { beforeEach, expect, test } from 'vitest';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { configFor } from '../../support/exporter.ts';
import { observed, simulated } from '../../support/stage.ts';

const PREFIX = 'pterodactyl_server_';

let panel: Simulator;

beforeEach(async () => {
  panel = await simulated({
    rateLimitPerMinute: 6_000,
    servers: [
      { name: 'survival', limits: { memory: 4_096, swap: -1, disk: 20_480, cpu: 250, io: 300 } },
      { name: 'lobby', limits: { memory: 512, swap: 0, disk: 0, cpu: 0, io: 500 } },
    ],
  });
});

test.each([
  ['pterodactyl_exporter', PREFIX],
  ['pelican_exporter', 'pelican_server_'],
])("a dashboard of %s finds its metrics, with the panel's own values", async (other, prefix) => {
  const yaml = `${configFor(panel, ['limits_from_listing: true'])}\ncompatibility: ${other}\n`;
  const exporter = await observed({ yaml });
  const [survival] = panel.servers;
  const labels = { server_name: 'survival', id: survival?.identifier ?? '' };
  await exporter.until(`${prefix}max_memory_mebibyte`, labels, 4_096);
  await exporter.until(`${prefix}max_swap_mebibyte`, labels, -1);
  await exporter.until(`${prefix}max_disk_mebibyte`, labels, 20_480);
  await exporter.until(`${prefix}max_cpu_absolute`, labels, 250);
  await exporter.until(`${prefix}io`, labels, 300);
  await exporter.until(`${prefix}max_disk_mebibyte`, { server_name: 'lobby' }, 0);
  expect(await exporter.value(`${prefix}uptime_milliseconds`, labels)).toBeGreaterThan(0);
  expect(await exporter.value(`${prefix}memory_mebibyte`, labels)).toBeGreaterThan(0);
});

test('a reload adds and removes the compatible names', async () => {
  const yaml = configFor(panel);
  const exporter = await observed({ yaml });
  await exporter.until('gameserver_collection_up', { server: 'survival' }, 1);
  expect(await exporter.scrape()).not.toContain(PREFIX);
  await exporter.reload(`${yaml}\ncompatibility: pterodactyl_exporter\n`);
  expect(await exporter.value(`${PREFIX}memory_mebibyte`, { server_name: 'survival' })).toBeGreaterThan(0);
  await exporter.reload(yaml);
  expect(await exporter.scrape()).not.toContain(PREFIX);
});
