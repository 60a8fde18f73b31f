/** Detects a shortage of calls, during which connects are preferred. */
import { WINDOW_MS } from './sliding-window.ts';

/** A backlog: more waiting calls than the rate allows in a minute. */
export interface Backlog {
  readonly calls: number;
  /** When it began, in monotonic milliseconds. */
  readonly since: number;
}

/** The waiting calls that only the rate limit holds. */
interface Unheld {
  readonly backlog: number;
  /** The number of connects in the backlog. */
  readonly connects: number;
}

/**
 * A shortage: many calls are waiting, with connects among them, or connects have waited for long.
 */
export class Shortage {
  readonly #waiting: Unheld;
  readonly #limitPerMinute: () => number;
  #backlogSince: number | undefined;
  /** Since when there are connects that only the rate limit is known to hold. */
  #connectsSince: number | undefined;
  #isPresent = false;
  /** Whether the servers need more calls than the rate allows, so that only deadlines are fair. */
  isOverbooked = false;

  constructor(waiting: Unheld, limitPerMinute: () => number) {
    this.#waiting = waiting;
    this.#limitPerMinute = limitPerMinute;
  }

  /** Were connects preferred at the last update? */
  get isPresent(): boolean {
    return this.#isPresent;
  }

  /**
   * The backlog at the last update; undefined unless more calls are waiting than the rate allows in
   * a minute, with connects among them.
   */
  get backlog(): Backlog | undefined {
    const since = this.#backlogSince;
    return since === undefined ? undefined : { calls: this.#waiting.backlog, since };
  }

  /** Returns whether a shortage ended. */
  update(now: number): boolean {
    this.#backlogSince = this.#hasBacklog ? (this.#backlogSince ?? now) : undefined;
    const wasPresent = this.#isPresent;
    this.#isPresent = this.isDue(now);
    return wasPresent && !this.#isPresent;
  }

  /** Would an update find a shortage? */
  isDue(now: number): boolean {
    return this.#hasBacklog || this.#haveConnectsWaited(now);
  }

  /** Must be called after a decision: before that, another rule may hold any of the first calls. */
  followConnects(now: number): void {
    if (this.#waiting.connects === 0) this.#connectsSince = undefined;
    else this.#connectsSince ??= now;
  }

  /** If the servers need too many calls, only deadlines are fair. */
  get #mayBePresent(): boolean {
    return !this.isOverbooked && this.#waiting.connects > 0;
  }

  get #hasBacklog(): boolean {
    return this.#mayBePresent && this.#waiting.backlog > this.#limitPerMinute();
  }

  /**
   * Polls have earlier deadlines, and are repeated: if they take nearly all calls, few connects
   * start, however few calls are waiting.
   */
  #haveConnectsWaited(now: number): boolean {
    return this.#mayBePresent && now - (this.#connectsSince ?? now) >= WINDOW_MS;
  }
}
