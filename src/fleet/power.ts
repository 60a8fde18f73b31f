// Explains what was seen of a server's power: its state, starts and stops; pure.

import { type LastStop, NO_STOPS, type StopReason } from '../domain/reading.ts';
import { isOff, isOn, type Sample, type SampleSource, type ServerState } from '../domain/server.ts';
import type { DaemonNotice } from '../panel/dialect.ts';

/** A state as a `status` event or a sample shows it. */
interface StateSeen {
  readonly seen: 'state';
  readonly at: number;
  readonly state: ServerState;
  readonly source: SampleSource | 'status';
  /** The earliest instant at which a sample can have been measured. */
  readonly measuredFrom?: number;
  /** The uptime in a sample; NaN if it has none. */
  readonly uptimeMs?: number;
  /** That is the uptime of another run than the one before. */
  readonly restarted?: boolean;
}

/** Something seen of one server's power. Instants are monotonic milliseconds. */
export type Seen =
  | StateSeen
  | { readonly seen: 'notice'; readonly at: number; readonly notice: DaemonNotice }
  /**
   * Events may have been missed until now: the next state is not a transition, and nothing further
   * explains the latest stop.
   */
  | { readonly seen: 'gap' }
  | { readonly seen: 'time'; readonly at: number };

/** A stop, with what is known of its reason. */
export interface Stop extends LastStop {
  /** The number of starts seen before it. */
  readonly run: number;
  /**
   * Whether the stop itself was seen on an uninterrupted socket, or only that the server is off,
   * after a gap or by a poll.
   */
  readonly seen: 'happening' | 'after a gap' | 'by a poll';
  /** The kinds of notices that the daemon printed about it, and when it last did. */
  readonly notices: readonly DaemonNotice['kind'][];
  readonly noticedAt: number;
}

/** Before anything was seen. */
export const NOTHING_SEEN = {
  /** The latest word: `unknown` if it wasn't understood. */
  state: 'unknown' as ServerState,
  /** The latest known state, when it began, and the one before it. */
  known: 'unknown' as ServerState,
  since: Number.NEGATIVE_INFINITY,
  before: 'unknown' as ServerState,
  /** The known state was seen on the current socket, so that the next one is a transition. */
  isUnbroken: false,
  /**
   * All of this is from before a restart of the exporter: no sample has confirmed or changed it
   * yet.
   */
  isRestored: false,
  /** The states that the latest `status` events ended. */
  ended: [] as readonly ServerState[],
  statusAt: Number.NEGATIVE_INFINITY,
  starts: 0,
  startedAt: Number.NEGATIVE_INFINITY,
  /** The earliest instant at which the server was last seen off. */
  offSeenFrom: Number.NEGATIVE_INFINITY,
  /** The server was seen off, and the start that ends this has not been counted yet. */
  owesStart: false,
  stops: NO_STOPS,
  lastStop: undefined as Stop | undefined,
  /**
   * Those that the daemon may still explain, in order: a server that is restarted at once can stop
   * again before its notices came.
   */
  pending: [] as readonly Stop[],
  /** The stops that the latest observations decided, in order. */
  decided: [] as readonly Stop[],
  /** The latest exit code that the daemon reported. */
  lastExitCode: undefined as number | undefined,
  /** The daemon reported that it won't start the server again, and it hasn't started since. */
  isRestartAborted: false,
  diskFullAt: Number.NEGATIVE_INFINITY,
  /**
   * Should the server be running? From when it runs until someone stops it; undefined while
   * unknown.
   */
  isExpected: undefined as boolean | undefined,
  /** When it exited by itself; the node may restart it. */
  exitedAt: Number.NaN,
};

/**
 * What the observations so far show: a server's state, its starts, its stops by reason, and whether
 * it should be running.
 */
export type Power = Readonly<typeof NOTHING_SEEN>;

/**
 * A `stats` frame published this soon after a `status` may still carry the state before it (field
 * notes, What a daemon says).
 */
