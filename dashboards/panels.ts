import * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import {
  type DynamicConfigValue,
  FieldColorModeId,
  MappingType,
  SpecialValueMatch,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import { NEUTRAL, NO_DATA, NOTHING } from './appearance.ts';
import { type Basics, configured, type PanelBuilder, type Query, target } from './panel.ts';
import { whileCurrent } from './promql.ts';

/** The appearance of series whose name matches a regular expression. */
export type Look = readonly [name: string, look: readonly DynamicConfigValue[]];

export interface Graph extends Basics {
  readonly queries: readonly Query[];
  readonly stacked?: boolean;
  /** Draws the events within each step as a bar; there must be a non-negative value at every step. */
  readonly bars?: boolean;
  /** Draws a dashed line at each threshold. */
  readonly thresholdLines?: boolean;
  readonly looks?: readonly Look[];
}

/** Shown only in the tooltip, because its server is in the legend already. */
const NOT_IN_LEGEND: DynamicConfigValue = {
  id: 'custom.hideFrom',
  value: { legend: true, tooltip: false, viz: false },
};

export const DASHED: readonly DynamicConfigValue[] = [
  { id: 'custom.lineStyle', value: { fill: 'dash', dash: [8, 8] } },
  { id: 'custom.fillOpacity', value: 0 },
];

export const THIN: readonly DynamicConfigValue[] = [
  { id: 'custom.lineWidth', value: 1 },
  { id: 'custom.lineStyle', value: { fill: 'dot', dash: [2, 4] } },
  { id: 'custom.fillOpacity', value: 0 },
];

/** A server's limit. */
export const LIMIT: readonly DynamicConfigValue[] = [...DASHED, ...colored('red'), NOT_IN_LEGEND];

/** A server's momentary peak, or predicted usage. */
export const EXTREME: readonly DynamicConfigValue[] = [...THIN, NOT_IN_LEGEND];

export const DOWNWARDS: readonly DynamicConfigValue[] = [{ id: 'custom.transform', value: 'negative-Y' }];

/** The number of bars in a graph: enough to show the time, and few enough to be visible at a width of 400 pixels. */
const BARS = 60;

/** Values over time. The legend below lists only names; values are in the tooltip. */
export function graph(spec: Graph): PanelBuilder {
  const bars = spec.bars === true;
  // The line of a stacked zero would be drawn over the area below it, in a color that isn't there.
  const areas = bars || spec.stacked === true;
  const queries = spec.queries.map((query, place) => target(query, place).range());
  const panel = configured(new timeseries.PanelBuilder(), spec, queries)
    .lineWidth(areas ? 0 : 1)
    .drawStyle(bars ? common.GraphDrawStyle.Bars : common.GraphDrawStyle.Line)
    .fillOpacity(areas ? 80 : 0)
    .showPoints(areas ? common.VisibilityMode.Never : common.VisibilityMode.Auto)
    .tooltip({
      build: () => ({
        mode: common.TooltipDisplayMode.Multi,
        sort: common.SortOrder.Descending,
        maxHeight: 400,
        hideZeros: bars,
      }),
    })
    .legend(legend());
  if (bars) panel.maxDataPoints(BARS).min(0).barAlignment(common.BarAlignment.Before);
  if (areas) {
    panel.stacking({ build: () => ({ mode: common.StackingMode.Normal, group: 'A' }) });
  }
  const end = endOfAxis(spec.unit);
  if (end !== undefined) panel.axisSoftMax(end);
  if (spec.thresholdLines === true) {
    panel.thresholdsStyle({ build: () => ({ mode: common.GraphThresholdsStyleMode.Dashed }) });
  }
  for (const [name, look] of spec.looks ?? []) panel.overrideByRegexp(name, [...look]);
  return panel;
}

/** Where the axis of a graph with only zeros ends; by default at 100, which is odd for counts, and 10,000 % for shares. */
function endOfAxis(unit: string): number | undefined {
  if (unit === 'percentunit') return 0.1;
  return unit === 'none' || unit.startsWith('suffix:/') ? 1 : undefined;
}

function legend(): Builder<common.VizLegendOptions> {
  return {
    build: () => ({
      displayMode: common.LegendDisplayMode.List,
      placement: common.LegendPlacement.Bottom,
      showLegend: true,
      calcs: [],
    }),
  };
}

export interface Timeline extends Basics {
  readonly queries: readonly Query[];
  readonly mappings: ValueMapping[];
  /** Leaves times without a sample empty, because they have a meaning of their own. Otherwise, they are gray. */
  readonly emptyGaps?: true;
}

/** One band per series, colored by the meaning of its value, which the legend explains; 25 bands per page. */
export function timeline({ emptyGaps, ...spec }: Timeline): PanelBuilder {
  const queries = spec.queries.map((query, place) => target(query, place).range());
  const gap = emptyGaps ? { text: '', color: 'transparent' } : { text: 'no data', color: NO_DATA };
  const mappings = [...spec.mappings, withoutSample(gap)];
  return (
    configured(new statetimeline.PanelBuilder(), { ...spec, mappings }, queries)
      // With the default color scheme, which is continuous, Grafana shows no legend.
      .colorScheme({ build: () => ({ mode: FieldColorModeId.Fixed, fixedColor: NO_DATA }) })
      .showValue(common.VisibilityMode.Never)
      .mergeValues(true)
      .rowHeight(0.8)
      .lineWidth(0)
      .fillOpacity(80)
      .perPage(25)
      .maxDataPoints(300)
      .tooltip({ build: () => ({ mode: common.TooltipDisplayMode.Single, sort: common.SortOrder.None }) })
      .legend(legend())
  );
}

/** Without such a mapping, the legend contains the sentence for a panel without data. */
function withoutSample({ text, color }: { readonly text: string; readonly color: string }): ValueMapping {
  const result = { text, color, index: 99 };
  return { type: MappingType.SpecialValue, options: { match: SpecialValueMatch.Null, result } };
}

export interface Ranking extends Basics {
  readonly queries: readonly Query[];
}

/** Pixels: ten bars fit a panel that is nine cells high. */
const BAR_HEIGHT = 17;

/** One bar per series of the queries, as of the end of the time range. */
export function ranking(spec: Ranking): PanelBuilder {
  return (
    configured(
      new bargauge.PanelBuilder(),
      spec,
      spec.queries.map((query, place) => target(query, place).instant()),
    )
      .orientation(common.VizOrientation.Horizontal)
      .displayMode(common.BarGaugeDisplayMode.Basic)
      .valueMode(common.BarGaugeValueMode.Text)
      // All bars of all rankings are equally high.
      .sizing(common.BarGaugeSizing.Manual)
      .minVizHeight(BAR_HEIGHT)
      .maxVizHeight(BAR_HEIGHT)
      .reduceOptions(LAST)
  );
}

export interface Figure extends Omit<Basics, 'noValue'> {
  /** The text without data; by default `No data`. */
  readonly noValue?: string;
  readonly queries: readonly Query[];
  /** Draws the values over the time range behind the numbers; each query has one series without labels. */
  readonly trend?: true;
  /** Shows the names of the series instead of their values. */
  readonly namesOnly?: true;
  readonly looks?: readonly Look[];
}

/** One or a few numbers as of the end of the time range, gray if missing. */
export function figure(spec: Figure): PanelBuilder {
  const { trend } = spec;
  const queries = spec.queries.map(({ expr, legend }, place) =>
    trend
      ? target({ expr: whileCurrent(expr), legend }, place).range()
      : target({ expr, legend }, place).instant(),
  );
  const basics = { height: 4, thresholds: NEUTRAL, noValue: NOTHING, ...spec };
  const panel = configured(new stat.PanelBuilder(), basics, queries)
    .graphMode(trend ? common.BigValueGraphMode.Area : common.BigValueGraphMode.None)
    .colorMode(common.BigValueColorMode.Value)
    // Wide panels would have names and values in one line, in small letters.
    .wideLayout(false)
    .textMode(spec.namesOnly ? common.BigValueTextMode.Name : textMode(spec.queries))
    .reduceOptions(LAST);
  for (const [name, look] of spec.looks ?? []) panel.overrideByRegexp(name, [...look]);
  return panel;
}

/** Several figures have names; one for each server has them only while several servers are selected. */
function textMode(queries: readonly Query[]): common.BigValueTextMode {
  const { Auto, Value, ValueAndName } = common.BigValueTextMode;
  if (queries.length > 1) return ValueAndName;
  return queries[0]?.legend === undefined ? Value : Auto;
}

const LAST: Builder<common.ReduceDataOptions> = {
  build: () => ({ values: false, calcs: ['lastNotNull'], fields: '' }),
};

/** A fixed color for a series. */
export function colored(color: string): readonly DynamicConfigValue[] {
  return [{ id: 'color', value: { mode: FieldColorModeId.Fixed, fixedColor: color } }];
}

/** Colors for series by their names; `before` is the prefix of a name. */
export function coloredByName(colors: Readonly<Record<string, string>>, before = ''): readonly Look[] {
  return Object.entries(colors).map(([name, color]) => [`/^${before}${name}$/`, colored(color)]);
}
