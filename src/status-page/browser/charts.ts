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

/** One chart: its lines, and how to format its numbers. */
interface ChartSpec {
  readonly title: string;
  readonly lines: readonly { readonly label: string; readonly color: string; readonly isDashed?: true }[];
  readonly format: (value: number) => string;
  /** Steps between two ticks of the axis, if powers of ten are hard to read. */
  readonly increments?: readonly number[];
  /** Omits the chart if there is no data. */
  readonly isOptional?: true;
  readonly values: (history: HistoryView, limits: ChartLimits) => readonly Values[];
}

/** The values of a line, oldest first; null if unknown. */
type Values = readonly (number | null)[];

type ChartLimits = Pick<LiveServer, 'cpu_limit_cores' | 'memory_limit_bytes'>;

const CHARTS: readonly ChartSpec[] = [
  {
    title: 'CPU, cores',
    lines: [
      { label: 'used', color: '--series-1' },
      { label: 'limit', color: '--limit', isDashed: true },
    ],
    format: (value) => value.toFixed(value < 10 ? 2 : 1),
    values: (history, { cpu_limit_cores: limit }) => withLimit(valuesOf(history, 'cpu_usage_cores'), limit),
  },
  {
    title: 'Memory',
    lines: [
      { label: 'used', color: '--series-2' },
      { label: 'limit', color: '--limit', isDashed: true },
    ],
    format: size,
    increments: Array.from({ length: 24 }, (_, power) => MIB * 2 ** power),
    values: (history, { memory_limit_bytes: limit }) =>
      withLimit(valuesOf(history, 'memory_usage_bytes'), limit),
  },
  {
    title: 'Network',
    lines: [
      { label: 'received', color: '--series-3' },
      { label: 'sent', color: '--series-1' },
    ],
    format: rate,
    increments: Array.from({ length: 40 }, (_, power) => 2 ** power),
    values: (history) => [
      valuesOf(history, 'network_receive_bytes_per_second'),
      valuesOf(history, 'network_transmit_bytes_per_second'),
    ],
  },
  {
    title: 'Players',
    lines: [{ label: 'online', color: '--series-2' }],
    format: (value) => String(Math.round(value)),
    increments: [1, 2, 5].flatMap((step) => [step, step * 10, step * 100]).sort((a, b) => a - b),
    isOptional: true,
    values: (history) => [valuesOf(history, 'players')],
  },
];

export const CHART_TITLES = CHARTS.map(({ title }) => title);

/** A limit this many times above the usage is omitted, because it would flatten the line. */
const FAR_ABOVE = 5;

function withLimit(used: Values, limit = 0): readonly Values[] {
  const highest = Math.max(0, ...used.filter((value) => value !== null));
  const isShown = limit > 0 && limit <= highest * FAR_ABOVE;
  return [used, used.map(() => (isShown ? limit : null))];
}

function valuesOf({ series }: HistoryView, name: ChartSeries): Values {
  return series[name] ?? NO_VALUES;
}

const NO_VALUES: Values = Array.from({ length: POINTS }, () => null);

/** The times of the points, in Unix seconds. */
function timesOf({ end_timestamp_seconds: end, step_seconds: step }: HistoryView): number[] {
  return Array.from({ length: POINTS }, (_, index) => end - (POINTS - 1 - index) * step);
}

/** The large charts of one server, in the boxes of an element: one for each of `CHART_TITLES`. */
export class Charts {
  readonly #plots: readonly { readonly plot: uPlot; readonly spec: ChartSpec; readonly box: HTMLElement }[];
  readonly #sizes: ResizeObserver;

  private constructor(library: Plot, element: HTMLElement) {
    this.#plots = [...element.children].flatMap((box, index) => {
      const spec = CHARTS[index];
      if (spec === undefined || !(box instanceof HTMLElement)) return [];
      return [{ plot: plotIn(box, spec, library), spec, box }];
    });
    this.#sizes = new ResizeObserver(() => this.#fit());
    this.#sizes.observe(element);
  }

  /** Loads the library when it is first called. */
  static async in(element: HTMLElement): Promise<Charts> {
    return new Charts(await loadLibrary(), element);
  }

  show(history: HistoryView, limits: ChartLimits): void {
    const times = timesOf(history);
    for (const { plot, spec, box } of this.#plots) {
      const lines = spec.values(history, limits).map((values) => values.slice());
      box.hidden =
        spec.isOptional === true && lines.every((values) => values.every((value) => value === null));
      plot.setData([times, ...lines]);
      // Without a pointer on the chart, the legend shows the newest values.
      if (plot.cursor.idx === null || plot.cursor.idx === undefined)
        plot.setLegend({ idx: times.length - 1 }, false);
    }
  }

  remove(): void {
    this.#sizes.disconnect();
    for (const { plot } of this.#plots) plot.destroy();
  }

  #fit(): void {
    for (const { plot, box } of this.#plots) {
      if (box.clientWidth > 0 && box.clientWidth !== plot.width) {
        plot.setSize({ width: box.clientWidth, height: HEIGHT });
      }
    }
  }
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

function clockTime(seconds: number): string {
  return clock.format(seconds * 1_000);
}

/** The color that a variable of the theme has in an element; the variable itself holds a light and a dark one. */
function colorIn(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

function plotIn(box: HTMLElement, spec: ChartSpec, Library: Plot): uPlot {
  const color = (name: string) => colorIn(box, name);
  const axis: uPlot.Axis = {
    stroke: color('--muted'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  const options: uPlot.Options = {
    width: Math.max(200, box.clientWidth),
    height: HEIGHT,
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    legend: { live: true },
    // The last label of the time axis extends beyond the last point.
    padding: [8, 32, 0, 0],
    scales: { y: { range: (_, __, highest) => [0, highest > 0 ? highest * 1.08 : 1] } },
    axes: [
      { ...axis, size: 24, space: 72, incrs: [60, 120, 300], values: (_, splits) => splits.map(clockTime) },
      {
        ...axis,
        size: 66,
        values: (_, splits) => splits.map((value) => spec.format(value)),
        incrs: spec.increments && [...spec.increments],
      },
    ],
    series: [
      { label: 'time' },
      ...spec.lines.map(
        ({ label, color: name, isDashed }): uPlot.Series => ({
          label,
          stroke: color(name),
          width: isDashed === true ? 1 : 1.75,
          ...(isDashed === true ? { dash: [5, 4] } : {}),
          points: { show: false },
          value: (_, value: number | null) => (value === null ? '–' : spec.format(value)),
        }),
      ),
    ],
  };
  return new Library(options, [[], ...spec.lines.map(() => [])], box);
}
