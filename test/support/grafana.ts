// Grafana's dashboards: their files, and the rules by which Grafana displays them.
import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../deploy/grafana/', import.meta.url);

interface DatasourceRef {
  readonly type: string;
  readonly uid: string;
}

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly instant?: boolean;
  readonly legendFormat?: string;
  readonly datasource: DatasourceRef;
}

export interface GrafanaPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly targets?: readonly Target[];
  readonly datasource?: DatasourceRef;
  readonly fieldConfig?: {
    readonly defaults: FieldLook;
    readonly overrides: readonly Override[];
  };
  readonly options?: Readonly<Record<string, unknown>>;
  readonly transformations?: readonly { readonly id: string; readonly options: Arrangement }[];
  readonly maxDataPoints?: number;
  readonly collapsed?: boolean;
  /** The panels of a collapsed row. */
  readonly panels?: readonly GrafanaPanel[];
}

/** The names and the order of a table's fields. */
interface Arrangement {
  readonly excludeByName?: Readonly<Record<string, boolean>>;
  readonly renameByName?: Readonly<Record<string, string>>;
}

interface Override {
  readonly matcher: { readonly id: string; readonly options: string };
  readonly properties: readonly { readonly id: string; readonly value: unknown }[];
}

interface MappingResult {
  readonly text?: string;
  readonly color?: string;
}

type Mapping =
  | { readonly type: 'value'; readonly options: Readonly<Record<string, MappingResult>> }
  | {
      readonly type: 'special';
      readonly options: { readonly match: string; readonly result: MappingResult };
    };

/** The rules for the text and color of a value. */
interface FieldLook {
  readonly mappings?: readonly Mapping[];
  readonly thresholds?: {
    readonly steps: readonly { readonly value: number | null; readonly color: string }[];
  };
  readonly color?: { readonly mode: string; readonly fixedColor?: string };
  readonly custom?: Readonly<Record<string, unknown>>;
  readonly unit?: string;
  readonly noValue?: string;
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly multi?: boolean;
  readonly includeAll?: boolean;
  readonly allValue?: string;
  readonly hide?: number;
  readonly query: string | { readonly query: string };
}

/** The parts of a dashboard's file that tests check. */
export interface GrafanaDashboard {
  readonly id: number | null;
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly panels: readonly GrafanaPanel[];
  readonly templating: { readonly list: readonly Variable[] };
  readonly annotations: { readonly list: readonly { readonly name: string; readonly target: Target }[] };
}

/** The file names of all dashboards. */
export function dashboardFiles(): readonly string[] {
  return readdirSync(new URL('dashboards/', FOLDER)).toSorted();
}

export function dashboardText(file: string): string {
  return readFileSync(new URL(`dashboards/${file}`, FOLDER), 'utf8');
}

/** All panels except rows, including those in collapsed rows. */
export function panelsOf({ panels }: Pick<GrafanaDashboard, 'panels'>): readonly GrafanaPanel[] {
  return panels.flatMap((panel) => (panel.type === 'row' ? (panel.panels ?? []) : [panel]));
}

/** The text and color of a value. */
export interface Appearance {
  /** From a mapping if there is one, otherwise the number. */
  readonly text: string;
  readonly color: string;
}

/**
 * The appearance of a field's value in Grafana (`getDisplayProcessor` of @grafana/data). A mapping
 * has priority, then a fixed color, then the highest threshold that isn't above the value. A value
 * that isn't a number has the color of the lowest threshold.
 */
export function appearanceOf(panel: GrafanaPanel, field: string, value: number | string | null): Appearance {
  const look = lookOf(panel, field);
  const mapped = mappedTo(look.mappings ?? [], value);
  const steps = look.thresholds?.steps ?? [];
  const isNumber = look.unit !== 'string' && value !== null && !Number.isNaN(Number(value));
  const numeric = isNumber ? Number(value) : Number.NEGATIVE_INFINITY;
  const step = steps.findLast((step) => (step.value ?? Number.NEGATIVE_INFINITY) <= numeric);
  const color = look.color?.mode === 'fixed' ? look.color.fixedColor : step?.color;
  return {
    text: mapped?.text ?? (value === null ? (panel.fieldConfig?.defaults.noValue ?? '') : `${value}`),
    color: mapped?.color ?? color ?? '',
  };
}

