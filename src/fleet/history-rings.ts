// Ring buffers with the last steps of several servers, which share arrays to save memory.

import { NEVER } from '../domain/clock.ts';
import { CHART_SERIES, POINTS, STEP_SECONDS } from '../domain/recent-history.ts';
import { STRIP_POINTS, STRIP_STATES } from '../domain/strip.ts';
import { SECOND_MS } from '../domain/units.ts';

export const STEP_MS = STEP_SECONDS * SECOND_MS;

/** The minimum time for which a peak is kept; the maximum is one step longer. */
const PEAK_WINDOW_MS = 60_000;
export const PEAK_STEPS = PEAK_WINDOW_MS / STEP_MS + 1;
export const PEAKS = ['cpu', 'memory'] as const;
export const NO_PEAK = Number.NEGATIVE_INFINITY;

/** The ring of the time at the CPU limit, after the rings of the states. */
export const SATURATED = STRIP_STATES.length;

/**
 * The number of servers that share arrays. It is small, because one remaining server keeps the
 * memory of all.
 */
const SERVERS_PER_CHUNK = 16;

/** The rings of several servers in one array. Steps that never began are empty. */
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
   * Begins the steps after `after` up to `to`. Up to `freshTo`, they repeat the last values; after
   * that, they are empty.
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

  // Near the clock's origin, earlier steps have negative numbers.
  #index(server: number, ring: number, step: number): number {
    return (server * this.#perServer + ring) * this.#steps + ((step + this.#steps) % this.#steps);
  }
}

/**
 * The rings of several histories. With separate arrays, each of 10,000 servers would need about 300
 * more bytes.
 */
export class Chunk {
  /** The last five minutes; 32 bits are enough for a chart. */
  readonly points = new Rings(Float32Array, CHART_SERIES.length, POINTS, Number.NaN);
  /** The peaks of completed steps. */
  readonly peaks = new Rings(Float64Array, PEAKS.length, PEAK_STEPS - 1, NO_PEAK);
  /**
   * The last two hours: the seconds of each state in a step, plus one; 0 if the state did not
   * occur.
   */
  readonly strip = new Rings(Uint8Array, SATURATED + 1, STRIP_POINTS, 0);
  taken = 0;
}

let newest = new Chunk();

/** A free place for another history, and its rings. */
export function nextPlace(): { readonly rings: Chunk; readonly place: number } {
  if (newest.taken === SERVERS_PER_CHUNK) newest = new Chunk();
  const place = newest.taken;
  newest.taken += 1;
  return { rings: newest, place };
}