const STATUS_SETTLES_MS = 2_000;

/**
 * The most that two samples of one run can disagree about its start, because of different transit
 * times.
 */
export const START_JITTER_MS = 5_000;

/** Two signs of a start (state and uptime) within this time count as one start. */
const SAME_START_MS = 5_000;

/**
 * Within moments, a node restarts a server that exited by itself, unless it is configured
 * otherwise.
 */
const RESTART_MS = 60_000;

/**
 * The longest time between the daemon's line about the disk and `offline`: the daemon gives the
 * server a minute to stop, and needs some time itself.
 */
const DISK_FULL_MS = 90_000;

/** A `stopping` this soon after `offline` was overtaken by it: the stop was requested. */
const LATE_STOPPING_MS = 2_000;

/**
 * How many stops wait for an explanation at most, because each state looks at them, and a node may
 * send any number of states.
 */
const MAX_PENDING = 3;

/** How long after `offline` the exporter waits for the daemon's notices about a stop. */
const WORDS_MS = 10_000;

/** The line about an aborted restart follows the others at once, at most this much later. */
const LAST_WORD_MS = 500;

/** Explains what was seen of a server, in order, after what was seen `before`; pure. */
export function explain(observations: readonly Seen[], before: Power = NOTHING_SEEN): Power {
  return observations.reduce(after, { ...before, decided: NOTHING_SEEN.decided });
}

function after(before: Power, observation: Seen): Power {
  if (observation.seen === 'state') return afterState(before, observation);
  if (observation.seen === 'notice') return afterNotice(before, observation.notice, observation.at);
  const now = observation.seen === 'gap' ? Number.POSITIVE_INFINITY : observation.at;
  const next = decidedWhile(before, (power) => (decisionDueAt(power) ?? Number.NaN) <= now);
  return observation.seen === 'gap' ? { ...next, isUnbroken: false } : next;
}

/**
 * Should the server be running at this instant, judged by what happened? Undefined while unknown.
 */
export function isExpectedAt({ isExpected, exitedAt }: Power, now: number): boolean | undefined {
  return now - exitedAt > RESTART_MS ? false : isExpected;
}

/**
 * The latest instant at which the reason of the first pending stop is decided with what is known;
 * undefined if there is none.
 */
export function decisionDueAt({ pending: [first] }: Power): number | undefined {
  if (first === undefined) return undefined;
  const { at, notices, noticedAt } = first;
  const isExplained =
    (notices.includes('exit code') && notices.includes('out of memory')) ||
    notices.includes('restart disabled');
  return isExplained ? Math.max(at + LATE_STOPPING_MS, noticedAt + LAST_WORD_MS) : at + WORDS_MS;
}

function afterState(before: Power, seen: StateSeen): Power {
  const { state, at, source } = seen;
  const power = afterTransition(before, seen);
  if (source === 'status') return afterStatus(power, state, at);
  const next = isOff(state) || power.starts !== before.starts ? power : afterUptime(power, seen);
  return before.isRestored && state !== 'unknown' ? { ...next, isRestored: false } : next;
}

