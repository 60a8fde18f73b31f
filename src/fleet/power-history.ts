import type { StopReason } from '../domain/reading.ts';
import { isOff, SERVER_STATES, type ServerState } from '../domain/server.ts';
import type { DaemonWords } from '../panel/dialect.ts';
import { type Observation, START_JITTER_MS } from './ordering.ts';
import { type DecidedStop, StopReasons } from './stop-reasons.ts';

/** Within moments, a node restarts a server that exited by itself, unless it is configured otherwise. */
const RESTART_MS = 60_000;

/**
 * Whether one server should be running, judged by what happened: from when it runs until someone stops it, or until it exits
 * by itself and the node doesn't restart it.
 */
export class Expectation {
  #isExpected: boolean | undefined;
  #exitedAt = Number.NaN;

  seenRunning(): void {
    this.#isExpected = true;
    this.#exitedAt = Number.NaN;
  }

  seenStarting(): void {
    this.#exitedAt = Number.NaN;
  }

  /** The node tried to restart the server after a crash: nobody wanted it to stop. */
  seenRestartFail(): void {
    this.#isExpected = true;
  }

  stopped(reason: StopReason, at: number): void {
    switch (reason) {
      case 'requested':
        this.#isExpected = false;
        break;
      case 'exited':
        this.#exitedAt = at;
        break;
      case 'unknown':
        this.#isExpected = undefined;
        break;
      case 'crashed':
      case 'out_of_memory':
      case 'disk_full':
        break;
    }
  }

  /** Undefined while unknown. */
  read(now: number): boolean | undefined {
    return now - this.#exitedAt > RESTART_MS ? false : this.#isExpected;
  }
}

/** A `stats` frame published this soon after a `status` may still carry the state before it (field notes, What a daemon says). */
const STATUS_SETTLES_MS = 2_000;

/** Two signs of a start (state and uptime) within this time count as one start. */
const SAME_START_MS = 5_000;

/** Is called once for each stop, when its reason is decided. */
export interface PowerListener {
  stopped(stop: DecidedStop): void;
}

/** For servers that were never seen to stop. */
const NEVER_STOPPED = new StopReasons(() => undefined);

/** Tracks one server's state: counts its starts and its stops by reason, and determines whether it should be running. */
export class PowerHistory {
  #state: ServerState = 'unknown';
  /** The latest known state; an unknown word doesn't end it. */
  #known: ServerState = 'unknown';
  /** The one before it, and when it ended. */
  #before: ServerState = 'unknown';
  #changedAt = Number.NEGATIVE_INFINITY;
  /** The last known state seen on this socket; the first state on a socket is not a transition. */
  #onThisSocket: ServerState | undefined;
  /** The server was seen off, and the start that ends this has not been counted yet. */
  #awaitsStart = false;
  #starts = 0;
  #lastStartAt = Number.NEGATIVE_INFINITY;
  /** Undefined before the first stop, because most servers run for weeks. */
  #stops: StopReasons | undefined;
  readonly #listener: PowerListener;
  readonly #expectation = new Expectation();
  #offAt: number | undefined;
  #lastSeenOffAt = Number.NEGATIVE_INFINITY;
  #startSeen = false;
  #statusAt = Number.NEGATIVE_INFINITY;
  /** The states that the latest `status` events ended, one bit each. */
  #endedStates = 0;

  constructor(listener: PowerListener) {
    this.#listener = listener;
  }

  /** The stops so far, for reading. */
  get stops(): StopReasons {
    return this.#stops ?? NEVER_STOPPED;
  }

