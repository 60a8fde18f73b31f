import {
  finiteLimit,
  isOff,
  isOn,
  type Limits,
  memoryLimitOf,
  Sample,
  type ServerState,
} from '../domain/server.ts';
import { SATURATED_FROM } from '../domain/troubles.ts';
import type { Power } from './power.ts';

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
  readonly newest = new Sample();
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
  /** The server was seen off or starting since the newest sample, so that its counters may restart. */
  #mayReset = false;
  #starts = 0;
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

  /** Records the state that an event shows. */
  hinted(state: ServerState): void {
    if (isOff(state)) this.startedAt = undefined;
    this.#mayReset ||= isOff(state) || state === 'starting';
  }

  /** How a sample relates to the newest one, and to what events have shown since. */
  order(next: Sample, power: Power): SampleOrder {
    const { newest } = this;
    const isUninterrupted = !this.#isInterrupted && next.source === 'socket' && newest.source === 'socket';
    const previous = newest.source === undefined ? undefined : newest;
    const order = compareObservations(previous, next, offAt(power), isUninterrupted);
    return isOutdated(power, next, order === 'restarted') ? 'older' : order;
  }

  /** Takes a sample that isn't older than the newest one, unless it is frozen; `restarted` if it is of another run. */
  accept(next: Sample, restarted: boolean, power: Power): boolean {
    const { source, receivedAt, uptimeMs } = next;
    const isStreamed = source === 'socket';
    const isSettled = power.state === 'running' || power.state === 'stopping' || power.state === 'unknown';
    this.#mayReset ||= !isSettled;
    const hasMoved = uptimeMs !== this.newest.uptimeMs;
    if (hasMoved) this.#uptimeMovedAt = receivedAt;
    this.isFrozen = this.#isStandingStill(next, power);
    if (isStreamed) this.#socketSampleAt = receivedAt;
    if (this.isFrozen) return false;
    this.#isInterrupted &&= !isStreamed;
    this.#show(next, restarted || this.#mayReset || power.starts !== this.#starts);
    this.#mayReset = !isSettled;
    this.#starts = power.starts;
    this.durations.observed(receivedAt, power.state === 'running');
    this.durations.used(receivedAt, next.cpuCores);
    // An unchanged uptime shows nothing about the start.
    if (hasMoved) this.#noteStart(next, restarted, power);
    return true;
  }

  /** Does the node repeat the uptime of a running server, as nodes with dead statistics do? Old daemons send no uptime. */
  #isStandingStill({ source, uptimeMs, receivedAt, measuredFrom }: Sample, power: Power): boolean {
    const isUp = uptimeMs > 0 && !isOff(power.state);
    const wasAskedFor = source === 'poll' || receivedAt - this.#socketSampleAt > ASKED_AFTER_MS;
    return isUp && wasAskedFor && measuredFrom - this.#uptimeMovedAt > FROZEN_AFTER_MS;
  }

  #show(next: Sample, mayReset: boolean): void {
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

  #noteStart(next: Sample, restarted: boolean, power: Power): void {
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

/** Frames of one socket can overtake each other by at most this much. */
const OVERTAKE_MS = 3_000;

/** The most that two instants can disagree because of different transit times. */
const TRANSIT_MS = 1_000;

/** The most that two samples of one run can disagree about its start, because of different transit times. */
export const START_JITTER_MS = 5_000;

/** What determines when a sample was measured. */
export type Observation = Readonly<
  Pick<Sample, 'state' | 'uptimeMs' | 'source' | 'receivedAt' | 'measuredFrom'>
>;

/** How a new sample relates to the newest one before it: measured before it, so that it must not replace it, or of another run. */
export type SampleOrder = 'newer' | 'older' | 'restarted';

/** Determines which of two observations of a server is newer, as far as their uptimes and sources show; pure. */
export function compareObservations(
  previous: Observation | undefined,
  next: Observation,
  /** When the server was last seen to go off, if it has not been on since. */
  offAt?: number,
  /** Both arrived on one socket, with nothing withheld between them. */
  isUninterrupted = false,
): SampleOrder {
  if (previous === undefined) return 'newer';
  if (restartedBetween(previous, next) || (!isUninterrupted && startMoved(previous, next)))
    return 'restarted';
  if (next.source === 'poll') {
    return previous.source === 'poll' ||
      next.measuredFrom >= previous.receivedAt ||
      isNextOfSameRun(previous, next)
      ? 'newer'
      : 'older';
  }
  return previous.source === 'socket' && wasOvertaken(previous, next, offAt) ? 'older' : 'newer';
}

