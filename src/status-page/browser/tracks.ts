import { ALL_SERIES, type AnySeries, POINTS, type ServerHistory, STEP_SECONDS } from '../data/protocol.ts';

/** The last minutes of one server's charts: first from the exporter's history, then from the stream. */
export class Track {
  #lastStep = 0;
  readonly #series: Readonly<Record<AnySeries, Float64Array>>;

  constructor() {
    const series = ALL_SERIES.map((name) => [name, new Float64Array(POINTS).fill(Number.NaN)] as const);
    this.#series = Object.fromEntries(series) as Record<AnySeries, Float64Array>;
  }

  /** Adds the exporter's history; values that the stream delivered meanwhile are kept. */
  remember(history: ServerHistory): void {
    const end = Math.floor(history.end_timestamp_seconds / STEP_SECONDS);
    this.#reach(end);
    for (const name of ALL_SERIES) {
      for (const [index, value] of (history.series[name] ?? []).entries()) {
        const step = end - POINTS + 1 + index;
        const isShown = step > this.#lastStep - POINTS;
        if (value !== null && isShown && Number.isNaN(this.#at(name, step))) {
          this.#series[name][step % POINTS] = value;
        }
      }
    }
  }

  /** Adds the newest values, at this Unix time in seconds; NaN if unknown. */
  add(time: number, values: Readonly<Record<AnySeries, number>>): void {
    const step = Math.floor(time / STEP_SECONDS);
    if (step <= this.#lastStep - POINTS) return;
    this.#reach(step);
    for (const name of ALL_SERIES) this.#series[name][step % POINTS] = values[name];
  }

  /** Oldest first; NaN if unknown. */
  values(name: AnySeries): number[] {
    return this.times().map((time) => this.#at(name, time / STEP_SECONDS));
  }

  /** The times of the points, in Unix seconds. */
  times(): number[] {
    return Array.from({ length: POINTS }, (_, index) => (this.#lastStep - POINTS + 1 + index) * STEP_SECONDS);
  }

  #at(name: AnySeries, step: number): number {
    return this.#series[name][((step % POINTS) + POINTS) % POINTS] ?? Number.NaN;
  }

  #reach(step: number): void {
    for (let at = Math.max(this.#lastStep + 1, step - POINTS + 1); at <= step; at += 1) {
      for (const name of ALL_SERIES) this.#series[name][at % POINTS] = Number.NaN;
    }
    this.#lastStep = Math.max(this.#lastStep, step);
  }
}

/** SVG paths of a sparkline. */
export interface Spark {
  readonly line: string;
  /** The area below the line. */
  readonly area: string;
}

/** The paths in a box of this size; NaN values are gaps, and the highest value reaches the top. */
export function sparkPaths(values: readonly number[], width: number, height: number): Spark {
  const highest = Math.max(...values.filter((value) => !Number.isNaN(value)), Number.MIN_VALUE);
  const stepWidth = width / Math.max(1, values.length - 1);
  let [line, area] = ['', ''];
  for (const stretch of stretches(values)) {
    const points = stretch.map(({ index, value }) => {
      const x = (index * stepWidth).toFixed(1);
      return { x, text: `${x} ${(height - (value / highest) * height).toFixed(1)}` };
    });
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined) continue;
    const path = points.map(({ text }) => text).join('L');
    line += `M${path}`;
    area += `M${first.x} ${height}L${path}L${last.x} ${height}Z`;
  }
  return { line, area };
}

/** The runs of values between gaps, with their indices. */
function stretches(values: readonly number[]): { index: number; value: number }[][] {
  const found: { index: number; value: number }[][] = [[]];
  for (const [index, value] of values.entries()) {
    if (Number.isNaN(value)) found.push([]);
    else found.at(-1)?.push({ index, value });
  }
  return found;
}
