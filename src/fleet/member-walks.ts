// Visits groups of members, a few in each turn of the event loop.

import type { Cancel, Clock } from '../domain/clock.ts';

/** Members per turn: less work than a scrape, which should get most of the time. */
const SLICE = 32;

/**
 * After a walk that took longer than this, walks rest for the same time (at most a second), because
 * the event loop has other work.
 */
const SHORT_MS = 20;
const LONGEST_REST_MS = 1_000;

/**
 * Visits every member of a group. Requests before the walk begins share it, so a request costs the
 * same in a fleet of any size, and many requests take only part of the time.
 */
export class MemberWalks<Member> {
  readonly #clock: Pick<Clock, 'now' | 'schedule'>;
  readonly #visit: (member: Member) => void;
  /** The groups that were requested since the current walk began. */
  readonly #groups = new Set<Iterable<Member>>();
  #members: readonly Member[] = [];
  #visited = 0;
  #startedAt = 0;
  /** Whether a walk or the rest after it isn't over. */
  #isBusy = false;
  #cancelRest: Cancel = () => undefined;

  constructor(clock: Pick<Clock, 'now' | 'schedule'>, visit: (member: Member) => void) {
    this.#clock = clock;
    this.#visit = visit;
  }

  /**
   * Visits the group as it is when the walk begins. The first members are visited at once, unless
   * another walk is running.
   */
  walk(group: Iterable<Member>): void {
    this.#groups.add(group);
    if (!this.#isBusy) this.#goOn();
  }

  /** Ends all walks. */
  stop(): void {
    this.#groups.clear();
    this.#members = [];
    this.#cancelRest();
  }

  /** Visits some members. More follow in the next turn, even if a visit throws. */
  #goOn(): void {
    this.#isBusy = true;
    let next: 'turn' | 'rest' | undefined = 'turn';
    try {
      next = this.#visitSome();
    } finally {
      this.#isBusy = next !== undefined;
      if (next === 'turn') setImmediate(() => this.#goOn());
    }
  }

  /**
   * Visits some members, and returns whether the others wait for a turn or a rest; undefined if
   * none is left.
   */
  #visitSome(): 'turn' | 'rest' | undefined {
    for (let visits = 0; visits < SLICE; visits += 1) {
      if (this.#visited >= this.#members.length) {
        if (this.#hasRest()) return 'rest';
        if (!this.#begin()) return undefined;
      }
      const member = this.#members[this.#visited];
      this.#visited += 1;
      if (member !== undefined) this.#visit(member);
    }
    return 'turn';
  }

  /** Begins the next walk, and returns whether there are members to visit. */
  #begin(): boolean {
    const members: Member[] = [];
    for (const group of this.#groups) for (const member of group) members.push(member);
    this.#groups.clear();
    this.#members = members;
    this.#visited = 0;
    this.#startedAt = this.#clock.now();
    return this.#members.length > 0;
  }

  /** Begins a rest after a long walk; returns whether there is one. */
  #hasRest(): boolean {
    const tookMs = this.#members.length === 0 ? 0 : this.#clock.now() - this.#startedAt;
    this.#members = [];
    if (tookMs <= SHORT_MS) return false;
    this.#cancelRest = this.#clock.schedule(Math.min(tookMs, LONGEST_REST_MS), () => this.#goOn());
    return true;
  }
}
