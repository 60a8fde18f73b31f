import { type LastStop, NO_STOPS, type StopCounts, type StopReason } from '../domain/reading.ts';
import type { DaemonWords } from '../panel/dialect.ts';

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

/**
 * A start that the daemon gives up passes through `stopping` in an instant; a stop by a person takes as long as the container
 * needs to end.
 */
const FAILED_START_MS = 250;

/** How a server went off, as far as its states show. */
export interface ObservedStop {
  /** Monotonic milliseconds. */
  readonly at: number;
  /** When `stopping` was seen before it on the same uninterrupted socket; undefined if it wasn't. */
  readonly stoppingAt?: number | undefined;
  /** The server was still starting. */
  readonly wasStarting?: boolean;
  /** Whether the stop itself was seen on an uninterrupted socket, or only that the server is off, after a gap or by a poll. */
  readonly seen: 'happening' | 'after a gap' | 'by a poll';
}

/** A stop whose reason is known or no longer awaited. */
export interface DecidedStop extends LastStop, Pick<ObservedStop, 'seen'> {
  /** The daemon said that it won't start the server again. */
  readonly isRestartAborted: boolean;
}

/** A stop that the daemon may still explain. */
interface PendingStop {
  readonly at: number;
  /** The reason if the daemon says nothing. */
  readonly otherwise: StopReason;
  exitCode: number | undefined;
  isKilled: boolean | undefined;
  isRestartAborted: boolean;
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
  /** The daemon said that it won't start the server again, and it hasn't started since. */
  isRestartAborted = false;
  readonly #onDecided: (stop: DecidedStop) => void;
  #pending: PendingStop | undefined;
  #diskFullAt = Number.NEGATIVE_INFINITY;

  constructor(onDecided: (stop: DecidedStop) => void) {
    this.#onDecided = onDecided;
  }

  /** May the daemon still explain the latest stop? */
  get isAwaited(): boolean {
    return this.#pending !== undefined;
  }

  /** The latest instant at which the reason of the latest stop is decided with what is known; undefined if it is decided. */
  get dueAt(): number | undefined {
    const pending = this.#pending;
    if (pending === undefined) return undefined;
    const isExplained = pending.exitCode !== undefined && pending.isKilled !== undefined;
    return isExplained
      ? Math.max(pending.at + LATE_STOPPING_MS, pending.lastWordsAt + LAST_WORD_MS)
      : pending.at + WORDS_MS;
  }

  stopped(stop: ObservedStop): void {
    const { at, stoppingAt = at, seen } = stop;
    this.settle();
    const reason = this.#knownReason(stop);
    if (reason !== undefined) {
      this.#count({ at, seen, reason, isRestartAborted: false });
      return;
    }
    this.#pending = {
      at,
      otherwise: at - stoppingAt > FAILED_START_MS ? 'requested' : 'unknown',
      exitCode: undefined,
      isKilled: undefined,
      isRestartAborted: false,
      lastWordsAt: at,
    };
  }

  /** Records a late `stopping`; true if it belongs to the stop that was already seen. */
  lateStopping(now: number): boolean {
    const pending = this.#pending;
    if (pending === undefined || now - pending.at > LATE_STOPPING_MS) return false;
    this.#pending = undefined;
    this.#count({ at: pending.at, seen: 'happening', reason: 'requested', isRestartAborted: false });
    return true;
  }

  daemonWords(words: DaemonWords, now: number): void {
    if (words.kind === 'disk full') {
      this.#diskFullAt = now;
      return;
    }
    const pending = this.#pending;
    if (pending === undefined || now - pending.at > WORDS_MS) return;
    if (words.kind === 'restart aborted') this.isRestartAborted = true;
    pending.lastWordsAt = now;
    if (words.kind === 'exit code') pending.exitCode ??= words.code;
    if (words.kind === 'out of memory') pending.isKilled ??= words.killed;
    if (words.kind === 'restart aborted') pending.isRestartAborted = true;
  }

  started(): void {
    this.isRestartAborted = false;
  }

  /** Decides the pending stop if it is due. */
  decide(now: number): void {
    const due = this.dueAt;
    if (due !== undefined && now >= due) this.settle();
  }

  /** Decides the pending stop with what is known, because nothing more can arrive about it. */
  settle(): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    const { at, exitCode, isRestartAborted } = pending;
    this.#count({ at, seen: 'happening', reason: reasonOf(pending), exitCode, isRestartAborted });
  }

  /** The reason, if no words of the daemon could change it. */
  #knownReason({ at, stoppingAt, wasStarting, seen }: ObservedStop): StopReason | undefined {
    const wasDiskFull = at - this.#diskFullAt <= DISK_FULL_MS;
    this.#diskFullAt = Number.NEGATIVE_INFINITY;
    if (wasDiskFull) return 'disk_full';
    if (seen !== 'happening') return 'unknown';
    // The daemon can also give up a start by itself, and then it may say why.
    return stoppingAt !== undefined && wasStarting !== true ? 'requested' : undefined;
  }

  #count(stop: DecidedStop): void {
    this.counts = { ...this.counts, [stop.reason]: this.counts[stop.reason] + 1 };
    this.last = stop;
    if (stop.exitCode !== undefined) this.lastExitCode = stop.exitCode;
    this.#onDecided(stop);
  }
}

function reasonOf({ exitCode, isKilled, otherwise }: PendingStop): StopReason {
  if (isKilled === true) return 'out_of_memory';
  if (exitCode === undefined) return otherwise;
  return exitCode === 0 ? 'exited' : 'crashed';
}