/** Counts the stop and the start that lie between the state before and this one. */
function afterTransition(before: Power, { state, at, source, measuredFrom = at }: StateSeen): Power {
  const { known, pending } = before;
  // A poll sees the server only now and then: it shows that it started, but not how it stopped.
  const isPoll = source === 'poll';
  const previous = before.isUnbroken && !isPoll ? known : 'unknown';
  const latest = pending.at(-1);
  if (state === 'stopping' && previous === 'offline' && latest && at - latest.at <= LATE_STOPPING_MS) {
    return decided(
      { ...before, pending: pending.slice(0, -1) },
      { ...latest, ...UNEXPLAINED, reason: 'requested' },
    );
  }
  let power = before;
  // Any event can be lost, including `offline`.
  const isNewRun = state === 'starting' && (previous === 'running' || previous === 'stopping');
  if ((isOff(state) && isOn(known)) || isNewRun) {
    // Of a stop that was under way when the exporter ended, it saw the request.
    const wasStopping = previous === 'stopping' || (before.isRestored && known === 'stopping');
    const isUnseen = previous === 'unknown';
    const how = isPoll && !wasStopping ? 'by a poll' : isUnseen ? 'after a gap' : 'happening';
    power = stopped(power, at, how, wasStopping);
  }
  // Only a server that starts passes through `starting`, so that event proves a start even on a new
  // socket.
  const isProof = isPoll || (source === 'status' && state === 'starting' && before.owesStart);
  const from = isProof && isOff(known) ? known : previous;
  const isBegun = state === 'starting' && from !== 'unknown' && from !== state;
  if (isBegun || (state === 'running' && isOff(from))) power = started(power, at);
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

/** A server that runs should run until someone stops it. */
const AS_EXPECTED = { isExpected: true, exitedAt: Number.NaN };

/** Remembers which states an event ended: a sample may still show them. */
function afterStatus(power: Power, state: ServerState, at: number): Power {
  // The `stats` frame may also have been first.
  if (state !== power.known || at - power.since > STATUS_SETTLES_MS) return power;
  const burst = at - power.statusAt <= STATUS_SETTLES_MS ? power.ended : [];
  const ended = [...burst, power.before].filter((one) => one !== state && one !== 'unknown');
  return { ...power, ended, statusAt: at };
}

/**
 * Counts a start that no transition showed: the server was off and is on, or its uptime is that of
 * another run.
 */
function afterUptime(
  power: Power,
  { uptimeMs = Number.NaN, at, measuredFrom = at, restarted }: StateSeen,
): Power {
  const owesStart = power.owesStart && isOn(power.state);
  // Without an uptime, only the states can show a start.
  if (Number.isNaN(uptimeMs)) return owesStart ? started(power, at) : power;
  if (uptimeMs === 0) return power;
  const startedAt = at - uptimeMs;
  const isNew = startedAt > power.startedAt + SAME_START_MS;
  const beganWhileOff = startedAt + START_JITTER_MS + (at - measuredFrom) >= power.offSeenFrom;
  // It was running when it was seen off.
  if (!isNew || !(restarted || (owesStart && beganWhileOff)))
    return owesStart ? { ...power, owesStart: false } : power;
  if (power.owesStart) return started(power, at);
  // The uptime reveals a start that no state reported, and therefore the stop before it.
  const stop = stopped(power, at, 'after a gap');
  return started(stop.state === 'running' ? { ...stop, ...AS_EXPECTED } : stop, at);
}

function started(power: Power, at: number): Power {
  return { ...power, owesStart: false, startedAt: at, starts: power.starts + 1, isRestartAborted: false };
}

const UNEXPLAINED = { reason: 'unknown' as StopReason, exitCode: undefined, notices: [] };

function stopped(before: Power, at: number, seen: Stop['seen'], wasStopping = false): Power {
  // Daemon messages arrive within seconds, so later ones belong to this stop.
  const undecided = decidedWhile(before, ({ pending: [first] }) => (first?.at ?? at) < at - LATE_STOPPING_MS);
  const whileDown = before.isRestored || undefined;
  const stop = { ...UNEXPLAINED, at, run: before.starts, seen, noticedAt: at, whileDown };
  const wasDiskFull = at - before.diskFullAt <= DISK_FULL_MS;
  const power = { ...undecided, diskFullAt: Number.NEGATIVE_INFINITY };
  if (wasDiskFull) return decided(power, { ...stop, reason: 'disk_full' });
  if (wasStopping) return decided(power, { ...stop, reason: 'requested' });
  if (seen !== 'happening') return decided(power, stop);
  return decidedWhile(
    { ...power, pending: [...power.pending, stop] },
    ({ pending }) => pending.length > MAX_PENDING,
  );
}

function afterNotice(before: Power, notice: DaemonNotice, at: number): Power {
  const { kind } = notice;
  if (kind === 'disk full') return { ...before, diskFullAt: at };
  // A daemon prints each of its sentences once for each stop.
  let power = decidedWhile(
    before,
    ({ pending: [first, second] }) => second !== undefined && first?.notices.includes(kind) === true,
  );
  const [stop, ...others] = power.pending;
  const isExplained = stop !== undefined && at - stop.at <= WORDS_MS;
  if (isExplained) power = { ...power, pending: [explained(stop, notice, at), ...others] };
  // Without crash detection, the daemon prints no exit code, but as with one that gives up, nothing
  // restarts the server.
  if (kind === 'restart disabled')
    return { ...power, isRestartAborted: power.isRestartAborted || isExplained };
  if (kind !== 'restart aborted') return power;
  // Just after a stop that looked requested, it was the end of the daemon's own restart after a
  // crash: nobody wanted it to stop.
  const last = power.lastStop;
  const isFailedRestart = last?.reason === 'requested' && at - last.at <= WORDS_MS;
  if (isFailedRestart) power = { ...power, isExpected: true };
  return { ...power, isRestartAborted: power.isRestartAborted || isExplained || isFailedRestart };
}

function explained(stop: Stop, notice: DaemonNotice, noticedAt: number): Stop {
  const { kind } = notice;
  if (stop.notices.includes(kind)) return { ...stop, noticedAt };
  const next = { ...stop, noticedAt, notices: [...stop.notices, kind] };
  if (kind === 'out of memory') return notice.killed ? { ...next, reason: 'out_of_memory' } : next;
  if (kind !== 'exit code') return next;
  const reason = notice.code === 0 ? 'exited' : 'crashed';
  return { ...next, exitCode: notice.code, reason: stop.reason === 'unknown' ? reason : stop.reason };
}

/** Decides pending stops with what is known, in order, as long as the first is to be decided. */
function decidedWhile(power: Power, isDecided: (power: Power) => boolean): Power {
  const [stop, ...pending] = power.pending;
  if (stop === undefined || !isDecided(power)) return power;
  return decidedWhile(decided({ ...power, pending }, stop), isDecided);
}

/** Counts a stop, and what it says about anyone's intention. */
function decided(power: Power, stop: Stop): Power {
  const { reason, at, run } = stop;
  const { stops, lastStop: last } = power;
  const next = {
    ...power,
    stops: { ...stops, [reason]: stops[reason] + 1 },
    lastStop: last === undefined || at >= last.at ? stop : last,
    lastExitCode: stop.exitCode ?? power.lastExitCode,
    decided: [...power.decided, stop],
  };
  // A stop seen only by polls shows nothing about anyone's intention. The same is true if a start
  // has followed it.
  if (stop.seen === 'by a poll' || run !== power.starts) return next;
  if (reason === 'exited') return { ...next, exitedAt: at };
  if (reason === 'requested') return { ...next, isExpected: false };
  return reason === 'unknown' ? { ...next, isExpected: undefined } : next;
}

/** Whether a sample shows anything that isn't known; most don't, and cost nothing more. */
export function isNews(power: Power, { state, source }: Sample, restarted: boolean): boolean {
  const isAsBefore = state === power.state && power.isUnbroken === (source === 'socket');
  return !isAsBefore || restarted || power.owesStart || power.isRestored || isOff(power.state);
}

/** May a sample still show a state that a `status` has ended? */
export function isOutdated(
  { ended, statusAt }: Power,
  { state, source, uptimeMs, measuredFrom }: Sample,
  restarted: boolean,
): boolean {
  // A poll can come so late that another run has begun since the status; for a socket, the frame of
  // the next second shows the same.
  const showsNewRun = source === 'poll' && restarted && uptimeMs !== 0;
  if (state === undefined || showsNewRun) return false;
  return ended.includes(state) && measuredFrom - statusAt <= STATUS_SETTLES_MS;
}
