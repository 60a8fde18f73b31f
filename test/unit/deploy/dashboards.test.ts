import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { DASHBOARDS } from '../../../dashboards/all.ts';
import { render } from '../../../dashboards/board.ts';
import { STATE_CODES } from '../../../dashboards/promql.ts';
import { SERVER_STATES } from '../../../src/domain/server.ts';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../../src/metrics/families.ts';
import { PANEL_GAUGES, SELF_FAMILIES } from '../../../src/metrics/self-families.ts';
import {
  dashboardFiles,
  dashboardIn,
  dashboardText,
  type GridPos,
  labelValues,
  provisioning,
  queriesOf,
} from '../../support/grafana.ts';

const ROOT = new URL('../../../', import.meta.url);
const FILES = Object.keys(DASHBOARDS);

/** Panels of these types have no queries. */
const HEADINGS = new Set(['row']);

// The files are read where tests are collected, so they are written before.
if (process.env['UPDATE_GENERATED'] === '1') {
  for (const [file, dashboard] of Object.entries(DASHBOARDS)) {
    writeFileSync(new URL(`deploy/grafana/dashboards/${file}`, ROOT), render(dashboard));
  }
}

test.each(Object.entries(DASHBOARDS))(
  '%s is what the code gives (UPDATE_GENERATED=1 writes it)',
  (file, dashboard) => {
    expect(dashboardText(file)).toBe(render(dashboard));
  },
);

test('no other dashboards lie there', () => {
  expect(dashboardFiles()).toEqual(FILES.toSorted());
});

test('every state has a code of its own, and a known one beats unknown', () => {
  expect(Object.keys(STATE_CODES).toSorted()).toEqual([...SERVER_STATES].toSorted());
  expect(new Set(Object.values(STATE_CODES)).size).toBe(SERVER_STATES.length);
  expect(Math.min(...Object.values(STATE_CODES))).toBe(STATE_CODES.unknown);
});

describe.each(FILES)('%s', (file) => {
  const dashboard = dashboardIn(file);
  const panels = dashboard.panels.filter(({ type }) => !HEADINGS.has(type));

  test('loads from a file: a fixed uid, no id, the classic schema, nothing to be filled in', () => {
    expect(dashboard).toMatchObject({ uid: expect.stringMatching(/^gameserver-[a-z]+$/), id: null });
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(36);
    expect(dashboard).not.toHaveProperty('__inputs');
    expect(dashboard).not.toHaveProperty('elements');
  });

  test('asks for data source, jobs, panels and servers, any number of each, or all', () => {
    const { list } = dashboard.templating;
    expect(list.map(({ name }) => name)).toEqual(['datasource', 'job', 'panel', 'server']);
    const [datasource, ...chosen] = list;
    expect(datasource).toMatchObject({ type: 'datasource', query: 'prometheus' });
    for (const variable of chosen) {
      expect(variable).toMatchObject({ type: 'query', multi: true, includeAll: true, allValue: '.+' });
      expect(labelValues(variable).label).toBe(variable.name);
    }
  });

  test('numbers its panels each in its own way', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => Number.isInteger(id) && id > 0)).toBe(true);
  });

  test('places panels side by side within the 24 columns, without gaps in a line', () => {
    const cells = dashboard.panels.flatMap(({ gridPos }) => cellsOf(gridPos));
    expect(new Set(cells).size, 'panels overlap').toBe(cells.length);
    const bottom = Math.max(...dashboard.panels.map(({ gridPos: { y, h } }) => y + h));
    expect(cells.length, 'cells that are taken').toBe(bottom * 24);
    expect(dashboard.panels.every(({ gridPos: { x, w } }) => x >= 0 && x + w <= 24)).toBe(true);
  });

  test.each(panels.map((panel) => [panel.title, panel] as const))('explains "%s"', (_title, panel) => {
    expect(panel.description).toMatch(/^[A-Z].{15,}\.$/);
    expect(panel.fieldConfig?.defaults).toMatchObject({
      unit: expect.stringMatching(/./),
      noValue: expect.stringMatching(/^[A-Z]/),
    });
    expect(panel.datasource).toEqual({ type: 'prometheus', uid: '${datasource}' });
    const targets = panel.targets ?? [];
    expect(targets.map(({ refId }) => refId)).toEqual(
      targets.map((_target, place) => String.fromCodePoint(65 + place)),
    );
    expect(targets).not.toEqual([]);
    for (const { datasource } of targets) {
      expect(datasource).toEqual({ type: 'prometheus', uid: '${datasource}' });
    }
  });

  test('has no two panels of the same title', () => {
    const titles = panels.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });

  const queries = queriesOf(dashboard).map((query) => [query.place, query] as const);

  test.each(queries)('%s asks only for what was chosen', (_place, { expr }) => {
    for (const { metric, matchers } of selectorsIn(expr)) {
      const labels = METRICS.get(metric);
      expect(labels, `${metric} is no metric of the exporter`).toBeDefined();
      expect(matchers).toContain('job=~"$job"');
      if (labels?.includes('panel')) expect(matchers).toContain('panel=~"$panel"');
      if (labels?.includes('server')) expect(matchers).toContain('server=~"$server"');
    }
  });

  test.each(queries)('%s takes rates over the rate interval', (_place, { expr }) => {
    expect(expr).not.toMatch(/\brate\([^[]*\[(?!\$__rate_interval\])/);
    expect(selectorsIn(expr)).not.toEqual([]);
  });
});

