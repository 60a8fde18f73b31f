import type { Durations } from '../domain/reading.ts';

/** A longer gap counts as neither observed nor running. */
const MAX_OBSERVED_GAP_MS = 60_000;

/** What a server uses is known from second to second alone. */
const MAX_SATURATED_GAP_MS = 5_000;

/** At this share of a limit, a server has reached it: nodes round, and grant a little more or less. */
const SATURATED_FROM = 0.95;

/** Where a stopwatch keeps its numbers. */
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
 * Counts how long one server was observed, ran, and used up its limits; on the monotonic clock. Its numbers lie side by side: as
 * fields, or fetched from where the limits are configured, each would cost every sample a cache miss (see bench/RESULTS.md).
 */
export class Stopwatch {
  readonly #values: Float64Array;
  readonly #start: number;
  #wasRunning = false;

  /** Takes `STOPWATCH_SIZE` of these numbers for its own, from `start` on, each NaN. */
  constructor(values = new Float64Array(STOPWATCH_SIZE).fill(Number.NaN), start = 0) {
    this.#values = values;
    this.#start = start;
    values.fill(0, start + AT.observedMs, start + AT.observedAt);
  }

  /** The server was observed, and runs from now on or doesn't. */
  observed(now: number, isRunning: boolean): void {
    const gapMs = now - this.#get(AT.observedAt);
    if (gapMs <= MAX_OBSERVED_GAP_MS) {
      this.#add(AT.observedMs, gapMs);
      if (this.#wasRunning) this.#add(AT.runningMs, gapMs);
    }
    this.#values[this.#start + AT.observedAt] = now;
    this.#wasRunning = isRunning;
  }

  /** What the server may use from now on; NaN stands for a limit that there isn't. */
  limit(cpuLimit: number, memoryLimit: number): void {
    this.#values[this.#start + AT.cpuLimit] = cpuLimit;
    this.#values[this.#start + AT.memoryLimit] = memoryLimit;
  }

  /** A sample came over the socket; NaN stands for a value that there isn't. */
  streamed(now: number, cpuUsed: number, memoryUsed: number): void {
    const gapMs = now - this.#get(AT.streamedAt);
    this.#values[this.#start + AT.streamedAt] = now;
    if (!(gapMs <= MAX_SATURATED_GAP_MS)) return;
    if (cpuUsed >= SATURATED_FROM * this.#get(AT.cpuLimit)) this.#add(AT.cpuSaturatedMs, gapMs);
    if (memoryUsed >= SATURATED_FROM * this.#get(AT.memoryLimit)) this.#add(AT.memorySaturatedMs, gapMs);
  }

  /** What was counted; saturation only for limits that there are. */
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
