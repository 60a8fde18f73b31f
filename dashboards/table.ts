import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type {
  DashboardLink,
  DynamicConfigValue,
  ThresholdsConfig,
  ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import * as grafanaTable from '@grafana/grafana-foundation-sdk/table';
import { NEUTRAL, PLAIN, wordsFor } from './appearance.ts';
import { type Basics, configured, type PanelBuilder, target } from './panel.ts';

interface AnyColumn {
  readonly name: string;
  readonly mappings?: readonly ValueMapping[];
  /** Pixels. */
  readonly width: number;
  /** Growing columns share the space that the others leave, in equal parts of at least their width. */
  readonly grows?: true;
  /** Wraps long text instead of cutting it off. */
  readonly wraps?: true;
}

/** A column with the values of a label; together, these labels identify a row. */
export interface LabelColumn extends AnyColumn {
  readonly label: string;
  readonly link?: Builder<DashboardLink>;
  /** Has a filter in its header. */
  readonly filters?: true;
  /** Texts that are shown instead of the label's values. */
  readonly texts?: Readonly<Record<string, string>>;
}

/** A column of numbers. */
export interface NumberColumn extends AnyColumn {
  readonly expr: string;
  readonly unit?: string;
  readonly decimals?: number;
  /** Colors of the cells. */
  readonly thresholds?: Builder<ThresholdsConfig>;
}

export type Column = LabelColumn | NumberColumn;

export interface Table extends Omit<Basics, 'links' | 'thresholds' | 'mappings' | 'width'> {
  readonly columns: readonly Column[];
  /** A query that is used only for its labels. */
  readonly rows?: string;
  /** Labels to hide. */
  readonly hiddenLabels?: readonly string[];
  readonly sortBy: readonly (readonly [column: string, order: 'ascending' | 'descending'])[];
}

/** Shown in cells without a value. */
const EMPTY = '–';

/** One row per set of labels, and one column per label and per query, as of the end of the time range. */
export function table(spec: Table): PanelBuilder {
  const numbers = spec.columns.filter((column) => 'expr' in column);
  const exprs = [...numbers.map(({ expr }) => expr), ...(spec.rows === undefined ? [] : [spec.rows])];
  const queries = exprs.map((expr, place) =>
    target({ expr }, place).instant().format(prometheus.PromQueryFormat.Table),
  );
  const panel = configured(
    new grafanaTable.PanelBuilder(),
    { thresholds: NEUTRAL, ...spec, width: 24 },
    queries,
  )
    .sortBy(
      spec.sortBy.map(([displayName, order]) => ({
        build: () => ({ displayName, desc: order === 'descending' }),
      })),
    )
    .withTransformation({ id: 'merge', options: {} });
  const converted = conversions(spec.columns);
  if (converted.length > 0) {
    panel.withTransformation({ id: 'convertFieldType', options: { conversions: converted } });
  }
  panel
    .withTransformation({ id: 'organize', options: arrangement(spec, exprs.length) })
    // The panel's own text is for a table without rows.
    .overrideByRegexp('/.*/', [{ id: 'noValue', value: EMPTY }]);
  for (const column of spec.columns) panel.overrideByName(column.name, appearance(column));
  return panel;
}

/** Grafana's name for a query's values: it contains the query's letter, unless there is only one. */
function fieldOf(place: number, queries: number): string {
  return queries === 1 ? 'Value' : `Value #${String.fromCodePoint(65 + place)}`;
}

function arrangement({ columns, rows, hiddenLabels = [] }: Table, queries: number) {
  let place = 0;
  const shown = columns.map((column) => {
    const field = 'expr' in column ? fieldOf(place, queries) : column.label;
    if ('expr' in column) place += 1;
    return [field, column.name] as const;
  });
  const hidden = ['Time', ...hiddenLabels, ...(rows === undefined ? [] : [fieldOf(place, queries)])];
  return {
    excludeByName: Object.fromEntries(hidden.map((field) => [field, true])),
    indexByName: Object.fromEntries(shown.map(([field], index) => [field, index])),
    renameByName: Object.fromEntries(shown),
  };
}

/**
 * Turns labels that are shown as other texts into enumerations: Grafana computes the height of a row from the texts of its cells,
 * but for strings from the values behind these texts.
 */
function conversions(columns: readonly Column[]) {
  return columns.flatMap((column) =>
    'label' in column && column.texts !== undefined
      ? [
          {
            targetField: column.label,
            destinationType: 'enum',
            enumConfig: { text: Object.keys(column.texts) },
          },
        ]
      : [],
  );
}

/** The texts of an enumeration, by the places of its values. */
function textMappings(texts: Readonly<Record<string, string>>): ValueMapping {
  const places = Object.values(texts).map((text, place) => [place, [text, PLAIN]] as const);
  return wordsFor(Object.fromEntries(places));
}

function appearance(column: Column): DynamicConfigValue[] {
  const { mappings, width, grows, wraps } = column;
  const look: DynamicConfigValue[] = [{ id: grows ? 'custom.minWidth' : 'custom.width', value: width }];
  let colored = mappings !== undefined;
  if (mappings !== undefined) look.push({ id: 'mappings', value: mappings });
  if ('expr' in column) {
    const { unit, decimals, thresholds } = column;
    if (unit !== undefined) look.push({ id: 'unit', value: unit });
    if (decimals !== undefined) look.push({ id: 'decimals', value: decimals });
    if (thresholds !== undefined) look.push({ id: 'thresholds', value: thresholds.build() });
    colored ||= thresholds !== undefined;
  } else {
    // The panel's unit would turn a server named 123 into two minutes.
    look.push({ id: 'unit', value: 'string' });
    if (column.filters) look.push({ id: 'custom.filterable', value: true });
    if (column.texts !== undefined) look.push({ id: 'mappings', value: [textMappings(column.texts)] });
    if (column.link !== undefined) look.push({ id: 'links', value: [column.link.build()] });
  }
  const type = colored ? 'color-text' : 'auto';
  // Grafana before 12.2 reads `wrapText` from the cell's options.
  if (colored || wraps) look.push({ id: 'custom.cellOptions', value: { type, wrapText: wraps === true } });
  if (wraps) look.push({ id: 'custom.wrapText', value: true });
  return look;
}