// An unknown uptime is NaN, for which every comparison below is false.

/** The uptime fell to no more than the time passed since: only a restart explains that. */
function restartedBetween(previous: Observation, next: Observation): boolean {
  const before = previous.uptimeMs;
  const after = next.uptimeMs;
  if (!(before > 0 && after < before) || saysOff(next)) return false;
  const elapsed = next.receivedAt - previous.receivedAt;
  // Two consecutive frames of one socket: if they were swapped, the later one would look like a restart.
  const isPair = previous.source === 'socket' && next.source === 'socket' && elapsed <= OVERTAKE_MS;
  return after <= (isPair ? elapsed : sinceMeasured(previous, next));
}

/**
 * The uptime grew, but the run that it counts began after the previous observation: a restart during a gap longer than the
 * previous run. A frame delayed by a slow network looks the same, so this applies only to gaps.
 */
function startMoved(previous: Observation, next: Observation): boolean {
  const before = previous.uptimeMs;
  const after = next.uptimeMs;
  // An uptime that doesn't change means that the statistics are frozen.
  if (!(before > 0 && after > before) || saysOff(next)) return false;
  const earliestStart = next.measuredFrom - after;
  // The latest instant at which the previous run can have begun.
  const previousStart = previous.receivedAt - before;
  return earliestStart >= previous.measuredFrom && earliestStart - previousStart > START_JITTER_MS;
}

function isNextOfSameRun(previous: Observation, next: Observation): boolean {
  const grown = next.uptimeMs - previous.uptimeMs;
  return grown > 0 && grown <= sinceMeasured(previous, next);
}

function wasOvertaken(previous: Observation, next: Observation, offAt: number | undefined): boolean {
  if (next.receivedAt - previous.receivedAt > OVERTAKE_MS || saysOff(next)) return false;
  const before = previous.uptimeMs;
  const after = next.uptimeMs;
  // The run of this sample began before the server was seen off.
  if (offAt !== undefined && next.receivedAt - offAt <= OVERTAKE_MS) {
    return after > next.receivedAt - offAt + TRANSIT_MS;
  }
  if (before === 0) return false;
  return after < before || after - before > sinceMeasured(previous, next) + OVERTAKE_MS;
}

/** The longest possible time between the two measurements, in milliseconds. */
function sinceMeasured(previous: Observation, next: Observation): number {
  return next.receivedAt - previous.measuredFrom + TRANSIT_MS;
}

function saysOff({ state }: Observation): boolean {
  return state !== undefined && isOff(state);
}

/** A `stats` frame published this soon after a `status` may still carry the state before it (field notes, What a daemon says). */
export const STATUS_SETTLES_MS = 2_000;

/** When the server was seen to go off, if it has not been on since. */
export function offAt({ known, since }: Power): number | undefined {
  return isOff(known) ? since : undefined;
}

/** Whether a sample shows anything that isn't known; most don't, and cost nothing more. */
export function isNews(power: Power, { state, source }: Sample, restarted: boolean): boolean {
  const isAsBefore = state === power.state && power.isUnbroken === (source === 'socket');
  return !isAsBefore || restarted || (power.owesStart ? isOn : isOff)(power.state);
}

/** May a sample still show a state that a `status` has ended? */
function isOutdated(
  { ended, statusAt }: Power,
  { state, source, uptimeMs, measuredFrom }: Sample,
  restarted: boolean,
): boolean {
  // A poll can come so late that another run has begun since the status; for a socket, the frame of the next second shows the
  // same.
  const showsNewRun = source === 'poll' && restarted && uptimeMs !== 0;
  if (state === undefined || showsNewRun) return false;
  return ended.includes(state) && measuredFrom - statusAt <= STATUS_SETTLES_MS;
}
