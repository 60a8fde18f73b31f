import {
  applyNullInsertThreshold,
  cacheFieldDisplayNames,
  type DataFrame,
  type DisplayValueAlignmentFactors,
  type FieldDisplay,
  FieldType,
  type GrafanaTheme2,
  getDisplayProcessor,
  getDisplayValueAlignmentFactors,
  getFieldDisplayValues,
  nullToValue,
  type TimeRange,
} from '@grafana/data';
import {
  BarGauge,
  BigValue,
  TimeSeries,
  useTheme2,
  VizRepeater,
  type VizRepeaterRenderValueProps,
} from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import type { ReactElement } from 'react';
import type { Panel } from './dashboard.ts';
import { fieldConfigOf } from './field-config.ts';
import { StateTimeline } from './state-timeline.tsx';

export interface Content {
  readonly panel: Panel;
  readonly frames: DataFrame[];
  readonly range: TimeRange;
  readonly width: number;
  readonly height: number;
}

/** The inside of a panel. */
export function Visualization(content: Content): ReactElement {
  cacheFieldDisplayNames(content.frames);
  switch (content.panel.type) {
    case 'stat':
      return <Stat {...content} />;
    case 'bargauge':
      return <BarGauges {...content} />;
    case 'table':
      return <Table {...content} />;
    case 'timeseries':
      return <Graph {...content} />;
    case 'state-timeline': {
      const frames = graphable(content);
      return frames.length === 0 ? <NoValue {...content} /> : <StateTimeline {...content} frames={frames} />;
    }
    default:
      throw new Error(`expected a known type of panel, got "${content.panel.type}"`);
  }
}

function NoValue({ panel }: Content) {
  const { colors, typography } = useTheme2();
  return (
    <div style={{ display: 'flex', alignItems: 'center', height: '100%' }}>
      <div
        style={{
          width: '100%',
          textAlign: 'center',
          color: colors.text.secondary,
          fontSize: typography.size.lg,
        }}
      >
        {panel.fieldConfig.defaults.noValue}
      </div>
    </div>
  );
}

type Rendered = VizRepeaterRenderValueProps<FieldDisplay, DisplayValueAlignmentFactors>;

function displayValues({ panel, frames }: Content, theme: GrafanaTheme2): FieldDisplay[] {
  return getFieldDisplayValues({
    fieldConfig: fieldConfigOf(panel),
    reduceOptions: panel.options.reduceOptions,
    replaceVariables: (text) => text,
    theme,
    data: frames,
    timeZone: 'utc',
  });
}

function Stat(content: Content) {
  const theme = useTheme2();
  const { options } = content.panel;
  return (
    <VizRepeater
      getValues={() => displayValues(content, theme)}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={({ value, ...place }: Rendered) => (
        <BigValue
          {...place}
          value={value.display}
          colorMode={options.colorMode}
          graphMode={options.graphMode}
          justifyMode={options.justifyMode}
          textMode={options.textMode}
          disableWideLayout={!options.wideLayout}
          theme={theme}
        />
      )}
      width={content.width}
      height={content.height}
      source={content.frames}
      itemSpacing={3}
      renderCounter={0}
      autoGrid
      orientation={options.orientation}
    />
  );
}

const BAR_SPACING = 10;

function BarGauges(content: Content) {
  const theme = useTheme2();
  const { options } = content.panel;
  return (
    <VizRepeater
      getValues={() => displayValues(content, theme)}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={({ value, count, alignmentFactors, ...place }: Rendered) => (
        <BarGauge
          {...place}
          value={value.display}
          field={value.field}
          display={getDisplayProcessor({ field: { config: value.field }, theme })}
          alignmentFactors={count > 1 ? alignmentFactors : undefined}
          displayMode={options.displayMode}
          valueDisplayMode={options.valueMode}
          namePlacement={options.namePlacement}
          showUnfilled={options.showUnfilled}
          itemSpacing={BAR_SPACING}
          theme={theme}
        />
      )}
      width={content.width}
      height={content.height}
      source={content.frames}
      itemSpacing={BAR_SPACING}
      renderCounter={0}
      orientation={options.orientation}
      minVizHeight={options.minVizHeight}
      maxVizHeight={options.maxVizHeight}
    />
  );
}

function Table(content: Content) {
  const { panel, frames, range, width, height } = content;
  const [frame] = frames;
  if (frame === undefined || frame.fields.length === 0) return <NoValue {...content} />;
  return (
    <TableNG
      data={frame}
      width={width}
      height={height}
      sortBy={panel.options.sortBy}
      sortByBehavior="initial"
      cellHeight={panel.options.cellHeight}
      timeRange={range}
      fieldConfig={fieldConfigOf(panel)}
      structureRev={1}
    />
  );
}

function Graph(content: Content) {
  const theme = useTheme2();
  const frames = graphable(content);
  if (frames.length === 0) return <NoValue {...content} />;
  const fields = frames.flatMap(({ fields }) => fields.filter(({ type }) => type === FieldType.number));
  for (const [seriesIndex, field] of fields.entries()) {
    field.state = { ...field.state, seriesIndex };
    field.display = getDisplayProcessor({ field, theme });
  }
  return (
    <TimeSeries
      frames={frames}
      structureRev={1}
      timeRange={content.range}
      timeZone="utc"
      width={content.width}
      height={content.height}
      legend={content.panel.options.legend}
    />
  );
}

/** The frames with nulls in their gaps, and instead of numbers that can't be drawn. */
function graphable({ frames, range }: Content): DataFrame[] {
  return frames
    .filter(({ fields }) => fields.length > 1)
    .map((frame) => {
      const refFieldPseudoMin = range.from.valueOf();
      const refFieldPseudoMax = range.to.valueOf();
      const whole = nullToValue(applyNullInsertThreshold({ frame, refFieldPseudoMin, refFieldPseudoMax }));
      return {
        ...whole,
        fields: whole.fields.map((field) => ({ ...field, values: drawable(field.values) })),
      };
    });
}

function drawable(values: readonly unknown[]): unknown[] {
  return values.map((value) => (typeof value === 'number' && !Number.isFinite(value) ? null : value));
}
