import type uPlot from 'uplot';
import { MIB, mebibytes, rate } from '../data/words.ts';
import { element } from './dom.ts';
import type { Track } from './tracks.ts';

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
  readonly values: (track: Track, limits: ChartLimits) => readonly (readonly number[])[];
}

/** The server's limits: cores and bytes; −1 means unlimited. */
export interface ChartLimits {
  readonly cpuCores: number;
  readonly memoryBytes: number;
}

const CHARTS: readonly ChartSpec[] = [
  {
    title: 'CPU, cores',
    lines: [
      { label: 'used', color: '--series-1' },
      { label: 'limit', color: '--limit', isDashed: true },
    ],
    format: (value) => value.toFixed(value < 10 ? 2 : 1),
    values: (track, { cpuCores }) => withLimit(track.values('cpu_usage_cores'), cpuCores),
  },
  {
    title: 'Memory',
    lines: [
      { label: 'used', color: '--series-2' },
      { label: 'limit', color: '--limit', isDashed: true },
    ],
    format: (value) => mebibytes(value / MIB),
    increments: Array.from({ length: 24 }, (_, power) => MIB * 2 ** power),
    values: (track, { memoryBytes }) => withLimit(track.values('memory_usage_bytes'), memoryBytes),
  },
  {
    title: 'Network',
    lines: [
      { label: 'received', color: '--series-3' },
      { label: 'sent', color: '--series-1' },
    ],
    format: rate,
    increments: Array.from({ length: 40 }, (_, power) => 2 ** power),
    values: (track) => [
      track.values('network_receive_bytes_per_second'),
      track.values('network_transmit_bytes_per_second'),
    ],
  },
  {
    title: 'Players',
    lines: [{ label: 'online', color: '--series-2' }],
    format: (value) => String(Math.round(value)),
    increments: [1, 2, 5].flatMap((step) => [step, step * 10, step * 100]).sort((a, b) => a - b),
    isOptional: true,
    values: (track) => [track.values('players')],
  },
];

/** A limit this many times above the usage is omitted, because it would flatten the line. */
const FAR_ABOVE = 5;

function withLimit(used: readonly number[], limit: number): readonly (readonly number[])[] {
  const highest = Math.max(0, ...used.filter((value) => !Number.isNaN(value)));
  const isShown = limit > 0 && limit <= highest * FAR_ABOVE;
  return [used, used.map(() => (isShown ? limit : Number.NaN))];
}

/** The large charts of one server. */
export class Charts {
  readonly element = element('div', 'charts');
  readonly #boxes = CHARTS.map(({ title }) => {
    const box = element('div', 'chart');
    box.append(element('h3', '', title));
    return box;
  });
  #plots: { readonly plot: uPlot; readonly spec: ChartSpec; readonly box: HTMLElement }[] = [];
  #latest: readonly [Track, ChartLimits] | undefined;

  constructor() {
    this.element.append(...this.#boxes);
    new ResizeObserver(() => this.#fit()).observe(this.element);
  }

  /** Redraws the charts, for another server or in other colors. */
  async begin(track: Track, limits: ChartLimits): Promise<void> {
    this.#latest = [track, limits];
    const library = await loadLibrary();
    this.#clear();
    this.#plots = CHARTS.flatMap((spec, index) => {
      const box = this.#boxes[index];
      return box === undefined ? [] : [{ plot: plotIn(box, spec, library), spec, box }];
    });
    this.update(...this.#latest);
  }

  update(track: Track, limits: ChartLimits): void {
    this.#latest = [track, limits];
    const times = track.times();
    for (const { plot, spec, box } of this.#plots) {
      const lines = spec.values(track, limits).map((values) => values.map((value) => noNaN(value)));
      box.hidden =
        spec.isOptional === true && lines.every((values) => values.every((value) => value === null));
      plot.setData([times, ...lines]);
      // Without a pointer on the chart, the legend shows the newest values.
      if (plot.cursor.idx === null || plot.cursor.idx === undefined)
        plot.setLegend({ idx: times.length - 1 }, false);
    }
  }

  end(): void {
    this.#latest = undefined;
    this.#clear();
  }

  /** Redraws the charts in the current colors. */
  async recolor(): Promise<void> {
    if (this.#plots.length > 0 && this.#latest !== undefined) await this.begin(...this.#latest);
  }

  #clear(): void {
    for (const { plot } of this.#plots) plot.destroy();
    this.#plots = [];
  }

  #fit(): void {
    for (const { plot, box } of this.#plots) {
      if (box.clientWidth > 0 && box.clientWidth !== plot.width) {
        plot.setSize({ width: box.clientWidth, height: HEIGHT });
      }
    }
  }
}

function noNaN(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

function clockTime(seconds: number): string {
  return clock.format(seconds * 1_000);
}

function plotIn(box: HTMLElement, spec: ChartSpec, Library: Plot): uPlot {
  const style = getComputedStyle(box);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: color('--muted'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
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
      { ...axis, size: 24, space: 56, incrs: [60, 120, 300], values: (_, splits) => splits.map(clockTime) },
      {
        ...axis,
        size: 66,
        values: (_, splits) => splits.map((value) => spec.format(value)),
        ...(spec.increments === undefined ? {} : { incrs: [...spec.increments] }),
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
