// Rings of the last steps of several servers, which share arrays to save memory.

import { CHART_SERIES, POINTS, STEP_SECONDS } from '../domain/recent-history.ts';
import { STRIP_POINTS, STRIP_STATES } from '../domain/strip.ts';
import { NEVER } from '../domain/time.ts';
import { SECOND_MS } from '../domain/units.ts';

export const STEP_MS = STEP_SECONDS * SECOND_MS;

/** How long a peak is remembered, at least; at most one step longer. */
const PEAK_WINDOW_MS = 60_000;
export const PEAK_STEPS = PEAK_WINDOW_MS / STEP_MS + 1;
export const PEAKS = ['cpu', 'memory'] as const;
export const NO_PEAK = Number.NEGATIVE_INFINITY;

/** In the rings of the two hours, the time at the CPU limit comes after the states. */
export const SATURATED = STRIP_STATES.length;

/** Few enough that the histories of removed servers keep little memory from being freed. */
const SERVERS_PER_CHUNK = 16;

/**
 * Rings of so many steps of several servers, in one array; steps that were never begun are empty.
 */
class Rings<Values extends Float32Array | Float64Array | Uint8Array> {
  readonly #values: Values;
  readonly #perServer: number;
  readonly #steps: number;
  readonly #empty: number;

  constructor(create: new (length: number) => Values, perServer: number, steps: number, empty: number) {
    this.#values = new create(SERVERS_PER_CHUNK * perServer * steps);
    this.#values.fill(empty);
    this.#perServer = perServer;
    this.#steps = steps;
    this.#empty = empty;
  }

  /**
   * Begins the steps after `after` up to `to`: they repeat its values up to the step `freshTo`, and
   * are empty after it.
   */
  begin(server: number, after: number, to: number, freshTo = NEVER): void {
    for (let ring = 0; ring < this.#perServer; ring += 1) {
      const latest = this.read(server, ring, after);
      for (let step = Math.max(after + 1, to - this.#steps + 1); step <= to; step += 1) {
        this.write(server, ring, step, step <= freshTo ? latest : this.#empty);
      }
    }
  }

  /** The value of one of the newest steps. */
  read(server: number, ring: number, step: number): number {
    return this.#values[this.#index(server, ring, step)] ?? Number.NaN;
  }

  write(server: number, ring: number, step: number, value: number): void {
    this.#values[this.#index(server, ring, step)] = value;
  }

  // Near the clock's zero, earlier steps are negative.
  #index(server: number, ring: number, step: number): number {
    return (server * this.#perServer + ring) * this.#steps + ((step + this.#steps) % this.#steps);
  }
}

/**
 * The rings of several histories: with arrays of its own, each of 10,000 servers would need about
 * 300 more bytes.
 */
export class Chunk {
  /** Of the last five minutes; 32 bits are enough for a chart. */
  readonly points = new Rings(Float32Array, CHART_SERIES.length, POINTS, Number.NaN);
  /** Of the steps that have ended. */
  readonly peaks = new Rings(Float64Array, PEAKS.length, PEAK_STEPS - 1, NO_PEAK);
  /**
   * Of the last two hours: how many seconds each lasted in a step, plus one; 0 if it was not seen
   * in that step.
   */
  readonly strip = new Rings(Uint8Array, SATURATED + 1, STRIP_POINTS, 0);
  taken = 0;
}

let newest = new Chunk();

/** The rings in which another history has a place, and that place. */
export function nextPlace(): { readonly rings: Chunk; readonly place: number } {
  if (newest.taken === SERVERS_PER_CHUNK) newest = new Chunk();
  const place = newest.taken;
  newest.taken += 1;
  return { rings: newest, place };
}
