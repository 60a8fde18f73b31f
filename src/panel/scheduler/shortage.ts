/** Recognizes a shortage of calls, in which connects are preferred. */
import { WINDOW_MS } from './sliding-window.ts';

/** More calls wait than the rate allows in a minute. */
export interface Backlog {
  readonly calls: number;
  /** Since when, in monotonic milliseconds. */
  readonly since: number;
}

/** The waiting calls that nothing but the rate holds. */
interface Unheld {
  readonly backlog: number;
  /** Connects in the backlog. */
  readonly connects: number;
}

/** A shortage: many calls wait, connects among them, or connects have waited for long. */
export class Shortage {
  readonly #waiting: Unheld;
  readonly #limitPerMinute: () => number;
  #backlogSince: number | undefined;
  /** Since when there are connects that nothing but the rate is known to hold. */
  #connectsSince: number | undefined;
  #isPresent = false;
  /** The servers need more calls than the rate carries, so that deadlines alone are fair. */
  isOverbooked = false;

  constructor(waiting: Unheld, limitPerMinute: () => number) {
    this.#waiting = waiting;
    this.#limitPerMinute = limitPerMinute;
  }

  /** As of the last update: are connects preferred? */
  get isPresent(): boolean {
    return this.#isPresent;
  }

  /**
   * As of the last update; undefined unless more calls, connects among them, wait than the rate
   * allows in a minute.
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

  /** To be called after a decision: before, any of the first calls may be held by another rule. */
  followConnects(now: number): void {
    if (this.#waiting.connects === 0) this.#connectsSince = undefined;
    else this.#connectsSince ??= now;
  }

  /** In an overbooked fleet, deadlines alone are fair. */
  get #mayBePresent(): boolean {
    return !this.isOverbooked && this.#waiting.connects > 0;
  }

  get #hasBacklog(): boolean {
    return this.#mayBePresent && this.#waiting.backlog > this.#limitPerMinute();
  }

  /**
   * Polls have earlier deadlines, and come again: where they take nearly all calls, few connects
   * start, however few calls wait at once.
   */
  #haveConnectsWaited(now: number): boolean {
    return this.#mayBePresent && now - (this.#connectsSince ?? now) >= WINDOW_MS;
  }
}
