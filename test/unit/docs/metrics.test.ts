import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { COMPATIBILITY_PREFIXES, compatibilityFamilies } from '../../../src/metrics/compatibility.ts';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../../src/metrics/families.ts';
import { documents } from '../../support/documents.ts';
import { expectSection } from '../../support/generated.ts';
import {
  renderCompatibilityTable,
  renderMetricTables,
  renderSelfMetricTable,
} from '../../support/metric-tables.ts';
import { SELF_FAMILIES } from '../../support/self-families.ts';

it('the tables match the code', () => {
  expectSection('docs/metrics.md', 'metrics', renderMetricTables());
  expectSection('docs/metrics.md', 'self-metrics', renderSelfMetricTable());
  expectSection('docs/migration.md', 'compatibility', renderCompatibilityTable());
});

const histograms = SELF_FAMILIES.filter(({ type }) => type === 'histogram');

const NAMES = new Set([
  ...[
    ...SERVER_FAMILIES,
    ...PANEL_FAMILIES,
    ...compatibilityFamilies(COMPATIBILITY_PREFIXES.pterodactyl_exporter),
  ].map(({ name }) => name),
  ...SELF_FAMILIES.map(({ name }) => name),
  ...histograms.flatMap(({ name }) => ['_bucket', '_sum', '_count'].map((suffix) => name + suffix)),
]);

const METRIC = /\b(?:gameserver|pterodactyl_server)_[a-z0-9_]+/g;

/** Matches recorded series, such as `server:gameserver_uptime:ratio30d`. */
const RECORDED = /\b[a-z]+:gameserver_[a-z0-9_]+:[a-z0-9_]+/g;
const RULES = readFileSync(
  fileURLToPath(new URL('../../../deploy/prometheus/rules/gameserver.yml', import.meta.url)),
  'utf8',
);

describe('every metric that a page mentions exists', () => {
  it.each(documents())('in $path', ({ text }) => {
    const recorded = text.match(RECORDED) ?? [];
    expect(
      recorded.filter(
        (name) =>
          !RULES.includes(`- record: ${name}
`),
      ),
    ).toEqual([]);
    const named = [...text.replaceAll(RECORDED, '').matchAll(METRIC)].map(([name]) => name);
    // A name that ends with _ is a prefix.
    expect(named.filter((name) => !NAMES.has(name) && !name.endsWith('_'))).toEqual([]);
  });
});
