import type { Peaks } from '../domain/reading.ts';
import type { Observation } from './ordering.ts';

/** How long a peak is remembered, at least; at most one bucket longer. */
export const PEAK_WINDOW_MS = 60_000;

/** A minute in steps of five seconds: 416 bytes a server. */
const BUCKET_MS = 5_000;
const BUCKETS = PEAK_WINDOW_MS / BUCKET_MS + 1;

const FIELDS = [
  'cpuCores',
  'memoryBytes',
  'networkReceiveBytesPerSecond',
  'networkTransmitBytesPerSecond',
] as const satisfies readonly (keyof Peaks)[];

/** How many numbers a window takes. */
export const WINDOW_SIZE = BUCKETS * FIELDS.length;

/** The highest values of the last minute, in a ring of buckets. */
export class PeakWindow {
  readonly #values: Float64Array;
  readonly #start: number;
  #newest = Number.NEGATIVE_INFINITY;

  /** Uses `WINDOW_SIZE` numbers of the array from `start` on; all must be NaN. */
  constructor(values: Float64Array, start = 0) {
    this.#values = values;
    this.#start = start;
  }

  /** Adds the values of one second, in the order of the fields; NaN for a missing value. */
  add(now: number, cpuCores: number, memoryBytes: number, receiveRate: number, transmitRate: number): void {
    const bucket = Math.floor(now / BUCKET_MS);
    this.#forget(bucket);
    const offset = this.#offsetOf(bucket);
    this.#raise(offset, cpuCores);
    this.#raise(offset + 1, memoryBytes);
    this.#raise(offset + 2, receiveRate);
    this.#raise(offset + 3, transmitRate);
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
    const end = this.#start + WINDOW_SIZE;
    for (let at = this.#start + index; at < end; at += FIELDS.length) {
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
      const offset = this.#offsetOf(bucket - step);
      this.#values.fill(Number.NaN, offset, offset + FIELDS.length);
    }
    this.#newest = bucket;
  }

  #offsetOf(bucket: number): number {
    return this.#start + (((bucket % BUCKETS) + BUCKETS) % BUCKETS) * FIELDS.length;
  }
}

/** Rates over other gaps are not one-second values. */
const MIN_RATE_GAP_MS = 500;
const MAX_RATE_GAP_MS = 5_000;

/** Bytes a second between two values of a counter; NaN if no rate can be computed. */
export function rate(from: number, to: number | undefined, gapMs: number | undefined): number {
  if (gapMs === undefined || to === undefined || !(to >= from)) return Number.NaN;
  return ((to - from) * 1_000) / gapMs;
}

/** Milliseconds between two frames, by the server's own clock if available; undefined if no rate can be computed. */
export function gapBetween(previous: Observation, next: Observation): number | undefined {
  const before = previous.uptimeMs;
  const after = next.uptimeMs;
  const gap =
    before !== undefined && after !== undefined && after > before
      ? after - before
      : next.receivedAt - previous.receivedAt;
  return gap >= MIN_RATE_GAP_MS && gap <= MAX_RATE_GAP_MS ? gap : undefined;
}
