import { isOff, type Sample } from '../domain/server.ts';

/** The maximum age of a resources response, because the panel caches it (field notes, REST). */
export const POLL_CACHE_MS = 20_000;

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

/** How a new sample or event relates to the newest one before it. */
export interface SampleOrder {
  /** It was measured before the other and must not replace it. */
  readonly older: boolean;
  /** The server was restarted between the two, as its uptime shows. */
  readonly restarted: boolean;
}

const NEWER: SampleOrder = { older: false, restarted: false };
const OLDER: SampleOrder = { older: true, restarted: false };
const RESTARTED: SampleOrder = { older: false, restarted: true };

/** Other facts that matter when two observations are compared. */
export interface ObservationContext {
  /** When the server was last seen to go off, if it has not been on since. */
  readonly offAt?: number | undefined;
  /** Both arrived on one socket, with nothing withheld between them. */
  readonly isUninterrupted?: boolean;
}

/** Determines which of two observations of a server is newer, as far as their uptimes and sources show; pure. */
export function compareObservations(
  previous: Observation | undefined,
  next: Observation,
  { offAt, isUninterrupted = false }: ObservationContext = {},
): SampleOrder {
  if (previous === undefined) return NEWER;
  if (restartedBetween(previous, next) || (!isUninterrupted && startMoved(previous, next))) return RESTARTED;
  if (next.source === 'poll') {
    return previous.source === 'poll' ||
      next.measuredFrom >= previous.receivedAt ||
      isNextOfSameRun(previous, next)
      ? NEWER
      : OLDER;
  }
  return previous.source === 'socket' && wasOvertaken(previous, next, offAt) ? OLDER : NEWER;
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
