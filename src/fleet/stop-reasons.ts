import type { Cancel, Clock } from '../domain/clock.ts';
import { type Logger, type ServerEvent, subjectOf } from '../domain/log.ts';
import { type LastStop, NO_STOPS, type StopCounts, type StopReason } from '../domain/reading.ts';
import type { DaemonWords } from '../panel/dialect.ts';
import type { ServerRecord, StopListener } from './server-record.ts';

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

/** How a server went off, as far as its states show. */
export interface ObservedStop {
  /** Monotonic milliseconds. */
  readonly at: number;
  /** The number of starts seen before it. */
  readonly run: number;
  /** `stopping` was seen before it on the same uninterrupted socket. */
  readonly wasStopping?: boolean;
  /** Whether the stop itself was seen on an uninterrupted socket, or only that the server is off, after a gap or by a poll. */
  readonly seen: 'happening' | 'after a gap' | 'by a poll';
}

/** A stop whose reason is known or no longer awaited. */
export interface DecidedStop extends LastStop, Pick<ObservedStop, 'seen' | 'run'> {
  /** The daemon reported that it won't start the server again. */
  readonly isRestartAborted: boolean;
}

/** A stop that the daemon may still explain. */
interface PendingStop extends Pick<ObservedStop, 'at' | 'run'> {
  /** What the daemon reported, each kind once. */
  readonly words: Map<DaemonWords['kind'], DaemonWords>;
  lastWordsAt: number;
}

/**
 * Decides why one server stopped, once for each stop: by the daemon's line about a full disk, else by a `stopping` that shows
 * that someone requested it, else by the daemon's words after it.
 */
export class StopReasons {
  counts: StopCounts = NO_STOPS;
  last: DecidedStop | undefined;
  /** The latest exit code that the daemon reported. */
  lastExitCode: number | undefined;
  /** The daemon reported that it won't start the server again, and it hasn't started since. */
  isRestartAborted = false;
  readonly #onDecided: (stop: DecidedStop) => void;
  /** In the order of the stops: a server that is restarted at once can stop again before the words on its first stop came. */
  readonly #pending: PendingStop[] = [];
  #diskFullAt = Number.NEGATIVE_INFINITY;

  constructor(onDecided: (stop: DecidedStop) => void) {
    this.#onDecided = onDecided;
  }

  /** May the daemon still explain a stop? */
  get isAwaited(): boolean {
    return this.#pending.length > 0;
  }

  /** The latest instant at which the reason of the first pending stop is decided with what is known; undefined if there is none. */
  get dueAt(): number | undefined {
    const first = this.#pending[0];
    if (first === undefined) return undefined;
    const { at, words, lastWordsAt } = first;
    const isExplained = words.has('exit code') && words.has('out of memory');
    return isExplained ? Math.max(at + LATE_STOPPING_MS, lastWordsAt + LAST_WORD_MS) : at + WORDS_MS;
  }

