import {
  type DataFrame,
  FALLBACK_COLOR,
  type Field,
  FieldType,
  type GrafanaTheme2,
  getFieldDisplayName,
  type TimeRange,
} from '@grafana/data';
import { AxisPlacement, ScaleDirection, ScaleOrientation } from '@grafana/schema';
import {
  FIXED_UNIT,
  GraphNG,
  Pagination,
  UPlotConfigBuilder,
  useTheme2,
  VizLayout,
  VizLegend,
  type VizLegendItem,
} from '@grafana/ui';
import type uPlot from 'uplot';
import type { Content } from './panels.tsx';

const PAGINATION_HEIGHT = 40;

/** The first page of a state timeline. Grafana's own one isn't in its libraries: this one is drawn by the same rules. */
export function StateTimeline({ panel, frames, range, width, height }: Content) {
  const theme = useTheme2();
  const { perPage, legend, rowHeight } = panel.options;
  const pages = Math.ceil(frames.length / perPage);
  const shown = frames.slice(0, perPage);
  const items = legendItems(shown, theme);
  return (
    <>
      <GraphNG
        frames={shown}
        theme={theme}
        timeRange={range}
        timeZone="utc"
        width={width}
        height={height - (pages > 1 ? PAGINATION_HEIGHT : 0)}
        legend={legend}
        structureRev={1}
        prepConfig={(aligned: DataFrame, _frames: DataFrame[], getRange: () => TimeRange) =>
          plotConfig(aligned, getRange, theme, rowHeight)
        }
        renderLegend={() =>
          items === undefined ? null : (
            <VizLayout.Legend placement={legend.placement}>
              <VizLegend
                placement={legend.placement}
                items={items}
                displayMode={legend.displayMode}
                readonly
              />
            </VizLayout.Legend>
          )
        }
      />
      {pages > 1 && (
        <div style={{ display: 'flex', justifyContent: 'center', marginTop: 8 }}>
          <Pagination currentPage={1} numberOfPages={pages} onNavigate={() => undefined} />
        </div>
      )}
    </>
  );
}

/** The texts that occur, with their colors; Grafana shows no legend for a continuous color scheme. */
function legendItems(frames: readonly DataFrame[], theme: GrafanaTheme2): VizLegendItem[] | undefined {
  const fields = frames.flatMap(({ fields }) => fields.filter(({ type }) => type === FieldType.number));
  if (fields[0]?.config.color?.mode.startsWith('continuous')) return undefined;
  const colors = new Map<string, string>();
  for (const { values, display } of fields) {
    for (const value of values) {
      const { text = '', color } = display?.(value) ?? {};
      if (text !== '' && color !== undefined) colors.set(text, color);
    }
  }
  return [...colors].map(([label, color]) => ({
    label,
    color: theme.visualization.getColorByName(color),
    yAxis: 1,
  }));
}

function plotConfig(
  { fields }: DataFrame,
  getRange: () => TimeRange,
  theme: GrafanaTheme2,
  rowHeight: number,
): UPlotConfigBuilder {
  const rows = fields.slice(1);
  const share = rows.length > 1 ? rowHeight : 1;
  const height = share / rows.length;
  const pitch = height + (rows.length > 1 ? (1 - share) / (rows.length - 1) : 0);
  const config = new UPlotConfigBuilder('utc');
  config.setPrepData(([frame]) => (frame?.fields ?? []).map(({ values }) => values) as uPlot.AlignedData);
  config.addScale({
    scaleKey: 'x',
    isTime: true,
    orientation: ScaleOrientation.Horizontal,
    direction: ScaleDirection.Right,
    range: () => [getRange().from.valueOf(), getRange().to.valueOf()],
  });
  config.addScale({
    scaleKey: FIXED_UNIT,
    isTime: false,
    orientation: ScaleOrientation.Vertical,
    direction: ScaleDirection.Up,
    range: [0, 1],
  });
  config.addAxis({ scaleKey: 'x', isTime: true, placement: AxisPlacement.Bottom, timeZone: 'utc', theme });
  config.addAxis({
    scaleKey: FIXED_UNIT,
    isTime: false,
    placement: AxisPlacement.Left,
    splits: () => rows.map((_field, row) => 1 - row * pitch - height / 2),
    values: () => rows.map((field) => getFieldDisplayName(field)),
    grid: { show: false },
    ticks: { show: false },
    gap: 16,
    theme,
  });
  for (const [row, field] of rows.entries()) {
    config.addSeries({
      scaleKey: FIXED_UNIT,
      theme,
      lineWidth: 0,
      pxAlign: true,
      pointsBuilder: () => false,
      pathBuilder: (plot, series) => {
        drawBand(plot, series, field, row * pitch, height);
        return null;
      },
    });
  }
  return config;
}

/** Draws one rectangle for each run of equal values; nulls are drawn only if a mapping gives them a color. */
function drawBand(
  { ctx, bbox, data, valToPos }: uPlot,
  series: number,
  field: Field,
  top: number,
  height: number,
) {
  const [times = []] = data;
  const values: ArrayLike<unknown> = data[series] ?? [];
  const mapsNull = field.config.mappings?.some(({ type }) => type === 'special') ?? false;
  for (let start = 0, end = 0; start < values.length; start = end) {
    const value = values[start];
    for (end = start + 1; end < values.length; end += 1) {
      if (values[end] !== undefined && values[end] !== value) break;
    }
    if (value === undefined || (value === null && !mapsNull)) continue;
    const left = Math.max(bbox.left, valToPos(times[start] ?? 0, 'x', true));
    const right = end < values.length ? valToPos(times[end] ?? 0, 'x', true) : bbox.left + bbox.width;
    ctx.fillStyle = fillColor(field, value);
    ctx.fillRect(left, bbox.top + top * bbox.height, Math.max(1, right - left), height * bbox.height);
  }
}

/** The color of a value with the field's opacity, unless it has one of its own. */
function fillColor({ display, config }: Field, value: unknown): string {
  const color = display?.(value).color ?? FALLBACK_COLOR;
  if (color.length > 7) return color;
  const opacity = Math.round((Number(config.custom?.fillOpacity ?? 70) / 100) * 255);
  return `${color}${opacity.toString(16).padStart(2, '0')}`;
}