  daemonWords(words: DaemonWords, now: number): void {
    const stops = this.#ownStops();
    stops.daemonWords(words, now);
    if (stops.isFailedRestart(words, now)) this.#expectation.seenRestartFail();
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Since when the server has been seen in its state (monotonic milliseconds); undefined while that is unknown. */
  get stateSince(): number | undefined {
    return this.#state === 'unknown' ? undefined : this.#changedAt;
  }

  /** Is the server expected to be running, judged by what happened? Undefined while unknown. */
  isExpected(now: number): boolean | undefined {
    return this.#expectation.read(now);
  }

  get starts(): number {
    return this.#starts;
  }

  /** When the server was seen to go off, if it has not been on since (monotonic milliseconds). */
  get offAt(): number | undefined {
    return this.#offAt;
  }

  /** Has the server been off or starting since the last call? If so, its counters may restart. */
  takeStartSeen(): boolean {
    const seen = this.#startSeen;
    this.#startSeen = this.#state === 'starting' || isOff(this.#state);
    return seen;
  }

  /** Events may have been missed until now: the next state is not a transition, and nothing further explains the latest stop. */
  interrupted(): void {
    this.#onThisSocket = undefined;
    this.#stops?.settle();
  }

  /** Records a `status` event: a `stats` frame of the same instant doesn't bring back the state that it ended. */
  seenByStatus(next: ServerState, now: number): void {
    // Only a server that starts passes through `starting`, so it proves a start even on a new socket.
    if (next === 'starting' && this.#onThisSocket === undefined && isOff(this.#known) && this.#awaitsStart) {
      this.#countStart(now);
    }
    this.#seenOnSocket(next, now);
    // The `stats` frame may also have been first.
    if (next !== this.#known || now - this.#changedAt > STATUS_SETTLES_MS) return;
    const isBurst = now - this.#statusAt <= STATUS_SETTLES_MS;
    this.#endedStates = ((isBurst ? this.#endedStates : 0) | bitOf(this.#before)) & ~bitOf(next);
    this.#statusAt = now;
  }

  /** May a sample still show a state that a `status` has ended? */
  isOutdated({ state, source, uptimeMs, measuredFrom }: Observation, restarted: boolean): boolean {
    // A poll can come so late that another run has begun since the status; for a socket, the frame of the next second shows the
    // same.
    const showsNewRun = source === 'poll' && restarted && uptimeMs !== 0;
    if (state === undefined || showsNewRun) return false;
    return (this.#endedStates & bitOf(state)) !== 0 && measuredFrom - this.#statusAt <= STATUS_SETTLES_MS;
  }

  /** Records the state in a sample; `restarted` if its uptime is that of another run. */
  sampled(next: Observation, restarted: boolean): void {
    const { state, receivedAt, measuredFrom } = next;
    if (state === undefined) return;
    const starts = this.#starts;
    if (next.source === 'poll') this.#seenByPoll(state, receivedAt, measuredFrom);
    else this.#seenOnSocket(state, receivedAt);
    if (this.#starts === starts && !isOff(state)) this.#countUnseenStart(next, restarted);
  }

  #seenOnSocket(next: ServerState, now: number): void {
    const previous = this.#onThisSocket;
    const wasOff = previous !== undefined && isOff(previous);
    if (next === 'stopping' && wasOff && this.#stops?.lateStopping(now) === true) return;
    if (next !== 'unknown') this.#onThisSocket = next;
    if (isOff(next) && isOn(this.#known)) this.#noteStop(previous, now);
    // Any event can be lost, including `offline`.
    else if (next === 'starting' && (previous === 'running' || previous === 'stopping')) {
      this.#noteStop(previous, now);
    }
    if (previous !== undefined && isStart(previous, next)) this.#countStart(now);
    this.#take(next, now);
  }

  /**
   * Records a state from a poll, which sees the server only now and then: it shows that the server started, but not how it
   * stopped. `measuredFrom` is the earliest instant at which the state can have been measured.
   */
  #seenByPoll(next: ServerState, now: number, measuredFrom: number): void {
    const previous = this.#known;
    this.#onThisSocket = undefined;
    if (isOff(next) && isOn(previous))
      this.#ownStops().stopped({ at: now, run: this.#starts, seen: 'by a poll' });
    if (isOff(previous) && isStart(previous, next)) this.#countStart(now);
    this.#take(next, now, measuredFrom);
  }

  /** Counts a start that no transition showed: the server was off and is on, or its uptime is that of another run. */
  #countUnseenStart({ uptimeMs, receivedAt, measuredFrom }: Observation, restarted: boolean): void {
    const owesStart = this.#awaitsStart && isOn(this.#state);
    // Without an uptime, only the states can show a start.
    if (Number.isNaN(uptimeMs)) {
      if (owesStart) this.#startedUnseen(receivedAt);
      return;
    }
    if (uptimeMs === 0) return;
    const startedAt = receivedAt - uptimeMs;
    const isNew = startedAt > this.#lastStartAt + SAME_START_MS;
    const beganWhileOff = startedAt + START_JITTER_MS + (receivedAt - measuredFrom) >= this.#lastSeenOffAt;
    if (isNew && (restarted || (owesStart && beganWhileOff))) this.#startedUnseen(receivedAt);
    // It was running when it was seen off.
    else if (owesStart) this.#awaitsStart = false;
  }

  /** The uptime reveals a start that no state reported, and therefore the stop before it, unless that was seen. */
  #startedUnseen(now: number): void {
    if (!this.#awaitsStart) {
      this.#ownStops().stopped({ at: now, run: this.#starts, seen: 'after a gap' });
      if (this.#state === 'running') this.#expectation.seenRunning();
    }
    this.#startSeen = true;
    this.#countStart(now);
  }

  #noteStop(previous: ServerState | undefined, at: number): void {
    this.#ownStops().stopped({
      at,
      run: this.#starts,
      seen: previous === undefined ? 'after a gap' : 'happening',
      wasStopping: previous === 'stopping',
    });
  }

  #take(next: ServerState, now: number, measuredFrom = now): void {
    if (isOff(next)) {
      this.#awaitsStart = true;
      this.#lastSeenOffAt = measuredFrom;
      this.#offAt ??= now;
    } else if (next !== 'unknown') {
      this.#offAt = undefined;
    }
    if (isOff(next) || next === 'starting') this.#startSeen = true;
    this.#state = next;
    if (next === 'unknown' || next === this.#known) return;
    this.#before = this.#known;
    this.#changedAt = now;
    this.#known = next;
    if (next === 'running') this.#expectation.seenRunning();
    if (next === 'starting') this.#expectation.seenStarting();
  }

  #ownStops(): StopReasons {
    this.#stops ??= new StopReasons((stop) => {
      // A stop seen only by polls shows nothing about anyone's intention. The same is true if a start has followed it.
      const isTelling = stop.seen !== 'by a poll' && stop.run === this.#starts;
      if (isTelling) this.#expectation.stopped(stop.reason, stop.at);
      this.#listener.stopped(stop);
    });
    return this.#stops;
  }

  #countStart(now: number): void {
    this.#awaitsStart = false;
    this.#lastStartAt = now;
    this.#starts += 1;
    this.#stops?.started();
  }
}

function isOn(state: ServerState): boolean {
  return !isOff(state) && state !== 'unknown';
}

function isStart(previous: ServerState, next: ServerState): boolean {
  if (next === 'starting') return previous !== 'unknown' && previous !== next;
  return next === 'running' && isOff(previous);
}

/** Each known state has its own bit. */
function bitOf(state: ServerState): number {
  return state === 'unknown' ? 0 : 1 << SERVER_STATES.indexOf(state);
}
