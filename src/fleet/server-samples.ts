// The samples of one server: the newest one, and the counters over all of them.

import { NEVER } from '../domain/clock.ts';
import { finiteLimit, type Limits, resolveMemoryLimit } from '../domain/limits.ts';
import { isOff, type ServerState } from '../domain/power-states.ts';
import { Sample } from '../domain/sample.ts';
import { SATURATED_FROM } from '../domain/thresholds.ts';
import { isOutdated, START_JITTER_MS } from './power.ts';
import type { Power } from './power-model.ts';

/**
 * An uptime that stays the same for longer is frozen. A session requests stats after 15 s of
 * silence, so this is the second response.
 */
const FROZEN_AFTER_MS = 20_000;

/**
 * A sample after this much silence was requested. A node with dead statistics responds, but sends
 * no samples on its own.
 */
const ASKED_AFTER_MS = 10_000;

/**
 * A counter that stays below its highest value for this long was reset, even if nothing else shows
 * a restart.
 */
const MAX_HELD_MS = 60_000;

const COUNTERS = [
  'networkReceiveBytes',
  'networkTransmitBytes',
  'diskReadBytes',
  'diskWrittenBytes',
] as const;

/** A longer gap between samples isn't counted as monitored or running time, nor is CPU time. */
const MAX_OBSERVED_GAP_MS = 60_000;

/** The longest gap that counts toward saturation, which needs usage at one-second resolution. */
const MAX_SATURATED_GAP_MS = 5_000;

/**
 * The state of one server's samples. It is created with the first one, so that starting thousands
 * of servers takes less work.
 */
export class ServerSamples {
  /**
   * The newest accepted sample as exported: its counters never decrease without a restart, and its
   * memory limit survives polls.
   */
  readonly newest = new Sample();
  /** When the server started, the same for all samples of one run; NaN if off or unknown. */
  startedAt = Number.NaN;
  /** Whether the node repeats the newest sample although the server is still running. */
  isFrozen = false;
  /**
   * How long the server was monitored, was running, and was at its limits, on the monotonic clock.
   */
  observedMs = 0;
  runningMs = 0;
  cpuSaturatedMs = 0;
  memorySaturatedMs = 0;
  /** The CPU time; NaN before the first sample with a CPU usage. */
  cpuMs = Number.NaN;
  #observedAt = Number.NaN;
  #wasRunning = false;
  /**
   * When a lower value of a counter was first replaced by the highest one; undefined if none is.
   */
  #heldSince: number | undefined;
  /** Whether events may have been missed since the newest sample. */
  #isInterrupted = false;
  /**
   * Whether the server was seen off or starting since the newest sample, so that its counters may
   * restart.
   */
  #mayReset = false;
  #starts = 0;
  /** When the last sample arrived on the socket, accepted or not. */
  #socketSampleAt = NEVER;
  #uptimeMovedAt = NEVER;

  /** Notes that events may have been missed. */
  interrupted(): void {
    this.#isInterrupted = true;
  }

  /** Notes the state in an event. */
  hinted(state: ServerState): void {
    if (isOff(state)) this.startedAt = Number.NaN;
    this.#mayReset ||= beginsAnew(state);
  }

