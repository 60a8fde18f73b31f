import { type LastStop, NO_STOPS, type StopReason } from '../domain/reading.ts';
import { isOff, isOn, type Sample, type ServerState } from '../domain/server.ts';
import type { DaemonWords } from '../panel/dialect.ts';
import { START_JITTER_MS, STATUS_SETTLES_MS } from './server-samples.ts';

/** The state in a sample, and the run that its uptime shows. */
interface SampleSeen {
  readonly seen: 'sample';
  readonly at: number;
  readonly state: ServerState;
  readonly source: Sample['source'];
  readonly uptimeMs: number;
  /** The earliest instant at which it can have been measured. */
  readonly measuredFrom: number;
  /** Its uptime is that of another run than the one before. */
  readonly restarted: boolean;
}

/** Something seen of one server's power. Instants are monotonic milliseconds. */
export type Seen =
  | { readonly seen: 'status'; readonly at: number; readonly state: ServerState }
  | SampleSeen
  | { readonly seen: 'words'; readonly at: number; readonly words: DaemonWords }
  /** Events may have been missed until now: the next state is not a transition, and nothing further explains the latest stop. */
  | { readonly seen: 'gap' }
  | { readonly seen: 'time'; readonly at: number };

/** A stop whose reason is known or no longer awaited. */
export interface DecidedStop extends LastStop {
  /** The number of starts seen before it. */
  readonly run: number;
  /** Whether the stop itself was seen on an uninterrupted socket, or only that the server is off, after a gap or by a poll. */
  readonly seen: 'happening' | 'after a gap' | 'by a poll';
  /** The daemon reported that it won't start the server again. */
  readonly isRestartAborted: boolean;
}

/** A stop that the daemon may still explain. */
interface PendingStop extends Pick<DecidedStop, 'at' | 'run'> {
  /** What the daemon reported, each kind once. */
  readonly words: readonly DaemonWords[];
  readonly lastWordsAt: number;
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
  lastStop: undefined as DecidedStop | undefined,
  /** In the order of the stops: a server that is restarted at once can stop again before the words on its first stop came. */
  pending: [] as readonly PendingStop[],
  /** The stops that the latest observations decided, in order. */
  decided: [] as readonly DecidedStop[],
  /** The latest exit code that the daemon reported. */
  lastExitCode: undefined as number | undefined,
  /** The daemon reported that it won't start the server again, and it hasn't started since. */
  isRestartAborted: false,
  diskFullAt: Number.NEGATIVE_INFINITY,
  /** Should the server be running? From when it runs until someone stops it; undefined while unknown. */
  isExpected: undefined as boolean | undefined,
  /** When it exited by itself; the node may restart it. */
  exitedAt: Number.NaN,
};

/** What the observations so far show: a server's state, its starts, its stops by reason, and whether it should be running. */
export type Power = Readonly<typeof NOTHING_SEEN>;

/** Two signs of a start (state and uptime) within this time count as one start. */
const SAME_START_MS = 5_000;

/** Within moments, a node restarts a server that exited by itself, unless it is configured otherwise. */
const RESTART_MS = 60_000;

/**
 * The longest time between the daemon's line about the disk and `offline`: the daemon gives the server a minute to stop, and
 * needs some time itself.
 */
const DISK_FULL_MS = 90_000;

/** A `stopping` this soon after `offline` was overtaken by it: the stop was requested. */
const LATE_STOPPING_MS = 2_000;

/** How long after `offline` the exporter waits for the daemon's words on a stop. */
const WORDS_MS = 10_000;

/** The line about an aborted restart follows the others at once, at most this much later. */
const LAST_WORD_MS = 500;

/** Explains what was seen of a server, in order, after what was seen `before`; pure. */
export function explain(observations: readonly Seen[], before: Power = NOTHING_SEEN): Power {
  return observations.reduce(after, { ...before, decided: NOTHING_SEEN.decided });
}

function after(power: Power, observation: Seen): Power {
  switch (observation.seen) {
    case 'status':
      return afterStatus(power, observation.state, observation.at);
    case 'sample':
      return afterSample(power, observation);
    case 'words':
      return afterWords(power, observation.words, observation.at);
    case 'gap':
      return { ...afterTime(power, Number.POSITIVE_INFINITY), isUnbroken: false };
    case 'time':
      return afterTime(power, observation.at);
  }
}

/** Should the server be running at this instant, judged by what happened? Undefined while unknown. */
export function isExpectedAt({ isExpected, exitedAt }: Power, now: number): boolean | undefined {
  return now - exitedAt > RESTART_MS ? false : isExpected;
}

/** The latest instant at which the reason of the first pending stop is decided with what is known; undefined if there is none. */
export function decisionDueAt({ pending }: Power): number | undefined {
  const [first] = pending;
  if (first === undefined) return undefined;
  const { at, words, lastWordsAt } = first;
  const isExplained = wordsOf(words, 'exit code') && wordsOf(words, 'out of memory');
  return isExplained ? Math.max(at + LATE_STOPPING_MS, lastWordsAt + LAST_WORD_MS) : at + WORDS_MS;
}

