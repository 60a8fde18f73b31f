import { isOff, type ServerState } from '../domain/state.ts';

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
  #runCounted = false;
  #starts = 0;
  #stops = 0;
  #pendingStopAt: number | undefined;
  #offAt: number | undefined;
  #startSeen = false;

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

  /** Has the server been off or starting since this was last asked? Then its counters may begin anew. */
  takeStartSeen(): boolean {
    const seen = this.#startSeen;
    this.#startSeen = this.#state === 'starting' || isOff(this.#state);
    return seen;
  }

  socketBegan(): void {
    this.#onThisSocket = undefined;
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

  /** A state told by a poll, which sees only now and then: a start is seen, how it stopped is not. */
  seenByPoll(next: ServerState, now: number): void {
    const previous = this.#state;
    this.#onThisSocket = undefined;
    if (isOff(previous) && isStart(previous, next)) this.#countStart();
    this.#take(next, now);
  }

  /** The uptime shows a start that no state told of. */
  startedUnseen(): void {
    this.#startSeen = true;
    this.#countStart();
  }

  /** Was the start of the present run counted? */
  get runCounted(): boolean {
    return this.#runCounted;
  }

  unexpectedStops(now: number): number {
    this.#commitStop(now);
    return this.#stops;
  }

  #take(next: ServerState, now: number): void {
    if (isOff(next)) {
      this.#runCounted = false;
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
    this.#runCounted = true;
    this.#starts += 1;
  }
}

function isStart(previous: ServerState, next: ServerState): boolean {
  if (next === 'starting') return previous !== 'unknown';
  return next === 'running' && isOff(previous);
}
