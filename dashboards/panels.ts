import * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import { type DynamicConfigValue, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';
import { type Basics, configured, type PanelBuilder, type Query, target } from './panel.ts';

export interface Graph extends Basics {
  readonly queries: readonly Query[];
  readonly stacked?: boolean;
  readonly bars?: boolean;
  /** Draws a dashed line at each threshold. */
  readonly thresholdLines?: boolean;
  /** Looks of the series whose name matches. */
  readonly looks?: readonly (readonly [name: string, look: readonly DynamicConfigValue[]])[];
}

export const DASHED: readonly DynamicConfigValue[] = [
  { id: 'custom.lineStyle', value: { fill: 'dash', dash: [8, 8] } },
  { id: 'custom.fillOpacity', value: 0 },
];

export const THIN: readonly DynamicConfigValue[] = [
  { id: 'custom.lineWidth', value: 1 },
  { id: 'custom.lineStyle', value: { fill: 'dot', dash: [2, 4] } },
  { id: 'custom.fillOpacity', value: 0 },
];

export const DOWNWARDS: readonly DynamicConfigValue[] = [{ id: 'custom.transform', value: 'negative-Y' }];

/** Values over time. The legend is a table with the highest on top, which scrolls, however many series there are. */
export function graph(spec: Graph): PanelBuilder {
  const queries = spec.queries.map((query, place) => target(query, place).range());
  const panel = configured(new timeseries.PanelBuilder(), spec, queries)
    .lineWidth(spec.bars === true ? 0 : 1)
    .drawStyle(spec.bars === true ? common.GraphDrawStyle.Bars : common.GraphDrawStyle.Line)
    .fillOpacity(fill(spec))
    .showPoints(common.VisibilityMode.Auto)
    .tooltip(tooltip())
    .legend({
      build: () => ({
        displayMode: common.LegendDisplayMode.Table,
        placement: common.LegendPlacement.Bottom,
        showLegend: true,
        calcs: spec.bars === true ? ['sum'] : ['lastNotNull', 'max'],
        sortBy: spec.bars === true ? 'Total' : 'Max',
        sortDesc: true,
      }),
    });
  if (spec.stacked === true) {
    panel.stacking({ build: () => ({ mode: common.StackingMode.Normal, group: 'A' }) });
  }
  if (spec.thresholdLines === true) {
    panel.thresholdsStyle({ build: () => ({ mode: common.GraphThresholdsStyleMode.Dashed }) });
  }
  for (const [name, look] of spec.looks ?? []) panel.overrideByRegexp(name, [...look]);
  return panel;
}

function fill({ bars, stacked }: Graph): number {
  if (bars === true) return 80;
  return stacked === true ? 40 : 8;
}

function tooltip(): Builder<common.VizTooltipOptions> {
  return {
    build: () => ({
      mode: common.TooltipDisplayMode.Multi,
      sort: common.SortOrder.Descending,
      maxHeight: 400,
    }),
  };
}

export interface Timeline extends Basics {
  readonly queries: readonly Query[];
}

/** One band a series, coloured by what its value stands for; a page of 25 at a time. */
export function timeline(spec: Timeline): PanelBuilder {
  const queries = spec.queries.map((query, place) => target(query, place).range());
  return configured(new statetimeline.PanelBuilder(), spec, queries)
    .showValue(common.VisibilityMode.Never)
    .mergeValues(true)
    .rowHeight(0.8)
    .lineWidth(0)
    .fillOpacity(80)
    .perPage(25)
    .maxDataPoints(300)
    .tooltip({ build: () => ({ mode: common.TooltipDisplayMode.Single, sort: common.SortOrder.None }) })
    .legend({
      build: () => ({
        displayMode: common.LegendDisplayMode.List,
        placement: common.LegendPlacement.Bottom,
        showLegend: false,
        calcs: [],
      }),
    });
}

export interface Ranking extends Basics {
  readonly query: Query;
}

/** One bar a series, as many as the query gives, as of the end of the time range. */
export function ranking(spec: Ranking): PanelBuilder {
  return configured(new bargauge.PanelBuilder(), spec, [target(spec.query, 0).instant()])
    .orientation(common.VizOrientation.Horizontal)
    .displayMode(common.BarGaugeDisplayMode.Basic)
    .valueMode(common.BarGaugeValueMode.Text)
    .reduceOptions(LAST);
}

export interface Figure extends Basics {
  readonly queries: readonly Query[];
  readonly looks?: readonly (readonly [name: string, look: readonly DynamicConfigValue[]])[];
}

/** One or a few numbers as of the end of the time range. */
export function figure(spec: Figure): PanelBuilder {
  const queries = spec.queries.map((query, place) => target(query, place).instant());
  const panel = configured(new stat.PanelBuilder(), { height: 4, ...spec }, queries)
    .graphMode(common.BigValueGraphMode.None)
    .colorMode(common.BigValueColorMode.Value)
    .textMode(
      queries.length > 1 || spec.queries[0]?.legend !== undefined
        ? common.BigValueTextMode.ValueAndName
        : common.BigValueTextMode.Value,
    )
    .reduceOptions(LAST);
  for (const [name, look] of spec.looks ?? []) panel.overrideByRegexp(name, [...look]);
  return panel;
}

const LAST: Builder<common.ReduceDataOptions> = {
  build: () => ({ values: false, calcs: ['lastNotNull'], fields: '' }),
};

/** A series in one colour. */
export function colored(color: string): readonly DynamicConfigValue[] {
  return [{ id: 'color', value: { mode: FieldColorModeId.Fixed, fixedColor: color } }];
}