/**
 * Does the daemon report that it gave up restarting the server just after a stop that looked requested? It was then the end of the
 * daemon's own restart.
 */
export function isFailedRestart({ lastStop: last }: Power, { kind }: DaemonWords, at: number): boolean {
  return kind === 'restart aborted' && last?.reason === 'requested' && at - last.at <= WORDS_MS;
}

function afterStatus(before: Power, state: ServerState, at: number): Power {
  // Only a server that starts passes through `starting`, so it proves a start even on a new socket.
  const isProof = state === 'starting' && !before.isUnbroken && isOff(before.known) && before.owesStart;
  const power = seenOff(afterSocket(isProof ? started(before, at) : before, state, at), state, at);
  // The `stats` frame may also have been first.
  if (state !== power.known || at - power.since > STATUS_SETTLES_MS) return power;
  const burst = at - power.statusAt <= STATUS_SETTLES_MS ? power.ended : [];
  const ended = [...burst, power.before].filter((one) => one !== state && one !== 'unknown');
  return { ...power, ended, statusAt: at };
}

function afterSample(before: Power, sample: SampleSeen): Power {
  const { state, at } = sample;
  const power = sample.source === 'poll' ? afterPoll(before, state, at) : afterSocket(before, state, at);
  if (isOff(state)) return seenOff(power, state, sample.measuredFrom);
  return power.starts === before.starts ? afterUptime(power, sample) : power;
}

function seenOff(power: Power, state: ServerState, offSeenFrom: number): Power {
  return isOff(state) ? { ...power, offSeenFrom } : power;
}

/** The state in an event or sample of the socket. */
function afterSocket(before: Power, state: ServerState, at: number): Power {
  const { known, isUnbroken, starts } = before;
  const previous = isUnbroken ? known : undefined;
  const latest = before.pending.at(-1);
  if (state === 'stopping' && previous === 'offline' && latest && at - latest.at <= LATE_STOPPING_MS) {
    return decided({ ...before, pending: before.pending.slice(0, -1) }, { ...latest, reason: 'requested' });
  }
  let power = before;
  // Any event can be lost, including `offline`.
  const isNewRun = state === 'starting' && (previous === 'running' || previous === 'stopping');
  if ((isOff(state) && isOn(known)) || isNewRun) {
    const seen = previous === undefined ? 'after a gap' : 'happening';
    power = stopped(power, { at, run: starts, seen }, previous === 'stopping');
  }
  if (previous !== undefined && isStart(previous, state)) power = started(power, at);
  return { ...inState(power, state, at), isUnbroken: isUnbroken || state !== 'unknown' };
}

/** The state in a poll, which sees the server only now and then: it shows that the server started, but not how it stopped. */
function afterPoll(before: Power, state: ServerState, at: number): Power {
  const { known, starts } = before;
  let power = before;
  if (isOff(state) && isOn(known)) power = stopped(power, { at, run: starts, seen: 'by a poll' });
  if (isOff(known) && isStart(known, state)) power = started(power, at);
  return { ...inState(power, state, at), isUnbroken: false };
}

/** Counts a start that no transition showed: the server was off and is on, or its uptime is that of another run. */
function afterUptime(power: Power, sample: SampleSeen): Power {
  const { uptimeMs, at, measuredFrom, restarted } = sample;
  const owesStart = power.owesStart && isOn(power.state);
  // Without an uptime, only the states can show a start.
  if (Number.isNaN(uptimeMs)) return owesStart ? startedUnseen(power, at) : power;
  if (uptimeMs === 0) return power;
  const startedAt = at - uptimeMs;
  const isNew = startedAt > power.startedAt + SAME_START_MS;
  const beganWhileOff = startedAt + START_JITTER_MS + (at - measuredFrom) >= power.offSeenFrom;
  if (isNew && (restarted || (owesStart && beganWhileOff))) return startedUnseen(power, at);
  // It was running when it was seen off.
  return owesStart ? { ...power, owesStart: false } : power;
}

/** The uptime reveals a start that no state reported, and therefore the stop before it, unless that was seen. */
function startedUnseen(power: Power, at: number): Power {
  if (power.owesStart) return started(power, at);
  const stop = stopped(power, { at, run: power.starts, seen: 'after a gap' });
  return started(stop.state === 'running' ? { ...stop, isExpected: true, exitedAt: Number.NaN } : stop, at);
}

function started(power: Power, at: number): Power {
  return { ...power, owesStart: false, startedAt: at, starts: power.starts + 1, isRestartAborted: false };
}

