import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type * as common from '@grafana/grafana-foundation-sdk/common';
import type {
  DashboardLink,
  Panel,
  ThresholdsConfig,
  ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import { DATASOURCE, GOOD, steps } from './appearance.ts';

/** A panel without an id. */
export interface PanelBuilder extends Builder<Panel> {
  id(id: number): unknown;
}

export interface Query {
  readonly expr: string;
  /** The name of a series; `{{label}}` stands for a label's value. */
  readonly legend?: string;
}

/** The options that every panel requires. */
export interface Basics {
  readonly title: string;
  readonly description: string;
  readonly unit: string;
  /** The text if there is no data, with the possible reason. */
  readonly noValue: string;
  /** Columns in Grafana's grid of 24. */
  readonly width: number;
  readonly height?: number;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  readonly thresholds?: Builder<ThresholdsConfig>;
  readonly mappings?: ValueMapping[];
  readonly links?: readonly Builder<DashboardLink>[];
}

/** The methods that all panel builders of the SDK share. */
interface Configurable extends PanelBuilder {
  title(title: string): this;
  description(description: string): this;
  datasource(ref: common.DataSourceRef): this;
  span(w: number): this;
  height(h: number): this;
  unit(unit: string): this;
  noValue(text: string): this;
  decimals(decimals: number): this;
  min(min: number): this;
  max(max: number): this;
  thresholds(thresholds: Builder<ThresholdsConfig>): this;
  mappings(mappings: ValueMapping[]): this;
  dataLinks(links: Builder<DashboardLink>[]): this;
  withTarget(target: Builder<prometheus.Dataquery>): this;
}

/** Sets a panel's basics and its queries; A is the first query. */
export function configured<Kind extends Configurable>(
  panel: Kind,
  basics: Basics,
  queries: readonly Builder<prometheus.Dataquery>[],
): Kind {
  panel
    .title(basics.title)
    .description(basics.description)
    .datasource(DATASOURCE)
    .span(basics.width)
    .height(basics.height ?? 8)
    .unit(basics.unit)
    .noValue(basics.noValue)
    // Without thresholds, Grafana shows everything above 80 in red.
    .thresholds(basics.thresholds ?? steps(GOOD));
  if (basics.decimals !== undefined) panel.decimals(basics.decimals);
  if (basics.min !== undefined) panel.min(basics.min);
  if (basics.max !== undefined) panel.max(basics.max);
  if (basics.mappings !== undefined) panel.mappings(basics.mappings);
  if (basics.links !== undefined) panel.dataLinks([...basics.links]);
  for (const query of queries) panel.withTarget(query);
  return panel;
}

/** A query with the letter for its position; `A` is the first. */
export function target({ expr, legend }: Query, place: number): prometheus.DataqueryBuilder {
  const query = new prometheus.DataqueryBuilder()
    .datasource(DATASOURCE)
    .refId(letter(place))
    .editorMode(prometheus.QueryEditorMode.Code)
    .expr(expr);
  return legend === undefined ? query : query.legendFormat(legend);
}

function letter(place: number): string {
  return String.fromCodePoint(65 + place);
}
