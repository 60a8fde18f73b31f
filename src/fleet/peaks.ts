import type { Peaks } from '../domain/reading.ts';
import { NumberPool } from './number-pool.ts';

/** How long a peak is remembered, at least; at most one bucket longer. */
export const PEAK_WINDOW_MS = 60_000;

/** A minute in steps of five seconds: 208 bytes a server. */
const BUCKET_MS = 5_000;
const BUCKETS = PEAK_WINDOW_MS / BUCKET_MS + 1;

const FIELDS = ['cpuCores', 'memoryBytes'] as const satisfies readonly (keyof Peaks)[];

const WINDOW_SIZE = BUCKETS * FIELDS.length;

const WINDOWS = new NumberPool((length) => new Float64Array(length), WINDOW_SIZE);

/** The highest values of the last minute, in a ring of buckets. */
export class PeakWindow {
  readonly #values = WINDOWS.take();
  #newest = Number.NEGATIVE_INFINITY;

  /** Adds the values of one second, in the order of the fields; NaN for a missing value. */
  add(now: number, cpuCores: number, memoryBytes: number): void {
    const bucket = Math.floor(now / BUCKET_MS);
    this.#forget(bucket);
    const offset = offsetOf(bucket);
    this.#raise(offset, cpuCores);
    this.#raise(offset + 1, memoryBytes);
  }

  read(now: number): Peaks | undefined {
    this.#forget(Math.floor(now / BUCKET_MS));
    const peaks: { -readonly [Field in keyof Peaks]: number } = {};
    let seen = false;
    for (const [index, field] of FIELDS.entries()) {
      const value = this.#highest(index);
      if (value === undefined) continue;
      peaks[field] = value;
      seen = true;
    }
    return seen ? peaks : undefined;
  }

  #raise(at: number, value: number): void {
    const known = this.#values[at] ?? Number.NaN;
    // The comparison is false for NaN on either side: an unknown peak is replaced by any value, and a missing value replaces
    // nothing.
    if (!(known >= value) && !Number.isNaN(value)) this.#values[at] = value;
  }

  #highest(index: number): number | undefined {
    let highest: number | undefined;
    for (let at = index; at < WINDOW_SIZE; at += FIELDS.length) {
      const value = this.#values[at] ?? Number.NaN;
      if (!Number.isNaN(value) && (highest === undefined || value > highest)) highest = value;
    }
    return highest;
  }

  /** Clears the buckets between the newest one and this one. */
  #forget(bucket: number): void {
    if (bucket <= this.#newest) return;
    const steps = Math.min(BUCKETS, bucket - this.#newest);
    for (let step = 0; step < steps; step += 1) {
      const offset = offsetOf(bucket - step);
      this.#values.fill(Number.NaN, offset, offset + FIELDS.length);
    }
    this.#newest = bucket;
  }
}

function offsetOf(bucket: number): number {
  return (((bucket % BUCKETS) + BUCKETS) % BUCKETS) * FIELDS.length;
}
