import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { DASHBOARDS } from '../../../dashboards/all.ts';
import { NO_DATA } from '../../../dashboards/appearance.ts';
import { render } from '../../../dashboards/board.ts';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../../src/metrics/families.ts';
import {
  dashboardFiles,
  dashboardIn,
  dashboardText,
  type GrafanaPanel,
  type GridPos,
  HIDDEN,
  labelValues,
  lookOf,
  panelsOf,
  provisioning,
  queriesOf,
  variableQuery,
} from '../../support/grafana.ts';
import { SELF_FAMILIES } from '../../support/self-families.ts';

const ROOT = new URL('../../../', import.meta.url);
const FILES = Object.keys(DASHBOARDS);

/** The recorded series that dashboards use. Without the recording rules, these panels show that the rules are missing. */
const RECORDED = [
  'server:gameserver_uptime:ratio30d',
  'server:gameserver_traffic_bytes:sum30d',
  'server:gameserver_problem_since:timestamp_seconds',
];

// Tests are collected from the files, so the files are written first.
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

  test('loads from a file: a fixed uid, no id, the classic schema, no inputs', () => {
    expect(dashboard).toMatchObject({ uid: expect.stringMatching(/^gameserver-[a-z]+$/), id: null });
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(36);
    expect(dashboard).not.toHaveProperty('__inputs');
    expect(dashboard).not.toHaveProperty('elements');
  });

  test('has variables for data source, jobs, panels, nodes, eggs and servers, with multiple values', () => {
    const { list } = dashboard.templating;
    const names = ['datasource', 'job', 'panel', 'node', 'egg', 'server', 'of_panel'];
    expect(list.map(({ name }) => name)).toEqual(names);
    const [datasource, ...queried] = list;
    const chosen = queried.filter(({ hide }) => hide !== HIDDEN);
    expect(datasource).toMatchObject({ type: 'datasource', query: 'prometheus' });
    for (const variable of chosen) {
      expect(variable).toMatchObject({ type: 'query', multi: true });
      expect(labelValues(variable).label).toBe(variable.name);
      // "All" includes servers without a node or an egg.
      const all = ['node', 'egg'].includes(variable.name) ? '.*' : '.+';
      if (file === 'server.json' && variable.name === 'server') expect(variable.includeAll).toBe(false);
      else
        expect(variable).toMatchObject({ includeAll: true, allValue: all, current: { value: ['$__all'] } });
    }
  });

  test('gives each panel a unique id', () => {
    const ids = [...dashboard.panels, ...panels].map(({ id }) => id);
    expect(new Set(ids).size).toBe(new Set([...dashboard.panels, ...panels]).size);
    expect(ids.every((id) => Number.isInteger(id) && id > 0)).toBe(true);
  });

  test('places panels side by side within the 24 columns, without gaps in a row', () => {
    expectFilled(dashboard.panels, 0);
    for (const { panels: inner = [], gridPos } of dashboard.panels) expectFilled(inner, gridPos.y + 1);
  });

  test.each(panels.map((panel) => [panel.title, panel] as const))('describes "%s"', (_title, panel) => {
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

  test('has no two panels with the same title', () => {
    const titles = panels.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });

  test.each(panels.map((panel) => [panel.title, panel] as const))(
    'shows missing data in a neutral color in "%s"',
    (_title, panel) => {
      for (const name of ['anything', ...overriddenFields(panel)]) {
        const [lowest, ...others] = lookOf(panel, name).thresholds?.steps ?? [];
        expect(lowest).toEqual({ value: null, color: NO_DATA });
        expect(others[0]?.value).toBe(0);
      }
    },
  );

  const tables = panels.filter(({ type }) => type === 'table').map((panel) => [panel.title, panel] as const);
  test.each(tables)(
    '"%s" shows a dash in an empty cell, and a sentence if it has no rows',
    (_title, panel) => {
      expect(lookOf(panel, 'anything')).toMatchObject({ noValue: '–' });
      expect(panel.fieldConfig?.defaults.noValue).toMatch(/^[A-Z].{10,}/);
    },
  );

  test.each(tables)('"%s" hides or renames every label of its queries', (_title, panel) => {
    const { excludeByName = {}, renameByName = {} } = arrangementOf(panel);
    const letters = (panel.targets ?? []).map(({ refId }) => `Value #${refId}`);
    const values = letters.length === 1 ? ['Value'] : letters;
    for (const value of values) expect({ ...renameByName, ...excludeByName }).toHaveProperty([value]);
  });

  const graphs = panels.filter(({ type }) => /timeseries|state-timeline/.test(type));
  test.each(graphs.map((panel) => [panel.title, panel] as const))(
    '"%s" has a legend below, with one line per name',
    (_title, panel) => {
      expect(panel.options).toMatchObject({
        legend: { showLegend: true, displayMode: 'list', placement: 'bottom', calcs: [] },
      });
    },
  );

  test('bars have the same width and are never below zero', () => {
    for (const panel of panels) {
      const { defaults, overrides = [] } = panel.fieldConfig ?? {};
      if (defaults?.custom?.['drawStyle'] !== 'bars') continue;
      expect(panel.maxDataPoints, panel.title).toBeLessThanOrEqual(60);
      expect(defaults, panel.title).toMatchObject({ min: 0 });
      expect(overrides.flatMap(({ properties }) => properties.map(({ id }) => id))).not.toContain(
        'custom.transform',
      );
      // A value at every step: a filter would leave gaps, and bars as wide as the gaps.
      for (const { expr } of panel.targets ?? []) {
        expect(expr).toContain('clamp_min(');
        expect(expr).not.toMatch(/> 0\)*$/);
      }
    }
  });

  test('metrics that every process exposes are restricted to exporters', () => {
    for (const { place, expr } of queriesOf(dashboard)) {
      const processes = expr.match(/\b(?:process|nodejs)_\w+\{[^}]*\}/g) ?? [];
      const joined =
        expr.match(
          /\b(?:process|nodejs)_\w+\{[^}]*\}(?:\[[^\]]*\]\))? and on \(job, instance\) gameserver_exporter_build_info/g,
        ) ?? [];
      expect(joined.length, place).toBe(processes.length);
    }
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
  const used = new Set([...shown, ...ruleExpressions().flatMap(namesIn)]);
  const missing = OWN.filter(({ names }) => !names.some((name) => used.has(name)));
  expect(missing.map(({ names: [name] }) => name)).toEqual([]);
});

