import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

const FOLDER = new URL('../../deploy/grafana/', import.meta.url);

export interface GridPos {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

interface DatasourceRef {
  readonly type: string;
  readonly uid: string;
}

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly instant?: boolean;
  readonly datasource: DatasourceRef;
}

export interface GrafanaPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: GridPos;
  readonly targets?: readonly Target[];
  readonly datasource?: DatasourceRef;
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string; readonly noValue?: string } };
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly multi?: boolean;
  readonly includeAll?: boolean;
  readonly allValue?: string;
  readonly query: string | { readonly query: string };
}

/** What is looked at of a dashboard's file. */
export interface GrafanaDashboard {
  readonly id: number | null;
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly panels: readonly GrafanaPanel[];
  readonly templating: { readonly list: readonly Variable[] };
  readonly annotations: { readonly list: readonly { readonly name: string; readonly target: Target }[] };
}

/** The names of the dashboards' files. */
export function dashboardFiles(): readonly string[] {
  return readdirSync(new URL('dashboards/', FOLDER)).toSorted();
}

export function dashboardText(file: string): string {
  return readFileSync(new URL(`dashboards/${file}`, FOLDER), 'utf8');
}

export function dashboardIn(file: string): GrafanaDashboard {
  return JSON.parse(dashboardText(file)) as GrafanaDashboard;
}

/** A provisioning file, parsed. */
export function provisioning(path: string): unknown {
  return parse(readFileSync(new URL(`provisioning/${path}`, FOLDER), 'utf8'));
}

/** One query of a dashboard. */
export interface DashboardQuery {
  /** Where it stands: dashboard, panel or annotation, letter. */
  readonly place: string;
  readonly expr: string;
  readonly instant: boolean;
}

/** Every query of every panel and annotation. */
export function queriesOf({ title, panels, annotations }: GrafanaDashboard): readonly DashboardQuery[] {
  const query = (where: string, { refId, expr, instant }: Target): DashboardQuery => ({
    place: `${title} / ${where} / ${refId}`,
    expr,
    instant: instant === true,
  });
  return [
    ...panels.flatMap((panel) => (panel.targets ?? []).map((target) => query(panel.title, target))),
    ...annotations.list.map(({ name, target }) => query(name, target)),
  ];
}

/** What a variable asks Prometheus for: the values of a label of some series. */
export function labelValues({ query }: Variable): { readonly series: string; readonly label: string } {
  const text = typeof query === 'string' ? query : query.query;
  const [, series, label] = /^label_values\((.+), (\w+)\)$/.exec(text) ?? [];
  if (series === undefined || label === undefined)
    throw new Error(`expected label_values(series, label), got "${text}"`);
  return { series, label };
}

/** What is chosen in a variable: some values, or All where a value stands for it. */
export type Chosen = readonly string[] | { readonly all: string };

/** The time of a dashboard, in seconds. */
export interface Timing {
  readonly range: number;
  readonly step: number;
  readonly scrapeInterval: number;
}

/**
 * A query as Grafana sends it to Prometheus: the values of a variable that takes several are escaped for a regular expression within
 * a string, and joined as alternatives; `$__rate_interval` is four scrapes or a scrape more than a step, whichever is longer.
 * Throws where a variable stays behind.
 */
export function interpolate(expr: string, chosen: Readonly<Record<string, Chosen>>, timing: Timing): string {
  const { range, step, scrapeInterval } = timing;
  const values: Record<string, string> = {
    __range: `${range}s`,
    __interval: `${step}s`,
    __rate_interval: `${Math.max(step + scrapeInterval, 4 * scrapeInterval)}s`,
  };
  for (const [name, value] of Object.entries(chosen)) values[name] = asRegex(value);
  return expr.replaceAll(/\$([a-z_]\w*)|\$\{(\w+)\}/g, (variable, plain: string, braced: string) => {
    const value = values[plain ?? braced];
    if (value === undefined) throw new Error(`expected a variable that the dashboard has, got "${variable}"`);
    return value;
  });
}

function asRegex(chosen: Chosen): string {
  if ('all' in chosen) return chosen.all;
  const escaped = chosen.map((value) =>
    value.replaceAll('\\', '\\\\\\\\').replaceAll(/[$^*{}[\]'+?.()|]/g, String.raw`\\$&`),
  );
  const [only] = escaped;
  return escaped.length === 1 && only !== undefined ? only : `(${escaped.join('|')})`;
}
