import type { Durations } from '../domain/reading.ts';

/** A longer gap counts as neither observed nor running. */
const MAX_OBSERVED_GAP_MS = 60_000;

/** What a server uses is known from second to second alone. */
const MAX_SATURATED_GAP_MS = 5_000;

/** At this share of a limit, a server has reached it: nodes round, and grant a little more or less. */
const SATURATED_FROM = 0.95;

/** Counts how long one server was observed, ran, and used up its limits; on the monotonic clock. */
export class Stopwatch {
  #observedMs = 0;
  #runningMs = 0;
  #cpuSaturatedMs = 0;
  #memorySaturatedMs = 0;
  #observedAt = Number.NaN;
  #streamedAt = Number.NaN;
  #wasRunning = false;

  /** The server was observed, and runs from now on or doesn't. */
  observed(now: number, isRunning: boolean): void {
    const gapMs = now - this.#observedAt;
    if (gapMs <= MAX_OBSERVED_GAP_MS) {
      this.#observedMs += gapMs;
      if (this.#wasRunning) this.#runningMs += gapMs;
    }
    this.#observedAt = now;
    this.#wasRunning = isRunning;
  }

  /** A sample came over the socket; NaN stands for a value or a limit that there isn't. */
  streamed(now: number, cpuUsed: number, cpuLimit: number, memoryUsed: number, memoryLimit: number): void {
    const gapMs = now - this.#streamedAt;
    this.#streamedAt = now;
    if (!(gapMs <= MAX_SATURATED_GAP_MS)) return;
    if (cpuUsed >= SATURATED_FROM * cpuLimit) this.#cpuSaturatedMs += gapMs;
    if (memoryUsed >= SATURATED_FROM * memoryLimit) this.#memorySaturatedMs += gapMs;
  }

  /** What was counted; saturation only for limits that there are. */
  read(hasCpuLimit: boolean, hasMemoryLimit: boolean): Durations {
    return {
      observed: this.#observedMs / 1_000,
      running: this.#runningMs / 1_000,
      cpuSaturated: hasCpuLimit ? this.#cpuSaturatedMs / 1_000 : undefined,
      memorySaturated: hasMemoryLimit ? this.#memorySaturatedMs / 1_000 : undefined,
    };
  }
}
