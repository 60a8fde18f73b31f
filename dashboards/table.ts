import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type {
  DashboardLink,
  DynamicConfigValue,
  ThresholdsConfig,
  ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import * as grafanaTable from '@grafana/grafana-foundation-sdk/table';
import { type Basics, configured, type PanelBuilder, target } from './panel.ts';

/** A column of numbers. */
export interface Column {
  readonly name: string;
  readonly expr: string;
  readonly unit?: string;
  readonly decimals?: number;
  readonly mappings?: readonly ValueMapping[];
  /** Colours of the cells. */
  readonly thresholds?: Builder<ThresholdsConfig>;
  /** The number says nothing beside its labels, which are columns of their own. */
  readonly hidden?: true;
}

export interface Table extends Omit<Basics, 'links' | 'thresholds' | 'mappings'> {
  /** Labels that the rows are told apart by, and those that are shown beside them, as they are to be called. */
  readonly labels: Readonly<Record<string, string>>;
  /** Labels that are not shown. */
  readonly hiddenLabels?: readonly string[];
  readonly columns: readonly Column[];
  readonly sortBy: readonly [column: string, order: 'ascending' | 'descending'];
  /** Where the cells of these labels lead to. */
  readonly links?: { readonly on: readonly string[]; readonly to: Builder<DashboardLink> };
}

/** A row for each set of labels, a column for each query, as of the end of the time range. */
export function table(spec: Table): PanelBuilder {
  const { links, ...basics } = spec;
  const queries = spec.columns.map((column, place) =>
    target(column, place).instant().format(prometheus.PromQueryFormat.Table),
  );
  const [sorted, order] = spec.sortBy;
  const panel = configured(new grafanaTable.PanelBuilder(), basics, queries)
    .filterable(true)
    .sortBy([{ build: () => ({ displayName: sorted, desc: order === 'descending' }) }])
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({ id: 'organize', options: arrangement(spec) });
  for (const column of spec.columns) {
    const look = appearance(column);
    if (look.length > 0) panel.overrideByName(column.name, look);
  }
  for (const label of links?.on ?? []) {
    panel.overrideByName(spec.labels[label] ?? label, [{ id: 'links', value: [links?.to.build()] }]);
  }
  return panel;
}

/** What Grafana calls a query's values: by the query's letter, unless it is the only one. */
function fieldOf(place: number, columns: readonly Column[]): string {
  return columns.length === 1 ? 'Value' : `Value #${String.fromCodePoint(65 + place)}`;
}

function arrangement({ labels, hiddenLabels = [], columns }: Table) {
  const fields = columns.map((column, place) => ({ ...column, field: fieldOf(place, columns) }));
  const hidden = [
    'Time',
    ...hiddenLabels,
    ...fields.filter((column) => column.hidden).map(({ field }) => field),
  ];
  const shown = [...Object.keys(labels), ...fields.map(({ field }) => field)];
  return {
    excludeByName: Object.fromEntries(hidden.map((field) => [field, true])),
    indexByName: Object.fromEntries(shown.map((field, index) => [field, index])),
    renameByName: { ...labels, ...Object.fromEntries(fields.map(({ field, name }) => [field, name])) },
  };
}

function appearance({ unit, decimals, mappings, thresholds }: Column): DynamicConfigValue[] {
  const look: DynamicConfigValue[] = [];
  if (unit !== undefined) look.push({ id: 'unit', value: unit });
  if (decimals !== undefined) look.push({ id: 'decimals', value: decimals });
  if (mappings !== undefined) look.push({ id: 'mappings', value: mappings });
  if (thresholds !== undefined) look.push({ id: 'thresholds', value: thresholds.build() });
  if (mappings !== undefined || thresholds !== undefined) {
    look.push({ id: 'custom.cellOptions', value: { type: 'color-text' } });
  }
  return look;
}