  /** Notes that the server was monitored, and whether it is running. */
  observed(now: number, isRunning: boolean): void {
    const gapMs = now - this.#observedAt;
    if (gapMs <= MAX_OBSERVED_GAP_MS) {
      this.observedMs += gapMs;
      if (this.#wasRunning) this.runningMs += gapMs;
    }
    this.#observedAt = now;
    this.#wasRunning = isRunning;
  }

  /** Compares a sample with the newest one and with later events. */
  order(next: Sample, power: Power): SampleOrder {
    const { newest } = this;
    const isUninterrupted = !this.#isInterrupted && next.source === 'socket' && newest.source === 'socket';
    const offAt = isOff(power.known) ? power.since : undefined;
    const order = compareObservations(newest, next, offAt, isUninterrupted);
    return isOutdated(power, next, order === 'restarted') ? 'older' : order;
  }

  /**
   * Accepts a sample that isn't older than the newest one, unless it is frozen. `restarted` means
   * that it belongs to a new run.
   */
  accept(next: Sample, restarted: boolean, power: Power, limits: Limits): boolean {
    const { source, receivedAt, uptimeMs } = next;
    const { source: sourceBefore, receivedAt: before, uptimeMs: uptimeBefore } = this.newest;
    const isStreamed = source === 'socket';
    const hasMoved = uptimeMs !== uptimeBefore;
    this.#mayReset ||= beginsAnew(power.state);
    if (hasMoved) this.#uptimeMovedAt = receivedAt;
    this.isFrozen = this.#isStandingStill(next, power);
    if (isStreamed) this.#socketSampleAt = receivedAt;
    if (this.isFrozen) return false;
    this.#isInterrupted &&= !isStreamed;
    this.#show(next, restarted || this.#mayReset || power.starts !== this.#starts);
    this.#mayReset = beginsAnew(power.state);
    this.#starts = power.starts;
    this.observed(receivedAt, power.state === 'running');
    this.#used(receivedAt - before, next.cpuCores);
    if (isStreamed && sourceBefore === 'socket') this.#saturated(receivedAt - before, limits);
    // An unchanged uptime proves nothing about the start.
    if (hasMoved) this.#noteStart(next, restarted, power);
    return true;
  }

  /**
   * Does the node repeat the uptime of a running server, as nodes with dead statistics do? Old
   * daemons send no uptime.
   */
  #isStandingStill({ source, uptimeMs, receivedAt, measuredFrom }: Sample, power: Power): boolean {
    const isUp = uptimeMs > 0 && !isOff(power.state);
    const wasAskedFor = source === 'poll' || receivedAt - this.#socketSampleAt > ASKED_AFTER_MS;
    return isUp && wasAskedFor && measuredFrom - this.#uptimeMovedAt > FROZEN_AFTER_MS;
  }

  /**
   * Counters decrease only if the server may have been restarted. Otherwise, a single late value
   * would look like a reset, and therefore like a terabyte of traffic.
   */
  #show(next: Sample, mayReset: boolean): void {
    const { newest } = this;
    const { receivedAt } = next;
    if (next.hasNoUsage) next.forgetUsage();
    // Polls don't contain the limit, so the value from the socket is kept.
    if (Number.isNaN(next.memoryLimitBytes)) next.memoryLimitBytes = newest.memoryLimitBytes;
    // The counters are listed by name, because a loop costs a lookup for each.
    const isLower =
      next.networkReceiveBytes < newest.networkReceiveBytes ||
      next.networkTransmitBytes < newest.networkTransmitBytes ||
      next.diskReadBytes < newest.diskReadBytes ||
      next.diskWrittenBytes < newest.diskWrittenBytes;
    if (mayReset || !isLower || receivedAt - (this.#heldSince ?? receivedAt) >= MAX_HELD_MS) {
      this.#heldSince = undefined;
    } else {
      this.#heldSince ??= receivedAt;
      for (const name of COUNTERS) if (next[name] < newest[name]) next[name] = newest[name];
    }
    newest.copy(next);
  }

  #used(gapMs: number, cores: number): void {
    if (Number.isNaN(cores)) return;
    if (Number.isNaN(this.cpuMs)) this.cpuMs = 0;
    if (gapMs <= MAX_OBSERVED_GAP_MS) this.cpuMs += cores * gapMs;
  }

  #saturated(gapMs: number, limits: Limits): void {
    if (gapMs > MAX_SATURATED_GAP_MS) return;
    const { cpuCores, memoryBytes, memoryLimitBytes } = this.newest;
    const cpuLimit = finiteLimit(limits.cpuCores) ?? Number.NaN;
    const memoryLimit = resolveMemoryLimit(limits, memoryLimitBytes) ?? Number.NaN;
    if (cpuCores >= SATURATED_FROM * cpuLimit) this.cpuSaturatedMs += gapMs;
    if (memoryBytes >= SATURATED_FROM * memoryLimit) this.memorySaturatedMs += gapMs;
  }

  #noteStart({ uptimeMs, receivedAt, measuredFrom }: Sample, restarted: boolean, power: Power): void {
    const startedAt = receivedAt - uptimeMs;
    const jitter = START_JITTER_MS + (receivedAt - measuredFrom);
    if (isOff(power.state) || !(uptimeMs > 0)) this.startedAt = Number.NaN;
    else if (restarted || !(Math.abs(startedAt - this.startedAt) <= jitter)) this.startedAt = startedAt;
  }
}