test('dashboards link to each other, and servers link to their dashboard', () => {
  const uids = FILES.map((file) => dashboardIn(file).uid);
  const text = FILES.map((file) => dashboardText(file)).join('\n');
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

test('the provisioning files set up a Prometheus data source and the folder of the dashboards', () => {
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

test('rows that are empty if a feature is not used, or for a closer look, are collapsed', () => {
  const closed = FILES.flatMap((file) => dashboardIn(file).panels.filter(({ collapsed }) => collapsed));
  expect(closed.map(({ title }) => title)).toEqual([
    'CPU and memory',
    'Network and disk',
    'Players',
    '30-day uptime',
    'Node capacity',
    'Players',
    'Backups',
    'Schedules',
    'Discovery',
  ]);
});

test.each(FILES)('%s has no query that is too long for VictoriaMetrics', (file) => {
  const longest = Math.max(...queriesOf(dashboardIn(file)).map(({ expr }) => expr.length));
  expect(longest).toBeLessThan(16_384);
});

/** The labels of every metric, by the name used in queries. */
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

/** Every metric of a query with its label matchers; throws if a metric has none. */
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

/** Names of the fields with overrides in a panel. */
function overriddenFields({ fieldConfig }: GrafanaPanel): readonly string[] {
  return (fieldConfig?.overrides ?? [])
    .filter(({ matcher }) => matcher.id === 'byName')
    .map(({ matcher }) => matcher.options);
}

function arrangementOf({ transformations = [] }: GrafanaPanel) {
  return transformations.find(({ id }) => id === 'organize')?.options ?? {};
}

/** Expects the panels to fill complete rows from `top` on, without overlaps. */
function expectFilled(panels: readonly GrafanaPanel[], top: number): void {
  const cells = panels.flatMap(({ gridPos }) => cellsOf(gridPos));
  expect(new Set(cells).size, 'panels overlap').toBe(cells.length);
  const bottom = Math.max(top, ...panels.map(({ gridPos: { y, h } }) => y + h));
  expect(cells.length, 'cells that are taken').toBe((bottom - top) * 24);
  expect(panels.every(({ gridPos: { x, w } }) => x >= 0 && x + w <= 24)).toBe(true);
}

interface RuleTexts {
  readonly expr?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups?: readonly { readonly rules?: readonly RuleTexts[] }[];
}

/** The expressions of the alert and recording rules, and the texts of alerts, which query metrics. */
function ruleExpressions(): readonly string[] {
  const folder = fileURLToPath(new URL('deploy/prometheus/', ROOT));
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.ya?ml$/.test(path))
    .map((path) => parse(readFileSync(`${folder}${path}`, 'utf8')) as RuleFile)
    .flatMap(({ groups = [] }) =>
      groups.flatMap(({ rules = [] }) =>
        rules.map(({ expr = '', annotations = {} }) => [expr, ...Object.values(annotations)].join('\n')),
      ),
    );
}

function cellsOf({ x, y, w, h }: GridPos): readonly string[] {
  return Array.from({ length: w * h }, (_cell, index) => `${x + (index % w)}:${y + Math.floor(index / w)}`);
}
