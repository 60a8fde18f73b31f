// Derives a server's state, starts and stops from observations; pure.

import { isOff, isOn, type ServerState } from '../domain/power-states.ts';
import type { Sample } from '../domain/sample.ts';
import { NOTHING_SEEN, type Observation, type Power, type StateObservation } from './power-model.ts';
import { afterLateStopping, afterNotice, decidedWhile, decisionDueAt, stopped } from './stop-decisions.ts';

/**
 * A `stats` frame that is published this soon after a `status` may still contain the previous
 * state.
 */
const STATUS_SETTLES_MS = 2_000;

/**
 * The maximum difference between the start times that two samples of one run imply, because of
 * different transit times.
 */
export const START_JITTER_MS = 5_000;

/** Two signs of a start (state and uptime) within this time are one start. */
const SAME_START_MS = 5_000;

/**
 * The time within which a node restarts a server that exited by itself, unless it is configured
 * otherwise.
 */
const RESTART_MS = 60_000;

/** The power after these observations, in order, starting from `before`; pure. */
export function powerAfter(observations: readonly Observation[], before: Power = NOTHING_SEEN): Power {
  return observations.reduce(after, { ...before, decided: NOTHING_SEEN.decided });
}

function after(before: Power, observation: Observation): Power {
  if (observation.seen === 'state') return afterState(before, observation);
  if (observation.seen === 'notice') return afterNotice(before, observation.notice, observation.at);
  const now = observation.seen === 'gap' ? Number.POSITIVE_INFINITY : observation.at;
  const next = decidedWhile(before, (power) => (decisionDueAt(power) ?? Number.NaN) <= now);
  return observation.seen === 'gap' ? { ...next, isUnbroken: false } : next;
}

/** Should the server be running at this instant, judging by its events? Undefined while unknown. */
export function isExpectedAt({ isExpected, exitedAt }: Power, now: number): boolean | undefined {
  return now - exitedAt > RESTART_MS ? false : isExpected;
}

function afterState(before: Power, seen: StateObservation): Power {
  const { state, at, source } = seen;
  const power = afterTransition(before, seen);
  if (source === 'status') return afterStatus(power, state, at);
  const next = isOff(state) || power.starts !== before.starts ? power : afterUptime(power, seen);
  return before.isRestored && state !== 'unknown' ? { ...next, isRestored: false } : next;
}

/** Counts the stop and the start between the previous state and this one. */
function afterTransition(before: Power, { state, at, source, measuredFrom = at }: StateObservation): Power {
  const { known } = before;
  // A poll sees the server only occasionally: it proves a start, but not how the server stopped.
  const isPoll = source === 'poll';
  const previous = before.isUnbroken && !isPoll ? known : 'unknown';
  const overtaken =
    state === 'stopping' && previous === 'offline' ? afterLateStopping(before, at) : undefined;
  if (overtaken !== undefined) return overtaken;
  let power = before;
  // Any event can be lost, including `offline`.
  const isNewRun = state === 'starting' && (previous === 'running' || previous === 'stopping');
  if ((isOff(state) && isOn(known)) || isNewRun) {
    // If the server was stopping when the exporter ended, the exporter had seen the request.
    const wasStopping = previous === 'stopping' || (before.isRestored && known === 'stopping');
    const isUnseen = previous === 'unknown';
    const how = isPoll && !wasStopping ? 'by a poll' : isUnseen ? 'after a gap' : 'happening';
    power = stopped(power, at, how, wasStopping);
  }
  // A server passes through `starting` only at a start, so the event proves a start even on a new
  // socket.
  const isProof = isPoll || (source === 'status' && state === 'starting' && before.owesStart);
  const from = isProof && isOff(known) ? known : previous;
  const isBegun = state === 'starting' && from !== 'unknown' && from !== state;
  if (isBegun || (state === 'running' && isOff(from))) power = { ...started(power, at), awaitsUptime: true };
  const next = {
    ...power,
    state,
    owesStart: power.owesStart || isOff(state),
    isUnbroken: !isPoll && (before.isUnbroken || state !== 'unknown'),
    offSeenFrom: isOff(state) ? measuredFrom : power.offSeenFrom,
  };
  if (state === 'unknown' || state === known) return next;
  const entered = { ...next, known: state, before: known, since: at };
  if (state === 'running') return { ...entered, ...AS_EXPECTED };
  return state === 'starting' ? { ...entered, exitedAt: Number.NaN } : entered;
}

