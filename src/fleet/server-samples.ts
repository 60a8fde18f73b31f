import { SampleNumbers } from '../domain/sample-numbers.ts';
import { finiteLimit, isOff, type Limits, memoryLimitOf } from '../domain/server.ts';
import { DurationCounter } from './durations.ts';
import { MonotonicCounter } from './monotonic-counter.ts';
import { compareObservations, START_JITTER_MS } from './ordering.ts';
import { PeakWindow } from './peaks.ts';
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
