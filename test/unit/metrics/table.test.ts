import { expect, test } from 'vitest';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../../src/metrics/families.ts';
import { SelfMetrics } from '../../../src/metrics/self.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { renderMetricTables, renderSelfMetricTable } from '../../support/metric-tables.ts';
import { fleetReading } from '../../support/readings.ts';

const names = (table: string) => [...table.matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]);

test('each metric has a row in one of the tables, with its own labels and its help', () => {
  const table = renderMetricTables();
  expect(table).toMatch(/^### State\n\n\| metric \| labels \| meaning \|\n(?:\| --- ){3}\|\n/);
  expect(table).toContain('| `gameserver_memory_usage_bytes` |  | Memory in use, in bytes. |\n');
  expect(table).toContain('| `gameserver_info` | `node`, `egg`, `uuid`, `proxy` | ');
  expect(table).toContain('| `gameserver_panel_up` | `panel` | ');
  const families = [...SERVER_FAMILIES, ...PANEL_FAMILIES];
  expect(names(table)).toHaveLength(families.length);
  expect(new Set(names(table))).toEqual(new Set(families.map((family) => family.name)));
});

test('the table of self-metrics lists exactly the metrics that the exporter exposes about itself', async () => {
  const self = new SelfMetrics({ version: '1', revision: '2', fleet: fleetReading([]) });
  const exposed = parseExposition(await self.metrics())
    .map((family) => family.name)
    .filter((name) => name.startsWith('gameserver_exporter_'));
  expect(new Set(names(renderSelfMetricTable()))).toEqual(new Set(exposed));
});
