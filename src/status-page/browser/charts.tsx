import { Component, type JSX } from 'preact';
import type uPlot from 'uplot';
import { type ChartSeries, POINTS } from '../../domain/reading.ts';
import { MIB } from '../../domain/server.ts';
import type { HistoryView } from '../data/history-view.ts';
import type { LiveServer } from '../data/live-server.ts';
import { rate, size } from '../data/words.ts';

const HEIGHT = 180;

type Plot = typeof uPlot;

let library: Promise<Plot> | undefined;

/** The chart library, loaded when a row is first opened. */
function loadLibrary(): Promise<Plot> {
  library ??= import(new URL('uplot.js', import.meta.url).href).then(
    (module: { readonly default: Plot }) => module.default,
  );
  return library;
}

interface ChartLine {
  readonly label: string;
  readonly color: string;
  readonly dash?: number[];
}

/** One chart: its lines, and how to format its numbers. */
interface ChartSpec {
  readonly title: string;
  readonly lines: readonly (ChartLine & { readonly series: ChartSeries })[];
  /** The limit of the first line, shown as a dashed one. */
  readonly limit?: 'cpu_limit_cores' | 'memory_limit_bytes';
  readonly format: (value: number) => string;
  /** Steps between two ticks of the axis, if powers of ten are hard to read. */
  readonly increments?: number[];
  /** Omits the chart if there is no data. */
  readonly isOptional?: true;
}

const CHARTS: readonly ChartSpec[] = [
  {
    title: 'CPU, cores',
    lines: [{ label: 'used', color: '--series-1', series: 'cpu_usage_cores' }],
    limit: 'cpu_limit_cores',
    format: (value) => value.toFixed(value < 10 ? 2 : 1),
  },
  {
    title: 'Memory',
    lines: [{ label: 'used', color: '--series-2', series: 'memory_usage_bytes' }],
    limit: 'memory_limit_bytes',
    format: size,
    increments: Array.from({ length: 24 }, (_, power) => MIB * 2 ** power),
  },
  {
    title: 'Network',
    lines: [
      { label: 'received', color: '--series-3', series: 'network_receive_bytes_per_second' },
      { label: 'sent', color: '--series-1', series: 'network_transmit_bytes_per_second' },
    ],
    format: rate,
    increments: Array.from({ length: 40 }, (_, power) => 2 ** power),
  },
  {
    title: 'Players',
    lines: [{ label: 'online', color: '--series-2', series: 'players' }],
    format: (value) => String(Math.round(value)),
    increments: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    isOptional: true,
  },
];

/** A limit this many times above the usage is omitted, because it would flatten the line. */
const FAR_ABOVE = 5;

/** The values of a chart's lines, oldest first; null if unknown. */
function linesOf(
  { lines, limit }: ChartSpec,
  { series }: HistoryView,
  server: LiveServer,
): (number | null)[][] {
  const values = lines.map((line) =>
    Array.from({ length: POINTS }, (_, at) => series[line.series]?.[at] ?? null),
  );
  if (limit === undefined) return values;
  const most = server[limit] ?? 0;
  const highest = Math.max(0, ...values.flatMap((line) => line.map((value) => value ?? 0)));
  const isShown = most > 0 && most <= highest * FAR_ABOVE;
  return [...values, Array.from({ length: POINTS }, () => (isShown ? most : null))];
}

/** The times of the points, in Unix seconds. */
function timesOf({ end_timestamp_seconds: end, step_seconds: step }: HistoryView): number[] {
  return Array.from({ length: POINTS }, (_, index) => end - (POINTS - 1 - index) * step);
}

interface ChartProps {
  readonly history: HistoryView | undefined;
  readonly server: LiveServer;
}

/** The large charts of a server. */
export function charts(props: ChartProps): JSX.Element {
  const drawn = CHARTS.map((spec) => <Chart key={spec.title} spec={spec} {...props} />);
  return <div class="charts">{drawn}</div>;
}

class Chart extends Component<ChartProps & { readonly spec: ChartSpec }> {
  #box: HTMLElement | null = null;
  #plot: uPlot | undefined;
  readonly #sizes = new ResizeObserver(() => this.#fit());

  override componentDidMount(): void {
    // In two steps, because a new chart sets its legend when the first one is done.
    void loadLibrary()
      .then((library) => this.#draw(library))
      .then(() => this.#show());
  }

  // Even with the same history: the colors may be others.
  override componentDidUpdate(): void {
    this.#show();
  }

  override componentWillUnmount(): void {
    this.#sizes.disconnect();
    this.#plot?.destroy();
  }

  // Nothing but the library changes the contents of the box.
  override render({ spec, history }: Chart['props']): JSX.Element {
    const isKnown = spec.lines.some(({ series }) => history?.series[series]?.some((value) => value !== null));
    return (
      <div
        class="chart"
        hidden={spec.isOptional === true && !isKnown}
        ref={(box) => {
          this.#box = box ?? this.#box;
        }}
      >
        <h3>{spec.title}</h3>
      </div>
    );
  }

  #draw(library: Plot): void {
    if (this.#box?.isConnected !== true) return;
    this.#plot = plotIn(this.#box, this.props.spec, library);
    this.#sizes.observe(this.#box);
  }

  #show(): void {
    const { spec, history, server } = this.props;
    if (history === undefined || this.#plot === undefined) return;
    this.#plot.setData([timesOf(history), ...linesOf(spec, history, server)]);
    // Without a pointer on the chart, the legend shows the newest values.
    if (typeof this.#plot.cursor.idx !== 'number') this.#plot.setLegend({ idx: POINTS - 1 }, false);
  }

  #fit(): void {
    const width = this.#box?.clientWidth ?? 0;
    if (width > 0 && width !== this.#plot?.width) this.#plot?.setSize({ width, height: HEIGHT });
  }
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

function clockTime(seconds: number): string {
  return clock.format(seconds * 1_000);
}

function plotIn(box: HTMLElement, spec: ChartSpec, Library: Plot): uPlot {
  // A canvas has no variables, and these hold a light and a dark color.
  const color = (name: string) => () => {
    box.style.outlineColor = `var(${name})`;
    return getComputedStyle(box).outlineColor;
  };
  const axis: uPlot.Axis = {
    stroke: color('--muted'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  const limits = spec.limit === undefined ? [] : [{ label: 'limit', color: '--limit', dash: [5, 4] }];
  const lines: readonly ChartLine[] = [...spec.lines, ...limits];
  const options: uPlot.Options = {
    width: Math.max(200, box.clientWidth),
    height: HEIGHT,
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    legend: { markers: { stroke: (_, at) => `var(${lines[at - 1]?.color})` } },
    // The last label of the time axis extends beyond the last point.
    padding: [8, 32, 0, 0],
    scales: { y: { range: (_, __, highest) => [0, highest > 0 ? highest * 1.08 : 1] } },
    axes: [
      { ...axis, size: 24, space: 72, incrs: [60, 120, 300], values: (_, splits) => splits.map(clockTime) },
      {
        ...axis,
        size: 66,
        values: (_, splits) => splits.map((value) => spec.format(value)),
        incrs: spec.increments,
      },
    ],
    series: [
      { label: 'time' },
      ...lines.map(
        ({ label, color: name, dash }): uPlot.Series => ({
          label,
          stroke: color(name),
          width: dash === undefined ? 1.75 : 1,
          dash,
          points: { show: false },
          value: (_, value: number | null) => (value === null ? '–' : spec.format(value)),
        }),
      ),
    ],
  };
  return new Library(options, [[], ...lines.map(() => [])], box);
}
