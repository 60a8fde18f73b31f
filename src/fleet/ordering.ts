import { isOff, type SampleSource, type ServerState } from '../domain/server.ts';

/** A resources answer may be this old: the panel caches it (field notes, REST). */
export const POLL_CACHE_MS = 20_000;

/** Frames of one socket may overtake each other by moments, not longer. */
const OVERTAKE_MS = 3_000;

/** How far two instants may disagree because frames took different times to come. */
const TRANSIT_MS = 1_000;

/** Two samples of one run may disagree on its start by this much, since they took different times to come. */
export const START_JITTER_MS = 5_000;

/** What tells when a sample was measured; instants on the monotonic clock. */
export interface Observation {
  readonly state: ServerState | undefined;
  readonly uptimeMs: number | undefined;
  readonly source: SampleSource;
  readonly receivedAt: number;
  /** The earliest instant at which the panel can have measured it. */
  readonly measuredFrom: number;
}

/** What a new observation is beside the newest one before it. */
export interface SampleOrder {
  /** It was measured before the other: it must not replace it. */
  readonly older: boolean;
  /** The server was started between the two, as its uptime shows. */
  readonly restarted: boolean;
}

const NEWER: SampleOrder = { older: false, restarted: false };
const OLDER: SampleOrder = { older: true, restarted: false };
const RESTARTED: SampleOrder = { older: false, restarted: true };

/** What else is known when two observations are compared. */
export interface ObservationContext {
  /** When the server was last seen to go off, if it has not been seen on since. */
  readonly offAt?: number | undefined;
  /** Both came on one socket, with nothing withheld between them. */
  readonly isUninterrupted?: boolean;
}

/** Tells which of two observations of a server is newer, as far as their uptimes and the ways they came can tell; pure. */
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

/** The uptime fell, and to no more than what has passed since: nothing but a start explains that. */
function restartedBetween(previous: Observation, next: Observation): boolean {
  const before = previous.uptimeMs;
  const after = next.uptimeMs;
  if (before === undefined || after === undefined || saysOff(next)) return false;
  const elapsed = next.receivedAt - previous.receivedAt;
  // Two frames in a row from one socket: the later one of a pair that swapped would pass for a start.
  const isPair = previous.source === 'socket' && next.source === 'socket' && elapsed <= OVERTAKE_MS;
  return before > 0 && after < before && after <= (isPair ? elapsed : sinceMeasured(previous, next));
}

/**
 * The uptime grew, but the run that it counts began after the previous observation: a restart in a gap that lasted longer than the
 * previous run. A frame that a slow network held back would look the same, which is why this holds only for gaps.
 */
function startMoved(previous: Observation, next: Observation): boolean {
  const before = previous.uptimeMs;
  const after = next.uptimeMs;
  if (before === undefined || after === undefined || saysOff(next)) return false;
  // An uptime that stands still is that of frozen statistics.
  if (before === 0 || after <= before) return false;
  const earliestStart = next.measuredFrom - after;
  return earliestStart >= previous.measuredFrom && earliestStart - startOf(previous) > START_JITTER_MS;
}

/** When the run began that an observation speaks of, at the latest. */
function startOf({ receivedAt, uptimeMs = 0 }: Observation): number {
  return receivedAt - uptimeMs;
}

function isNextOfSameRun(previous: Observation, next: Observation): boolean {
  const before = previous.uptimeMs;
  const after = next.uptimeMs;
  if (before === undefined || after === undefined) return false;
  return after > before && after - before <= sinceMeasured(previous, next);
}

function wasOvertaken(previous: Observation, next: Observation, offAt: number | undefined): boolean {
  if (next.receivedAt - previous.receivedAt > OVERTAKE_MS || saysOff(next)) return false;
  const after = next.uptimeMs;
  if (after === undefined) return false;
  // It speaks of a run that began before the server was seen off.
  if (offAt !== undefined && next.receivedAt - offAt <= OVERTAKE_MS) {
    return after > next.receivedAt - offAt + TRANSIT_MS;
  }
  const before = previous.uptimeMs;
  if (before === undefined || before === 0) return false;
  return after < before || after - before > sinceMeasured(previous, next) + OVERTAKE_MS;
}

/** The longest time that can lie between the measuring of the two, in milliseconds. */
function sinceMeasured(previous: Observation, next: Observation): number {
  return next.receivedAt - previous.measuredFrom + TRANSIT_MS;
}

function saysOff({ state }: Observation): boolean {
  return state !== undefined && isOff(state);
}
