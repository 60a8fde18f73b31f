import type { Peaks } from '../domain/reading.ts';
import { SampleNumbers } from '../domain/sample-numbers.ts';
import { finiteLimit, isOff, type Limits, memoryLimitOf } from '../domain/server.ts';
import { DurationCounter } from './durations.ts';
import { NumberPool } from './number-pool.ts';
import { compareObservations, START_JITTER_MS } from './ordering.ts';
import type { PowerHistory } from './power-history.ts';

/**
 * An uptime that stays the same for longer is frozen: a session requests stats after 15 s of silence, so this is the
 * second response.
 */
const FROZEN_AFTER_MS = 20_000;

/**
 * A sample after such a silence was requested: nodes whose statistics died still respond, but no longer send samples on their own.
 */
const ASKED_AFTER_MS = 10_000;

/** What is kept of one server's samples; created with the first, so that starting thousands of servers takes less work. */
export class ServerSamples {
  /** The newest accepted sample as exported: counters never decrease without a restart, and the memory limit survives polls. */
  readonly newest = new SampleNumbers();
  readonly peaks = new PeakWindow();
  readonly durations = new DurationCounter();
  /** When the server started; stable between samples of one run; undefined if off or unknown. */
  startedAt: number | undefined;
  /** The node repeats the newest sample although the server continues to run. */
  isFrozen = false;
  #limits: Limits;
  readonly #received = new MonotonicCounter();
  readonly #transmitted = new MonotonicCounter();
  readonly #diskRead = new MonotonicCounter();
  readonly #diskWritten = new MonotonicCounter();
  /** Events may have been missed since the newest sample. */
  #isInterrupted = false;
  /** When the last sample arrived over the socket, whether or not it was accepted. */
  #socketSampleAt = Number.NEGATIVE_INFINITY;
  #uptimeMovedAt = Number.NEGATIVE_INFINITY;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#noteLimits();
  }

  /** Replaces the limits of the configuration or server list. */
  limit(limits: Limits): void {
    this.#limits = limits;
    this.#noteLimits();
  }

  /** Events may have been missed until now. */
  interrupted(): void {
    this.#isInterrupted = true;
  }

  /** Takes a sample, unless it is older than the newest one, shows a state that has ended, or is frozen; also tells the power history. */
  accept(next: SampleNumbers, power: PowerHistory): boolean {
    const { newest } = this;
    const { source, receivedAt, uptimeMs } = next;
    const previous = newest.source === undefined ? undefined : newest;
    const isStreamed = source === 'socket';
    const { older, restarted } = compareObservations(previous, next, {
      offAt: power.offAt,
      isUninterrupted: !this.#isInterrupted && isStreamed && previous?.source === 'socket',
    });
    if (older || power.isOutdated(next, restarted)) return false;
    power.sampled(next, restarted);
    const hasMoved = uptimeMs !== newest.uptimeMs;
    if (hasMoved) this.#uptimeMovedAt = receivedAt;
    this.isFrozen = this.#isStandingStill(next, power);
    if (isStreamed) this.#socketSampleAt = receivedAt;
    if (this.isFrozen) return false;
    this.#isInterrupted &&= !isStreamed;
    const mayReset = power.takeStartSeen() || restarted;
    if (isStreamed) this.peaks.add(receivedAt, next.cpuCores, next.memoryBytes);
    this.#show(next, mayReset);
    this.durations.observed(receivedAt, power.state === 'running');
    this.durations.used(receivedAt, next.cpuCores);
    if (isStreamed) this.durations.streamed(receivedAt, next.cpuCores, next.memoryBytes);
    // An unchanged uptime shows nothing about the start.
    if (hasMoved) this.#noteStart(next, restarted, power);
    return true;
  }

  /** Does the node repeat the uptime of a running server, as nodes with dead statistics do? Old daemons send no uptime. */
  #isStandingStill(
    { source, uptimeMs, receivedAt, measuredFrom }: SampleNumbers,
    power: PowerHistory,
  ): boolean {
    const isUp = uptimeMs > 0 && !isOff(power.state);
    const wasAskedFor = source === 'poll' || receivedAt - this.#socketSampleAt > ASKED_AFTER_MS;
    return isUp && wasAskedFor && measuredFrom - this.#uptimeMovedAt > FROZEN_AFTER_MS;
  }

  #show(next: SampleNumbers, mayReset: boolean): void {
    const { newest } = this;
    const { receivedAt } = next;
    const { memoryLimitBytes } = newest;
    newest.copy(next);
    // A resources response doesn't contain the limit, so the value from the socket is kept.
    if (Number.isNaN(next.memoryLimitBytes)) newest.memoryLimitBytes = memoryLimitBytes;
    else if (next.memoryLimitBytes !== memoryLimitBytes) this.#noteLimits();
    newest.networkReceiveBytes = this.#received.next(next.networkReceiveBytes, mayReset, receivedAt);
    newest.networkTransmitBytes = this.#transmitted.next(next.networkTransmitBytes, mayReset, receivedAt);
    newest.diskReadBytes = this.#diskRead.next(next.diskReadBytes, mayReset, receivedAt);
    newest.diskWrittenBytes = this.#diskWritten.next(next.diskWrittenBytes, mayReset, receivedAt);
  }

  #noteLimits(): void {
    const cpuLimit = finiteLimit(this.#limits.cpuCores) ?? Number.NaN;
    const memoryLimit = finiteLimit(memoryLimitOf(this.#limits, this.newest.memoryLimitBytes)) ?? Number.NaN;
    this.durations.limit(cpuLimit, memoryLimit);
  }

  #noteStart(next: SampleNumbers, restarted: boolean, power: PowerHistory): void {
    const { uptimeMs, receivedAt, measuredFrom } = next;
    if (isOff(power.state) || !(uptimeMs > 0)) {
      this.startedAt = undefined;
      return;
    }
    const startedAt = receivedAt - uptimeMs;
    const jitter = START_JITTER_MS + (receivedAt - measuredFrom);
    if (!restarted && this.startedAt !== undefined && Math.abs(startedAt - this.startedAt) <= jitter) return;
    this.startedAt = startedAt;
  }
}

/** A counter that stays below its highest value for this long was reset, whatever else is known. */
const MAX_HELD_MS = 60_000;

/**
 * Keeps one of a server's counters monotonic: it decreases only if the server was restarted. Otherwise a single late value would
 * look like a reset, and so like a terabyte of traffic.
 */
export class MonotonicCounter {
  /** NaN before the first value. */
  #highest = Number.NaN;
  /** Since when the highest value has been shown instead of a lower one; undefined if it isn't. */
  #heldSince: number | undefined;

  /** The value to show for a received one; `mayReset` if the server was restarted since the last. NaN if none was received. */
  next(value: number, mayReset: boolean, now: number): number {
    if (Number.isNaN(value)) return value;
    const isHeld = value < this.#highest && !mayReset && now - (this.#heldSince ?? now) < MAX_HELD_MS;
    if (!isHeld) {
      this.#highest = value;
      this.#heldSince = undefined;
    } else this.#heldSince ??= now;
    return this.#highest;
  }
}

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
