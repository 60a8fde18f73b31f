import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPATIBILITY_FAMILIES } from '../../../src/metrics/compatibility.ts';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../../src/metrics/families.ts';
import { PANEL_GAUGES, SELF_FAMILIES } from '../../../src/metrics/self-families.ts';
import {
  renderCompatibilityTable,
  renderMetricTable,
  renderSelfMetricTable,
} from '../../../src/metrics/table.ts';
import { ensureDebianPackage } from '../../support/debian.ts';
import { documents, fencedBlocks } from '../../support/documents.ts';
import { expectSection } from '../../support/generated.ts';

it('the tables are what the code defines', () => {
  expectSection('docs/metrics.md', 'metrics', renderMetricTable());
  expectSection('docs/metrics.md', 'self-metrics', renderSelfMetricTable());
  expectSection('docs/migration.md', 'compatibility', renderCompatibilityTable());
});

const histograms = Object.values(SELF_FAMILIES).filter(({ type }) => type === 'histogram');

const NAMES = new Set([
  ...[...SERVER_FAMILIES, ...PANEL_FAMILIES, ...PANEL_GAUGES, ...COMPATIBILITY_FAMILIES].map(
    ({ name }) => name,
  ),
  ...Object.values(SELF_FAMILIES).map(({ name }) => name),
  ...histograms.flatMap(({ name }) => ['_bucket', '_sum', '_count'].map((suffix) => name + suffix)),
]);

const METRIC = /\b(?:gameserver|pterodactyl_server)_[a-z0-9_]+/g;

describe('every metric that a page names is there', () => {
  it.each(documents())('in $path', ({ text }) => {
    const named = [...text.matchAll(METRIC)].map(([name]) => name);
    // A name that ends in _ stands for those that begin so.
    expect(named.filter((name) => !NAMES.has(name) && !name.endsWith('_'))).toEqual([]);
  });
});

const hasPromtool = await ensureDebianPackage('prometheus', 'promtool');

/** The queries of the pages: fenced ones, and those in the tables of the migration page. */
function queries(): readonly string[] {
  const fenced = documents().flatMap((document) => fencedBlocks(document, 'promql'));
  const migration = readFileSync('docs/migration.md', 'utf8');
  const cells = [...migration.matchAll(/`([^`\n]*(?:gameserver|pterodactyl_server)_[^`\n]*)`/g)]
    .map(([, cell = '']) => cell)
    .filter((cell) => !/label_values|…/.test(cell));
  return [...fenced, ...cells];
}

describe.skipIf(!hasPromtool)('the queries of the pages', () => {
  it('are ones that Prometheus takes', async () => {
    const all = queries();
    expect(all.length).toBeGreaterThan(40);
    const folder = await mkdtemp(join(tmpdir(), 'queries-'));
    const file = join(folder, 'rules.json');
    const rules = all.map((expr, index) => ({ record: `query:${index}`, expr }));
    await writeFile(file, JSON.stringify({ groups: [{ name: 'docs', rules }] }));
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    await rm(folder, { recursive: true });
    expect(status, `${stdout}${stderr}`).toBe(0);
  });
});