/** A panel's defaults for fields, with the overrides for this field. */
export function lookOf(panel: GrafanaPanel, field: string): FieldLook {
  const { defaults = {}, overrides = [] } = panel.fieldConfig ?? {};
  const properties = overrides
    .filter(({ matcher }) => matches(matcher, field))
    .flatMap(({ properties }) => properties)
    .map(({ id, value }) => [id, value] as const);
  return { ...defaults, ...Object.fromEntries(properties) };
}

function matches({ id, options }: Override['matcher'], field: string): boolean {
  return id === 'byRegexp' ? new RegExp(options.replace(/^\/(.*)\/$/, '$1')).test(field) : options === field;
}

function mappedTo(mappings: readonly Mapping[], value: number | string | null): MappingResult | undefined {
  for (const mapping of mappings) {
    if (mapping.type === 'value') {
      const result = value === null ? undefined : mapping.options[`${value}`];
      if (result !== undefined) return result;
    } else if (mapping.options.match === 'nan' && Number.isNaN(value)) return mapping.options.result;
  }
  return undefined;
}

export function dashboardIn(file: string): GrafanaDashboard {
  return JSON.parse(dashboardText(file)) as GrafanaDashboard;
}

/** A query of a dashboard. */
export interface DashboardQuery {
  /** The place of the query: dashboard, panel or annotation, letter. */
  readonly place: string;
  readonly expr: string;
  readonly instant: boolean;
}

/** All queries of all panels and annotations. */
export function queriesOf({ title, panels, annotations }: GrafanaDashboard): readonly DashboardQuery[] {
  const query = (where: string, { refId, expr, instant }: Target): DashboardQuery => ({
    place: `${title} / ${where} / ${refId}`,
    expr,
    instant: instant === true,
  });
  return [
    ...panelsOf({ panels }).flatMap((panel) =>
      (panel.targets ?? []).map((target) => query(panel.title, target)),
    ),
    ...annotations.list.map(({ name, target }) => query(name, target)),
  ];
}

/**
 * Grafana's name for a field of a query's result: the column in a table, or the legend in other
 * panels.
 */
export function fieldName(
  { type, targets = [], transformations = [] }: GrafanaPanel,
  { refId, legendFormat = '' }: Target,
  labels: Readonly<Record<string, string>> = {},
): string {
  if (type !== 'table')
    return legendFormat
      .replace('${of_panel}', '')
      .replaceAll(/\{\{(\w+)\}\}/g, (_all, label: string) => labels[label] ?? '');
  const { renameByName = {} } = transformations.find(({ id }) => id === 'organize')?.options ?? {};
  return renameByName[targets.length === 1 ? 'Value' : `Value #${refId}`] ?? '';
}

/** Grafana's code for a variable that isn't shown. */
export const HIDDEN = 2;

export function variableQuery({ query }: Pick<Variable, 'query'>): string {
  return typeof query === 'string' ? query : query.query;
}

/** A variable's query: a label, and the series whose values it lists. */
export function labelValues(variable: Variable): { readonly series: string; readonly label: string } {
  const text = variableQuery(variable);
  const [, series, label] = /^label_values\((.+), (\w+)\)$/.exec(text) ?? [];
  if (series === undefined || label === undefined)
    throw new Error(`expected label_values(series, label), got "${text}"`);
  return { series, label };
}

/** The selection in a variable: some values, or `All` with the expression for it. */
export type Chosen = readonly string[] | { readonly all: string };

/** The time range and resolution of a dashboard, in seconds. */
export interface Timing {
  readonly range: number;
  readonly step: number;
  readonly scrapeInterval: number;
}

/**
 * A query as Grafana sends it to Prometheus. Several selected values are escaped for a regular
 * expression within a string, and joined as alternatives. `$__rate_interval` is the longer one of
 * four scrape intervals, and one step plus one scrape interval. Throws if a variable remains.
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
