import {
  HISTORY_SERIES,
  type HistorySeries,
  POINTS,
  type ServerHistory,
  STEP_SECONDS,
} from '../status/protocol.ts';

/** The last minutes of one server's charts: first as the exporter remembers them, then as the stream goes on. */
export class Track {
  #lastStep = 0;
  readonly #series: Readonly<Record<HistorySeries, Float64Array>>;

  constructor() {
    const series = HISTORY_SERIES.map((name) => [name, new Float64Array(POINTS).fill(Number.NaN)] as const);
    this.#series = Object.fromEntries(series) as Record<HistorySeries, Float64Array>;
  }

  /** Adds what the exporter remembers; what came by the stream meanwhile stays. */
  remember(history: ServerHistory): void {
    const end = Math.floor(history.end_timestamp_seconds / STEP_SECONDS);
    this.#reach(end);
    for (const name of HISTORY_SERIES) {
      for (const [index, value] of (history.series[name] ?? []).entries()) {
        const step = end - POINTS + 1 + index;
        const isShown = step > this.#lastStep - POINTS;
        if (value !== null && isShown && Number.isNaN(this.#at(name, step))) {
          this.#series[name][step % POINTS] = value;
        }
      }
    }
  }

  /** The newest values, at this Unix time in seconds; NaN where nothing is known. */
  add(time: number, values: Readonly<Record<HistorySeries, number>>): void {
    const step = Math.floor(time / STEP_SECONDS);
    if (step <= this.#lastStep - POINTS) return;
    this.#reach(step);
    for (const name of HISTORY_SERIES) this.#series[name][step % POINTS] = values[name];
  }

  /** The oldest first; NaN where nothing is known. */
  values(name: HistorySeries): number[] {
    return this.times().map((time) => this.#at(name, time / STEP_SECONDS));
  }

  /** Unix seconds of the points. */
  times(): number[] {
    return Array.from({ length: POINTS }, (_, index) => (this.#lastStep - POINTS + 1 + index) * STEP_SECONDS);
  }

  #at(name: HistorySeries, step: number): number {
    return this.#series[name][((step % POINTS) + POINTS) % POINTS] ?? Number.NaN;
  }

  #reach(step: number): void {
    for (let at = Math.max(this.#lastStep + 1, step - POINTS + 1); at <= step; at += 1) {
      for (const name of HISTORY_SERIES) this.#series[name][at % POINTS] = Number.NaN;
    }
    this.#lastStep = Math.max(this.#lastStep, step);
  }
}
