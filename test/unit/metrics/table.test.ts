import { expect, test } from 'vitest';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../../src/metrics/families.ts';
import { renderMetricTables } from '../../support/metric-tables.ts';

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