function inState(power: Power, state: ServerState, at: number): Power {
  const next = { ...power, state, owesStart: power.owesStart || isOff(state) };
  if (state === 'unknown' || state === power.known) return next;
  const isOnAgain = state === 'running' || state === 'starting';
  return {
    ...next,
    known: state,
    before: power.known,
    since: at,
    isExpected: state === 'running' ? true : power.isExpected,
    exitedAt: isOnAgain ? Number.NaN : power.exitedAt,
  };
}

function stopped(before: Power, stop: Pick<DecidedStop, 'at' | 'run' | 'seen'>, wasStopping = false): Power {
  const { at, run, seen } = stop;
  let power = before;
  // Words come within moments, so those that come now are about this stop.
  while ((power.pending[0]?.at ?? at) < at - LATE_STOPPING_MS) power = firstDecided(power);
  const wasDiskFull = at - power.diskFullAt <= DISK_FULL_MS;
  power = { ...power, diskFullAt: Number.NEGATIVE_INFINITY };
  if (wasDiskFull) return decided(power, { ...stop, reason: 'disk_full' });
  if (seen !== 'happening') return decided(power, { ...stop, reason: 'unknown' });
  if (wasStopping) return decided(power, { ...stop, reason: 'requested' });
  return { ...power, pending: [...power.pending, { at, run, words: [], lastWordsAt: at }] };
}

function afterWords(before: Power, words: DaemonWords, at: number): Power {
  const { kind } = words;
  if (kind === 'disk full') return { ...before, diskFullAt: at };
  let power = isFailedRestart(before, words, at) ? { ...before, isRestartAborted: true } : before;
  // A daemon prints each of its sentences once for each stop.
  while (power.pending.length > 1 && wordsOf(power.pending[0]?.words, kind)) power = firstDecided(power);
  const [stop, ...others] = power.pending;
  if (stop !== undefined && at - stop.at <= WORDS_MS) {
    const known = wordsOf(stop.words, kind) ? stop.words : [...stop.words, words];
    power = {
      ...power,
      pending: [{ ...stop, words: known, lastWordsAt: at }, ...others],
      isRestartAborted: power.isRestartAborted || kind === 'restart aborted',
    };
  }
  // The node tried to restart the server after a crash: nobody wanted it to stop.
  return isFailedRestart(power, words, at) ? { ...power, isExpected: true } : power;
}

/** Decides the pending stops that are due. */
function afterTime(before: Power, now: number): Power {
  let power = before;
  while ((decisionDueAt(power) ?? Number.NaN) <= now) power = firstDecided(power);
  return power;
}

/** Decides the first pending stop with what is known. */
function firstDecided(power: Power): Power {
  const [stop, ...pending] = power.pending;
  if (stop === undefined) return power;
  const { at, run, words } = stop;
  return decided(
    { ...power, pending },
    {
      at,
      run,
      reason: reasonOf(words),
      exitCode: wordsOf(words, 'exit code')?.code,
      isRestartAborted: wordsOf(words, 'restart aborted') !== undefined,
    },
  );
}

function reasonOf(words: readonly DaemonWords[]): StopReason {
  if (wordsOf(words, 'out of memory')?.killed === true) return 'out_of_memory';
  const exit = wordsOf(words, 'exit code');
  if (exit === undefined) return 'unknown';
  return exit.code === 0 ? 'exited' : 'crashed';
}

/** Counts a stop, and what it says about anyone's intention. */
function decided(
  power: Power,
  {
    at,
    run,
    reason,
    exitCode,
    seen = 'happening',
    isRestartAborted = false,
  }: Pick<DecidedStop, 'at' | 'run' | 'reason'> & Partial<DecidedStop>,
): Power {
  const stop: DecidedStop = { at, run, seen, reason, exitCode, isRestartAborted };
  const { stops, lastStop: last, lastExitCode } = power;
  const next = {
    ...power,
    stops: { ...stops, [reason]: stops[reason] + 1 },
    lastStop: last === undefined || at >= last.at ? stop : last,
    lastExitCode: exitCode ?? lastExitCode,
    decided: [...power.decided, stop],
  };
  // A stop seen only by polls shows nothing about anyone's intention. The same is true if a start has followed it.
  if (seen === 'by a poll' || run !== power.starts) return next;
  if (reason === 'exited') return { ...next, exitedAt: at };
  if (reason === 'requested') return { ...next, isExpected: false };
  return reason === 'unknown' ? { ...next, isExpected: undefined } : next;
}

function wordsOf<Kind extends DaemonWords['kind']>(
  words: readonly DaemonWords[] | undefined,
  kind: Kind,
): Extract<DaemonWords, { kind: Kind }> | undefined {
  return words?.find((one): one is Extract<DaemonWords, { kind: Kind }> => one.kind === kind);
}

function isStart(previous: ServerState, next: ServerState): boolean {
  if (next === 'starting') return previous !== 'unknown' && previous !== next;
  return next === 'running' && isOff(previous);
}