test('every metric that the variables ask for exists', () => {
  const series = FILES.flatMap((file) => dashboardIn(file).templating.list)
    .filter(({ type }) => type === 'query')
    .map((variable) => labelValues(variable).series.replace(/\{.*/, ''));
  expect(series.filter((metric) => !METRICS.has(metric))).toEqual([]);
});

test('every family is on a dashboard or in a rule', () => {
  const shown = FILES.flatMap((file) => queriesOf(dashboardIn(file))).flatMap(({ expr }) => namesIn(expr));
  const used = new Set([...shown, ...ruleExpressions().flatMap(namesIn)]);
  const missing = OWN.filter(({ names }) => !names.some((name) => used.has(name)));
  expect(missing.map(({ names: [name] }) => name)).toEqual([]);
});

test('the other dashboards are a link away, and servers lead to theirs', () => {
  const uids = FILES.map((file) => dashboardIn(file).uid);
  const text = FILES.map(dashboardText).join('\n');
  const linked = [...text.matchAll(/"url": "\/d\/([\w-]+)\?/g)].map(([, uid]) => uid);
  expect(new Set(linked)).toEqual(new Set(['gameserver-server']));
  expect(uids).toEqual(expect.arrayContaining(linked));
  for (const file of FILES) {
    expect(JSON.parse(dashboardText(file))).toMatchObject({
      tags: ['gameserver-exporter'],
      links: [{ type: 'dashboards', tags: ['gameserver-exporter'], includeVars: true, keepTime: true }],
    });
  }
});

test('the provisioning files name a Prometheus and the folder of the dashboards', () => {
  expect(provisioning('datasources/prometheus.yaml')).toMatchObject({
    apiVersion: 1,
    datasources: [
      { type: 'prometheus', access: 'proxy', url: expect.stringMatching(/^http:/), isDefault: true },
    ],
  });
  expect(provisioning('dashboards/gameserver-exporter.yaml')).toMatchObject({
    apiVersion: 1,
    providers: [{ type: 'file', options: { path: '/var/lib/grafana/dashboards' } }],
  });
});

/** The labels of every metric that there is, by the name that a query uses. */
const METRICS: ReadonlyMap<string, readonly string[]> = allMetrics();

/** The exporter's own families, by the names of their metrics. */
const OWN = [...SERVER_FAMILIES, ...PANEL_FAMILIES, ...PANEL_GAUGES, ...Object.values(SELF_FAMILIES)].map(
  ({ name, type }) => ({
    names: type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  }),
);

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
  for (const family of [...PANEL_GAUGES, ...Object.values(SELF_FAMILIES)]) add(family, family.labels);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const { name, type } of registry.getMetricsAsArray()) add({ name, type: String(type) }, []);
  return metrics;
}

interface Selector {
  readonly metric: string;
  readonly matchers: readonly string[];
}

/** Every metric of a query with what it is narrowed to; throws where a metric isn't narrowed to anything. */
function selectorsIn(expr: string): readonly Selector[] {
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
  return expr.match(/\b(?:gameserver|process|nodejs)_\w+/g) ?? [];
}

interface RuleFile {
  readonly groups?: readonly { readonly rules?: readonly { readonly expr?: string }[] }[];
}

/** What the alert and recording rules ask for. */
function ruleExpressions(): readonly string[] {
  const folder = fileURLToPath(new URL('deploy/prometheus/', ROOT));
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.ya?ml$/.test(path))
    .map((path) => parse(readFileSync(`${folder}${path}`, 'utf8')) as RuleFile)
    .flatMap(({ groups = [] }) => groups.flatMap(({ rules = [] }) => rules.map(({ expr = '' }) => expr)));
}

function cellsOf({ x, y, w, h }: GridPos): readonly string[] {
  return Array.from({ length: w * h }, (_cell, index) => `${x + (index % w)}:${y + Math.floor(index / w)}`);
}
