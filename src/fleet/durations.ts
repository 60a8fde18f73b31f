import type { Durations } from '../domain/reading.ts';

/** A longer gap counts as neither observed nor running. */
const MAX_OBSERVED_GAP_MS = 60_000;

/** What a server uses is known from second to second alone. */
const MAX_SATURATED_GAP_MS = 5_000;

/** At this share of a limit, a server has reached it: nodes round, and grant a little more or less. */
const SATURATED_FROM = 0.95;

/** How many numbers one server's stopwatch takes. */
export const STOPWATCH_SIZE = 6;

const OBSERVED = 0;
const RUNNING = 1;
const CPU = 2;
const MEMORY = 3;
const OBSERVED_AT = 4;
const STREAMED_AT = 5;

/** Counts how long one server was observed, ran, and used up its limits; on the monotonic clock. */
export class Stopwatch {
  readonly #numbers: Float64Array;
  readonly #start: number;
  #wasRunning = false;

  /** Takes `STOPWATCH_SIZE` of these numbers for its own, from `start` on. */
  constructor(numbers: Float64Array, start = 0) {
    this.#numbers = numbers;
    this.#start = start;
    numbers.fill(0, start, start + OBSERVED_AT);
    numbers.fill(Number.NaN, start + OBSERVED_AT, start + STOPWATCH_SIZE);
  }

  /** The server was observed, and runs from now on or doesn't. */
  observed(now: number, isRunning: boolean): void {
    const gapMs = now - this.#get(OBSERVED_AT);
    if (gapMs <= MAX_OBSERVED_GAP_MS) {
      this.#add(OBSERVED, gapMs);
      if (this.#wasRunning) this.#add(RUNNING, gapMs);
    }
    this.#set(OBSERVED_AT, now);
    this.#wasRunning = isRunning;
  }

  /** A sample came over the socket. */
  streamed(now: number, cpuUsed: number, cpuLimit: number, memoryUsed: number, memoryLimit: number): void {
    const gapMs = now - this.#get(STREAMED_AT);
    if (gapMs <= MAX_SATURATED_GAP_MS) {
      if (cpuUsed >= SATURATED_FROM * cpuLimit) this.#add(CPU, gapMs);
      if (memoryUsed >= SATURATED_FROM * memoryLimit) this.#add(MEMORY, gapMs);
    }
    this.#set(STREAMED_AT, now);
  }

  /** What was counted; saturation only for limits that there are. */
  read(hasCpuLimit: boolean, hasMemoryLimit: boolean): Durations {
    return {
      observed: this.#get(OBSERVED) / 1_000,
      running: this.#get(RUNNING) / 1_000,
      cpuSaturated: hasCpuLimit ? this.#get(CPU) / 1_000 : undefined,
      memorySaturated: hasMemoryLimit ? this.#get(MEMORY) / 1_000 : undefined,
    };
  }

  #get(offset: number): number {
    return this.#numbers[this.#start + offset] ?? Number.NaN;
  }

  #set(offset: number, value: number): void {
    this.#numbers[this.#start + offset] = value;
  }

  #add(offset: number, ms: number): void {
    this.#set(offset, this.#get(offset) + ms);
  }
}