  stopped(stop: ObservedStop): void {
    const { at, run, seen } = stop;
    // Words come within moments, so those that come now are about this stop.
    while (this.#firstIsOlderThan(at - LATE_STOPPING_MS)) this.#settleFirst();
    const reason = this.#knownReason(stop);
    if (reason === undefined) this.#pending.push({ at, run, words: new Map(), lastWordsAt: at });
    else this.#count({ at, run, seen, reason, isRestartAborted: false });
  }

  /** Records a `stopping` while the server is off; true if it belongs to the stop that was already seen. */
  lateStopping(now: number): boolean {
    const latest = this.#pending.at(-1);
    if (latest === undefined || now - latest.at > LATE_STOPPING_MS) return false;
    this.#pending.pop();
    const { at, run } = latest;
    this.#count({ at, run, seen: 'happening', reason: 'requested', isRestartAborted: false });
    return true;
  }

  /**
   * Does the daemon report that it gave up restarting the server just after a stop that looked requested? It was then the end of the
   * daemon's own restart.
   */
  isFailedRestart({ kind }: DaemonWords, now: number): boolean {
    return kind === 'restart aborted' && this.last?.reason === 'requested' && now - this.last.at <= WORDS_MS;
  }

  daemonWords(words: DaemonWords, now: number): void {
    const { kind } = words;
    if (kind === 'disk full') {
      this.#diskFullAt = now;
      return;
    }
    if (this.isFailedRestart(words, now)) this.isRestartAborted = true;
    // A daemon prints each of its sentences once for each stop.
    while (this.#pending.length > 1 && this.#pending[0]?.words.has(kind) === true) this.#settleFirst();
    const [stop] = this.#pending;
    if (stop === undefined || now - stop.at > WORDS_MS) return;
    if (kind === 'restart aborted') this.isRestartAborted = true;
    stop.lastWordsAt = now;
    if (!stop.words.has(kind)) stop.words.set(kind, words);
  }

  started(): void {
    this.isRestartAborted = false;
  }

  /** Decides the pending stops that are due. */
  decide(now: number): void {
    for (let due = this.dueAt; due !== undefined && now >= due; due = this.dueAt) this.#settleFirst();
  }

  /** Decides the pending stops with what is known, because nothing more can arrive about them. */
  settle(): void {
    while (this.#pending.length > 0) this.#settleFirst();
  }

  #firstIsOlderThan(instant: number): boolean {
    const [first] = this.#pending;
    return first !== undefined && first.at < instant;
  }

  #settleFirst(): void {
    const stop = this.#pending.shift();
    if (stop === undefined) return;
    const { at, run, words } = stop;
    const code = words.get('exit code');
    this.#count({
      at,
      run,
      seen: 'happening',
      reason: reasonOf(words),
      exitCode: code?.kind === 'exit code' ? code.code : undefined,
      isRestartAborted: words.has('restart aborted'),
    });
  }

  /** The reason, if no words of the daemon could change it. */
  #knownReason({ at, wasStopping, seen }: ObservedStop): StopReason | undefined {
    const wasDiskFull = at - this.#diskFullAt <= DISK_FULL_MS;
    this.#diskFullAt = Number.NEGATIVE_INFINITY;
    if (wasDiskFull) return 'disk_full';
    if (seen !== 'happening') return 'unknown';
    return wasStopping === true ? 'requested' : undefined;
  }

  #count(stop: DecidedStop): void {
    this.counts = { ...this.counts, [stop.reason]: this.counts[stop.reason] + 1 };
    if (this.last === undefined || stop.at >= this.last.at) this.last = stop;
    if (stop.exitCode !== undefined) this.lastExitCode = stop.exitCode;
    this.#onDecided(stop);
  }
}

function reasonOf(words: PendingStop['words']): StopReason {
  const memory = words.get('out of memory');
  if (memory?.kind === 'out of memory' && memory.killed) return 'out_of_memory';
  const exit = words.get('exit code');
  if (exit?.kind !== 'exit code') return 'unknown';
  return exit.code === 0 ? 'exited' : 'crashed';
}

/** Decides the reasons of a fleet's stops on time, and logs those that are problems. */
export class StopDecisions implements StopListener {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting = new Map<ServerRecord, Cancel>();

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  awaited(record: ServerRecord, dueAt: number | undefined): void {
    this.#waiting.get(record)?.();
    this.#waiting.delete(record);
    if (dueAt === undefined) return;
    // Passes `dueAt` instead of the clock's time: Node timers fire up to a millisecond early.
    const decide = () => record.decideStop(dueAt);
    this.#waiting.set(record, this.#clock.schedule(Math.max(0, dueAt - this.#clock.now()), decide));
  }

  decided({ target, node }: ServerRecord, stop: DecidedStop): void {
    const warning = warningOf(target.name, stop);
    if (warning === undefined) return;
    const { event, message } = warning;
    this.#log.warn({ ...subjectOf(target, node), event, exitCode: stop.exitCode }, message);
  }

  /** Decides all open stops with what is known; a stop that the daemon hasn't explained by now has an unknown reason. */
  settle(): void {
    for (const record of this.#waiting.keys()) record.settleStop();
  }
}

interface StopWarning {
  readonly event: ServerEvent;
  readonly message: string;
}

/** What to log about a stop; undefined if it needs no attention. */
function warningOf(name: string, stop: DecidedStop): StopWarning | undefined {
  const { reason, exitCode, isRestartAborted } = stop;
  if (reason === 'disk_full')
    return { event: reason, message: `server ${name} was stopped by its node: disk limit exceeded` };
  const facts = [
    ...(exitCode === undefined ? [] : [`exit code ${exitCode}`]),
    ...(reason === 'out_of_memory' ? ['out of memory'] : []),
  ];
  const why = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const isCrash = reason === 'crashed' || reason === 'out_of_memory';
  // An event of its own: otherwise, a summary would hide it among many crashes.
  if (isRestartAborted) {
    const what = isCrash ? 'crashed' : 'stopped by itself';
    return { event: 'gave_up', message: `server ${name} ${what}${why}; the node gave up restarting it` };
  }
  return isCrash
    ? { event: reason, message: `server ${name} crashed${why}; the node is restarting it` }
    : undefined;
}
