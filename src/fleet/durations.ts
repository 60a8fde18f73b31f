import { SATURATED_FROM } from '../domain/troubles.ts';

/** A longer gap between samples isn't counted as observed or running time, and no CPU time is assumed for it. */
const MAX_OBSERVED_GAP_MS = 60_000;

/** The longest gap that counts toward saturation, because usage is only known at one-second resolution. */
const MAX_SATURATED_GAP_MS = 5_000;

/** Counts how long one server was monitored, was running, used the CPU, and was at its limits, on the monotonic clock. */
export class DurationCounter {
  #observedMs = 0;
  #runningMs = 0;
  #cpuSaturatedMs = 0;
  #memorySaturatedMs = 0;
  /** NaN before the first value. */
  #cpuMs = Number.NaN;
  #observedAt = Number.NaN;
  #usedAt = Number.NaN;
  #streamedAt = Number.NaN;
  #cpuSaturatedFrom = Number.NaN;
  #memorySaturatedFrom = Number.NaN;
  #wasRunning = false;

  /** Records that the server was monitored, and whether it is running. */
  observed(now: number, isRunning: boolean): void {
    const gapMs = now - this.#observedAt;
    if (gapMs <= MAX_OBSERVED_GAP_MS) {
      this.#observedMs += gapMs;
      if (this.#wasRunning) this.#runningMs += gapMs;
    }
    this.#observedAt = now;
    this.#wasRunning = isRunning;
  }

  /** Records the CPU usage since the sample before, in cores; NaN if a sample has none. */
  used(now: number, cores: number): void {
    const gapMs = now - this.#usedAt;
    this.#usedAt = now;
    if (Number.isNaN(cores)) return;
    if (Number.isNaN(this.#cpuMs)) this.#cpuMs = 0;
    if (gapMs <= MAX_OBSERVED_GAP_MS) this.#cpuMs += cores * gapMs;
  }

  /** Sets the limits that apply from now on; NaN for a limit that doesn't exist. */
  limit(cpuLimit: number, memoryLimit: number): void {
    this.#cpuSaturatedFrom = SATURATED_FROM * cpuLimit;
    this.#memorySaturatedFrom = SATURATED_FROM * memoryLimit;
  }

  /** Records a sample from the socket, with NaN for a missing value; returns for how long the server was at its CPU limit. */
  streamed(now: number, cpuUsed: number, memoryUsed: number): number {
    const gapMs = now - this.#streamedAt;
    this.#streamedAt = now;
    if (!(gapMs <= MAX_SATURATED_GAP_MS)) return 0;
    if (memoryUsed >= this.#memorySaturatedFrom) this.#memorySaturatedMs += gapMs;
    if (!(cpuUsed >= this.#cpuSaturatedFrom)) return 0;
    this.#cpuSaturatedMs += gapMs;
    return gapMs;
  }

  /** The totals so far, in seconds that only increase; saturation only for limits that exist. */
  read(hasCpuLimit: boolean, hasMemoryLimit: boolean) {
    return {
      observed: this.#observedMs / 1_000,
      running: this.#runningMs / 1_000,
      cpuSaturated: hasCpuLimit ? this.#cpuSaturatedMs / 1_000 : undefined,
      memorySaturated: hasMemoryLimit ? this.#memorySaturatedMs / 1_000 : undefined,
      /** Undefined before the first sample with a CPU usage. */
      cpu: Number.isNaN(this.#cpuMs) ? undefined : this.#cpuMs / 1_000,
    };
  }
}