/** May the counters of a server in this state restart? */
function beginsAnew(state: ServerState): boolean {
  return isOff(state) || state === 'starting';
}

/** The maximum delay by which a frame can be overtaken by a later one of the same socket. */
const OVERTAKE_MS = 3_000;

/** The maximum difference between two instants because of different transit times. */
const TRANSIT_MS = 1_000;

/** The fields that determine when a sample was measured. */
export type Observation = Readonly<
  Pick<Sample, 'state' | 'uptimeMs' | 'source' | 'receivedAt' | 'measuredFrom'>
>;

/**
 * How a new sample relates to the newest one: measured later, measured earlier so that it must not
 * replace that one, or of a new run.
 */
export type SampleOrder = 'newer' | 'older' | 'restarted';

/**
 * Determines which of two observations is newer from their uptimes and sources; pure. An unknown
 * uptime is NaN, for which every comparison is false.
 */
export function compareObservations(
  previous: Observation,
  next: Observation,
  /** When the server was last seen to go off, unless it was on since. */
  offAt = NEVER,
  /** Whether both arrived on one socket without a loss between them. */
  isUninterrupted = false,
): SampleOrder {
  if (isOfAnotherRun(previous, next, isUninterrupted)) return 'restarted';
  const grownMs = next.uptimeMs - previous.uptimeMs;
  const passedMs = sinceMeasured(previous, next);
  if (next.source === 'poll') {
    const isNextOfSameRun = grownMs > 0 && grownMs <= passedMs;
    const isLater = previous.source !== 'socket' || next.measuredFrom >= previous.receivedAt;
    return isLater || isNextOfSameRun ? 'newer' : 'older';
  }
  const isOvertaking = previous.source === 'socket' && next.receivedAt - previous.receivedAt <= OVERTAKE_MS;
  if (!isOvertaking || saysOff(next)) return 'newer';
  const offForMs = next.receivedAt - offAt;
  // The run of this sample began before the server was seen off.
  if (offForMs <= OVERTAKE_MS) return next.uptimeMs > offForMs + TRANSIT_MS ? 'older' : 'newer';
  const isOfEarlier = previous.uptimeMs !== 0 && (grownMs < 0 || grownMs > passedMs + OVERTAKE_MS);
  return isOfEarlier ? 'older' : 'newer';
}

function isOfAnotherRun(previous: Observation, next: Observation, isUninterrupted: boolean): boolean {
  const { uptimeMs: before, receivedAt } = previous;
  const { uptimeMs: after } = next;
  if (!(before > 0) || saysOff(next)) return false;
  // The uptime is now at most the time that has passed: only a restart explains that.
  if (after < before) {
    const elapsed = next.receivedAt - receivedAt;
    // Of two consecutive frames of one socket in the wrong order, the later one would look like a
    // restart.
    const isPair = previous.source === 'socket' && next.source === 'socket' && elapsed <= OVERTAKE_MS;
    return after <= (isPair ? elapsed : sinceMeasured(previous, next));
  }
  // The uptime grew, but its run began after the previous observation: a restart during a gap
  // longer than the previous run. A frame that a slow network delayed looks the same, so this
  // applies only to gaps. Without growth, the uptime is frozen.
  const startedFrom = next.measuredFrom - after;
  const beganAfter =
    startedFrom >= previous.measuredFrom && startedFrom - (receivedAt - before) > START_JITTER_MS;
  return !isUninterrupted && after > before && beganAfter;
}

/** The maximum time between the two measurements, in milliseconds. */
function sinceMeasured(previous: Observation, next: Observation): number {
  return next.receivedAt - previous.measuredFrom + TRANSIT_MS;
}

function saysOff({ state }: Observation): boolean {
  return state !== undefined && isOff(state);
}
