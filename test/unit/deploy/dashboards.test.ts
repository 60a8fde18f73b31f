import { writeFileSync } from 'node:fs';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { DASHBOARDS } from '../../../dashboards/all.ts';
import { render } from '../../../dashboards/board.ts';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../../src/metrics/families.ts';
import { readText, readYaml } from '../../support/deploy-files.ts';
import {
  dashboardFiles,
  dashboardIn,
  dashboardText,
  type GrafanaPanel,
  panelsOf,
  queriesOf,
  variableQuery,
} from '../../support/grafana.ts';
import { SELF_FAMILIES } from '../../support/self-families.ts';

const ROOT = new URL('../../../', import.meta.url);
const FILES = Object.keys(DASHBOARDS);

/**
 * The recorded series that dashboards use. Without the recording rules, their panels say that the
 * rules are missing.
 */
const RECORDED = [
  'server:gameserver_uptime:ratio30d',
  'server:gameserver_traffic_bytes:sum30d',
  'server:gameserver_problem_since:timestamp_seconds',
];

// The files are written before tests are collected from them.
if (process.env['UPDATE_GENERATED'] === '1') {
  for (const [file, dashboard] of Object.entries(DASHBOARDS)) {
    writeFileSync(new URL(`deploy/grafana/dashboards/${file}`, ROOT), render(dashboard));
  }
}

test.each(Object.entries(DASHBOARDS))(
  '%s matches the code (UPDATE_GENERATED=1 writes it)',
  (file, dashboard) => {
    expect(dashboardText(file)).toBe(render(dashboard));
  },
);

test('there are no other dashboards', () => {
  expect(dashboardFiles()).toEqual(FILES.toSorted());
});

describe.each(FILES)('%s', (file) => {
  const dashboard = dashboardIn(file);
  const panels = panelsOf(dashboard);

  const tables = panels.filter(({ type }) => type === 'table').map((panel) => [panel.title, panel] as const);
  test.each(tables)('"%s" hides or renames every label of its queries', (_title, panel) => {
    const { excludeByName = {}, renameByName = {} } = arrangementOf(panel);
    const letters = (panel.targets ?? []).map(({ refId }) => `Value #${refId}`);
    const values = letters.length === 1 ? ['Value'] : letters;
    for (const value of values) expect({ ...renameByName, ...excludeByName }).toHaveProperty([value]);
  });

  // Grafana finds a cell by the name of its column, so a second column with the same name would
  // show the values of the first.
  test.each(tables)('"%s" has no two columns with the same name', (_title, panel) => {
    const { excludeByName = {}, renameByName = {} } = arrangementOf(panel);
    const shown = Object.entries(renameByName).filter(([field]) => excludeByName[field] !== true);
    const names = shown.map(([, name]) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  const queries = queriesOf(dashboard).map((query) => [query.place, query] as const);

  test.each(queries)('%s queries only what was selected', (_place, { expr }) => {
    for (const { metric, matchers } of selectorsOf(expr)) {
      const labels = METRICS.get(metric);
      expect(labels, `${metric} isn't a metric, and isn't recorded`).toBeDefined();
      expect(matchers).toContain('job=~"$job"');
      if (labels?.includes('panel')) expect(matchers).toContain('panel=~"$panel"');
      if (labels?.includes('server')) expect(matchers).toContain('server=~"$server"');
    }
  });

  test.each(queries)('%s uses the rate interval for rates', (_place, { expr }) => {
    expect(expr).not.toMatch(/\brate\([^[]*\[(?!\$__rate_interval\])/);
    expect(selectorsOf(expr)).not.toEqual([]);
  });
});

test('every metric used by a variable exists', () => {
  const metrics = FILES.flatMap((file) => dashboardIn(file).templating.list)
    .filter(({ type }) => type === 'query')
    .flatMap((variable) => namesIn(variableQuery(variable)));
  expect(metrics).not.toEqual([]);
  expect(metrics.filter((metric) => !METRICS.has(metric))).toEqual([]);
});

test('every family is used by a dashboard or a rule', () => {
  const shown = FILES.flatMap((file) => queriesOf(dashboardIn(file))).flatMap(({ expr }) => namesIn(expr));
  const rules = ['rules', 'simple'].map((name) => readYaml(`deploy/prometheus/${name}/gameserver.yml`));
  const used = new Set([...shown, ...namesIn(JSON.stringify(rules))]);
  const missing = OWN.filter(({ names }) => !names.some((name) => used.has(name)));
  expect(missing.map(({ names: [name] }) => name)).toEqual([]);
});

test.each(FILES)('%s has no query that is too long for VictoriaMetrics', (file) => {
  const longest = Math.max(...queriesOf(dashboardIn(file)).map(({ expr }) => expr.length));
  expect(longest).toBeLessThan(16_384);
});

/** The labels of every metric, by the name in queries. */
const METRICS: ReadonlyMap<string, readonly string[]> = allMetrics();

/** The exporter's own families, with the names of their series. */
const OWN = [...SERVER_FAMILIES, ...PANEL_FAMILIES, ...SELF_FAMILIES].map(({ name, type }) => ({
  names: type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
}));

interface Named {
  readonly name: string;
  readonly type: string;
}

function allMetrics(): Map<string, readonly string[]> {
  const metrics = new Map<string, readonly string[]>();
  const add = ({ name, type }: Named, labels: readonly string[]) => {
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const suffix of suffixes) metrics.set(`${name}${suffix}`, labels);
  };
  for (const family of SERVER_FAMILIES) add(family, ['panel', 'server', ...(family.labels ?? [])]);
  for (const family of PANEL_FAMILIES) add(family, ['panel', ...(family.labels ?? [])]);
  for (const family of SELF_FAMILIES) add(family, family.labels ?? []);
  const registry = new Registry();
  // Metrics of Prometheus itself, and recorded series.
  for (const name of ['up', 'scrape_duration_seconds']) add({ name, type: 'gauge' }, []);
  for (const name of RECORDED) add({ name, type: 'gauge' }, ['panel', 'server']);
  collectDefaultMetrics({ register: registry });
  for (const { name, type } of registry.getMetricsAsArray()) add({ name, type: String(type) }, []);
  return metrics;
}

interface Selector {
  readonly metric: string;
  readonly matchers: readonly string[];
}

/** All metrics of a query, with their label matchers. Throws if a metric has none. */
function selectorsOf(expr: string): readonly Selector[] {
  const selectors = [...expr.matchAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/g)].map(
    ([, metric = '', matchers = '']) => ({
      metric,
      matchers: matchers.split(', '),
    }),
  );
  const bare = namesIn(expr).filter((name) => !selectors.some(({ metric }) => metric === name));
  if (bare.length > 0) throw new Error(`expected braces behind ${bare.join(', ')} in ${expr}`);
  return selectors;
}

function namesIn(expr: string): readonly string[] {
  return expr.match(/(?:\w+:)?\b(?:gameserver|process|nodejs)_[\w:]+|\bup(?=\{)/g) ?? [];
}

function arrangementOf({ transformations = [] }: GrafanaPanel) {
  return transformations.find(({ id }) => id === 'organize')?.options ?? {};
}

test('the fleet dashboard lists every reason to block a server that the rules record as its problem', () => {
  const rules = readText('deploy/prometheus/rules/gameserver.yml');
  const [, reasons = ''] = /label_replace\(gameserver_blocked\{reason=~"([^"]+)"\}/.exec(rules) ?? [];
  expect(reasons).not.toBe('');
  const fleet = readText('deploy/grafana/dashboards/fleet.json');
  expect(fleet).toContain(`problem=~\\"${reasons}\\"`);
});
