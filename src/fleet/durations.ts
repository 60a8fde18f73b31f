import type { Durations } from '../domain/reading.ts';
import { SATURATED_FROM, SATURATED_WINDOW_SECONDS } from '../domain/troubles.ts';

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
  /** Undefined before it is at the CPU limit for the first time, as most servers never are. */
  #recentlySaturated: RecentTime | undefined;
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

  /** Records a sample from the socket; NaN for a missing value. */
  streamed(now: number, cpuUsed: number, memoryUsed: number): void {
    const gapMs = now - this.#streamedAt;
    this.#streamedAt = now;
    if (!(gapMs <= MAX_SATURATED_GAP_MS)) return;
    if (cpuUsed >= this.#cpuSaturatedFrom) {
      this.#cpuSaturatedMs += gapMs;
      this.#recentlySaturated ??= new RecentTime();
      this.#recentlySaturated.add(gapMs, now);
    }
    if (memoryUsed >= this.#memorySaturatedFrom) this.#memorySaturatedMs += gapMs;
  }

  /** The share of the last ten minutes at the CPU limit. */
  cpuSaturatedShare(now: number): number {
    return (this.#recentlySaturated?.sum(now) ?? 0) / (SATURATED_WINDOW_SECONDS * 1_000);
  }

  /** The totals so far; saturation only for limits that exist. */
  read(hasCpuLimit: boolean, hasMemoryLimit: boolean): Durations {
    return {
      observed: this.#observedMs / 1_000,
      running: this.#runningMs / 1_000,
      cpuSaturated: hasCpuLimit ? this.#cpuSaturatedMs / 1_000 : undefined,
      memorySaturated: hasMemoryLimit ? this.#memorySaturatedMs / 1_000 : undefined,
      cpu: Number.isNaN(this.#cpuMs) ? undefined : this.#cpuMs / 1_000,
    };
  }
}

const STEPS = 20;
const STEP_MS = (SATURATED_WINDOW_SECONDS * 1_000) / STEPS;

/** How much time was added in the last ten minutes, to half a minute. */
class RecentTime {
  /** A ring of milliseconds per step. */
  readonly #steps: number[] = Array.from({ length: STEPS }, () => 0);
  #last = -1;

  add(ms: number, now: number): void {
    this.#advance(now);
    const at = this.#last % STEPS;
    this.#steps[at] = (this.#steps[at] ?? 0) + ms;
  }

  sum(now: number): number {
    this.#advance(now);
    return this.#steps.reduce((sum, ms) => sum + ms, 0);
  }

  /** Forgets the steps that are older than ten minutes. */
  #advance(now: number): void {
    const step = Math.floor(now / STEP_MS);
    for (let next = Math.max(this.#last + 1, step - STEPS + 1); next <= step; next += 1) {
      this.#steps[next % STEPS] = 0;
    }
    this.#last = Math.max(this.#last, step);
  }
}
