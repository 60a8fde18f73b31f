import { type Durations, SATURATED_FROM } from '../domain/reading.ts';

/** A longer gap between observations counts as neither observed nor running time. */
const MAX_OBSERVED_GAP_MS = 60_000;

/** The longest gap that counts toward saturation, because usage is only known at one-second resolution. */
const MAX_SATURATED_GAP_MS = 5_000;

/** The offset of each of a stopwatch's numbers. */
const AT = {
  observedMs: 0,
  runningMs: 1,
  cpuSaturatedMs: 2,
  memorySaturatedMs: 3,
  observedAt: 4,
  streamedAt: 5,
  cpuLimit: 6,
  memoryLimit: 7,
} as const;

/** How many numbers a stopwatch takes. */
export const STOPWATCH_SIZE = Object.keys(AT).length;

/**
 * Counts how long one server was observed, was running, and was at its limits, on the monotonic clock. Its numbers lie side by
 * side: as separate fields, or looked up in the configuration, each would cost every sample a cache miss (see bench/RESULTS.md).
 */
export class Stopwatch {
  readonly #values: Float64Array;
  readonly #start: number;
  #wasRunning = false;

  /** Uses `STOPWATCH_SIZE` numbers of the array from `start` on; all must be NaN. */
  constructor(values = new Float64Array(STOPWATCH_SIZE).fill(Number.NaN), start = 0) {
    this.#values = values;
    this.#start = start;
    values.fill(0, start + AT.observedMs, start + AT.observedAt);
  }

  /** Records that the server was observed, and whether it is running. */
  observed(now: number, isRunning: boolean): void {
    const gapMs = now - this.#get(AT.observedAt);
    if (gapMs <= MAX_OBSERVED_GAP_MS) {
      this.#add(AT.observedMs, gapMs);
      if (this.#wasRunning) this.#add(AT.runningMs, gapMs);
    }
    this.#values[this.#start + AT.observedAt] = now;
    this.#wasRunning = isRunning;
  }

  /** Sets the limits that apply from now on; NaN for a limit that doesn't exist. */
  limit(cpuLimit: number, memoryLimit: number): void {
    this.#values[this.#start + AT.cpuLimit] = cpuLimit;
    this.#values[this.#start + AT.memoryLimit] = memoryLimit;
  }

  /** Records a sample from the socket; NaN for a missing value. */
  streamed(now: number, cpuUsed: number, memoryUsed: number): void {
    const gapMs = now - this.#get(AT.streamedAt);
    this.#values[this.#start + AT.streamedAt] = now;
    if (!(gapMs <= MAX_SATURATED_GAP_MS)) return;
    if (cpuUsed >= SATURATED_FROM * this.#get(AT.cpuLimit)) this.#add(AT.cpuSaturatedMs, gapMs);
    if (memoryUsed >= SATURATED_FROM * this.#get(AT.memoryLimit)) this.#add(AT.memorySaturatedMs, gapMs);
  }

  /** The totals so far; saturation only for limits that exist. */
  read(hasCpuLimit: boolean, hasMemoryLimit: boolean): Durations {
    return {
      observed: this.#get(AT.observedMs) / 1_000,
      running: this.#get(AT.runningMs) / 1_000,
      cpuSaturated: hasCpuLimit ? this.#get(AT.cpuSaturatedMs) / 1_000 : undefined,
      memorySaturated: hasMemoryLimit ? this.#get(AT.memorySaturatedMs) / 1_000 : undefined,
    };
  }

  #get(at: number): number {
    return this.#values[this.#start + at] ?? Number.NaN;
  }

  #add(at: number, ms: number): void {
    this.#values[this.#start + at] = this.#get(at) + ms;
  }
}
