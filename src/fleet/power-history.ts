import { isOff, SERVER_STATES, type ServerState } from '../domain/server.ts';

/** A `stats` frame that was published this soon after a `status` may still carry the state before it (field notes, What a daemon says). */
const STATUS_SETTLES_MS = 2_000;

/** A `stopping` that comes this late after `offline` was overtaken by it: the stop was asked for. */
const LATE_STOPPING_MS = 2_000;

/**
 * Follows one server's state: counts its starts, and the stops that nobody asked for. A stop counts as unexpected where
 * `running` or `starting` turned `offline` on one uninterrupted socket, with no `stopping` before or shortly after.
 */
export class PowerHistory {
  #state: ServerState = 'unknown';
  /** The last state seen on this socket; the first one of a socket is no transition. */
  #onThisSocket: ServerState | undefined;
  /** The server was seen off, and the start that ends this was not counted yet. */
  #awaitsStart = false;
  #starts = 0;
  #stops = 0;
  #pendingStopAt: number | undefined;
  #offAt: number | undefined;
  #lastSeenOffAt = Number.NEGATIVE_INFINITY;
  #startSeen = false;
  #statusAt = Number.NEGATIVE_INFINITY;
  /** The states that the latest statuses ended, one bit for each. */
  #endedStates = 0;

  get state(): ServerState {
    return this.#state;
  }

  get starts(): number {
    return this.#starts;
  }

  /** When the server was seen to go off, while it has not been seen on since (monotonic milliseconds). */
  get offAt(): number | undefined {
    return this.#offAt;
  }

  /** When the server was last seen off, at the latest (monotonic milliseconds). */
  get lastSeenOffAt(): number {
    return this.#lastSeenOffAt;
  }

  /** Is the server on after it was seen off, with no start counted in between? */
  get owesStart(): boolean {
    return this.#awaitsStart && !isOff(this.#state) && this.#state !== 'unknown';
  }

  /** Has the server been off or starting since this was last asked? Then its counters may begin anew. */
  takeStartSeen(): boolean {
    const seen = this.#startSeen;
    this.#startSeen = this.#state === 'starting' || isOff(this.#state);
    return seen;
  }

  /** Events may have been missed until now: the next state is no transition. */
  interrupted(): void {
    this.#onThisSocket = undefined;
  }

  /** A `status` event: what it ends is not brought back by a `stats` frame of the same instant. */
  seenByStatus(next: ServerState, now: number): void {
    const before = this.#state;
    // Only a server that starts passes through `starting`, so that it proves a start even when the socket is new.
    if (next === 'starting' && this.#onThisSocket === undefined && isOff(before) && this.#awaitsStart) {
      this.#countStart();
    }
    this.seenOnSocket(next, now);
    if (this.#state === before) return;
    const isBurst = now - this.#statusAt <= STATUS_SETTLES_MS;
    this.#endedStates = ((isBurst ? this.#endedStates : 0) | bitOf(before)) & ~bitOf(this.#state);
    this.#statusAt = now;
  }

  /** May what was measured at this instant or later still show a state that a `status` has ended? */
  isOutdated(state: ServerState, measuredFrom: number): boolean {
    return (this.#endedStates & bitOf(state)) !== 0 && measuredFrom - this.#statusAt <= STATUS_SETTLES_MS;
  }

  /** A state seen on the socket. */
  seenOnSocket(next: ServerState, now: number): void {
    if (this.#isLateStopping(next, now)) {
      this.#pendingStopAt = undefined;
      return;
    }
    const previous = this.#onThisSocket;
    this.#onThisSocket = next;
    if (previous !== undefined && previous !== next) {
      if (next === 'offline' && (previous === 'running' || previous === 'starting')) {
        this.#commitStop(now);
        this.#pendingStopAt = now;
      }
      if (isStart(previous, next)) this.#countStart();
    }
    this.#take(next, now);
  }

  /**
   * A state from a poll, which sees only now and then: it shows that the server started, but not how it stopped. `measuredFrom` is
   * the earliest instant at which the state can have been measured.
   */
  seenByPoll(next: ServerState, now: number, measuredFrom: number): void {
    const previous = this.#state;
    this.#onThisSocket = undefined;
    if (isOff(previous) && isStart(previous, next)) this.#countStart();
    this.#take(next, now, measuredFrom);
  }

  /** The uptime shows a start that no state told of. */
  startedUnseen(): void {
    this.#startSeen = true;
    this.#countStart();
  }

  /** The uptime shows that the server was running when it was seen off: no start is to be counted for that. */
  neverStopped(): void {
    this.#awaitsStart = false;
  }

  unexpectedStops(now: number): number {
    this.#commitStop(now);
    return this.#stops;
  }

  #take(next: ServerState, now: number, measuredFrom = now): void {
    if (isOff(next)) {
      this.#awaitsStart = true;
      this.#lastSeenOffAt = measuredFrom;
      this.#offAt ??= now;
    } else {
      this.#offAt = undefined;
    }
    if (isOff(next) || next === 'starting') this.#startSeen = true;
    this.#state = next;
  }

  #isLateStopping(next: ServerState, now: number): boolean {
    return (
      next === 'stopping' &&
      this.#pendingStopAt !== undefined &&
      now - this.#pendingStopAt <= LATE_STOPPING_MS
    );
  }

  #commitStop(now: number): void {
    if (this.#pendingStopAt === undefined || now - this.#pendingStopAt <= LATE_STOPPING_MS) return;
    this.#pendingStopAt = undefined;
    this.#stops += 1;
  }

  #countStart(): void {
    this.#awaitsStart = false;
    this.#starts += 1;
  }
}

function isStart(previous: ServerState, next: ServerState): boolean {
  if (next === 'starting') return previous !== 'unknown';
  return next === 'running' && isOff(previous);
}

/** Every state that is known has a bit of its own. */
function bitOf(state: ServerState): number {
  return state === 'unknown' ? 0 : 1 << SERVER_STATES.indexOf(state);
}