/** A running server is expected to run until someone stops it. */
const AS_EXPECTED = { isExpected: true, exitedAt: Number.NaN };

/**
 * Notes which state an event ended. Until an event begins it again, a sample may still contain it.
 */
function afterStatus(power: Power, state: ServerState, at: number): Power {
  // The `stats` frame with this state may have arrived before its event.
  if (state !== power.known || at - power.since > STATUS_SETTLES_MS) return power;
  const ended = new Set([...power.ended, power.before]);
  return { ...power, ended: [...ended].filter((one) => one !== state && one !== 'unknown'), statusAt: at };
}

/**
 * Counts a start that no transition showed: the server was off and is on, or its uptime is that of
 * a new run.
 */
function afterUptime(
  power: Power,
  { uptimeMs = Number.NaN, at, measuredFrom = at, restarted }: StateObservation,
): Power {
  const owesStart = power.owesStart && isOn(power.state);
  // Without an uptime, only the states can prove a start.
  if (Number.isNaN(uptimeMs)) return owesStart ? started(power, at) : power;
  if (uptimeMs === 0) return power;
  const startedAt = at - uptimeMs;
  const isNew = startedAt > power.startedAt + SAME_START_MS;
  if (power.awaitsUptime && !owesStart && startedAt >= power.startedAt - START_JITTER_MS)
    return { ...power, awaitsUptime: false, startedAt };
  const beganWhileOff = startedAt + START_JITTER_MS + (at - measuredFrom) >= power.offSeenFrom;
  // The server was running all the time, although it was reported as off.
  if (!isNew || !(restarted || (owesStart && beganWhileOff)))
    return owesStart ? { ...power, owesStart: false } : power;
  if (power.owesStart) return started(power, at);
  // The uptime reveals a start that no state showed, and therefore also the stop before it.
  const stop = stopped(power, at, 'after a gap');
  return started(stop.state === 'running' ? { ...stop, ...AS_EXPECTED } : stop, at);
}

function started(power: Power, at: number): Power {
  return {
    ...power,
    owesStart: false,
    awaitsUptime: false,
    startedAt: at,
    starts: power.starts + 1,
    isRestartAborted: false,
  };
}

/** Does a sample contain anything new? Most don't, and cost no more than this check. */
export function isNews(power: Power, { state, source }: Sample, restarted: boolean): boolean {
  const isAsBefore = state === power.state && power.isUnbroken === (source === 'socket');
  const isAwaited = power.owesStart || power.awaitsUptime;
  return !isAsBefore || restarted || isAwaited || power.isRestored || isOff(power.state);
}

/** May a sample still contain a state that a `status` event has ended? */
export function isOutdated(
  { ended, statusAt, isUnbroken }: Power,
  { state, source, uptimeMs, measuredFrom }: Sample,
  restarted: boolean,
): boolean {
  // A poll can be so late that a new run has begun since the status. On a socket, the next second's
  // frame shows the same.
  const showsNewRun = source === 'poll' && restarted && uptimeMs !== 0;
  if (state === undefined || showsNewRun) return false;
  if (!ended.includes(state)) return false;
  // Calagopus' daemon adds the state from when it last read the container's statistics, which takes
  // long on a busy node: `running` without an uptime arrived 5.7 s after `stopping`. Therefore, a
  // run that had started by then doesn't start again, and a run that has ended isn't running. After
  // an interruption of the socket, the server may run again, without statistics from its daemon.
  const hasStarted = state === 'starting' && measuredFrom - (uptimeMs || Number.NaN) < statusAt;
  const isFollowed = isUnbroken && source === 'socket';
  const hasEnded = isFollowed && isOn(state) && state !== 'starting' && uptimeMs === 0;
  return hasStarted || hasEnded || measuredFrom - statusAt <= STATUS_SETTLES_MS;
}
