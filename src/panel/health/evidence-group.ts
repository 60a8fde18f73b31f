/** A group of evidence about one subject, from servers with the same key. */
import { NEVER } from '../../domain/clock.ts';
import { Heap, type HeapItem, type HeapSlot } from '../heap.ts';
import { type Outcome, workedAt } from './outcome.ts';
import type { Tally } from './tally.ts';

/**
 * The key of a group: for a path the node, for the panel the path, for a node the sign (such as
 * `may fail`), for the consoles the cause of the denial.
 */
export type Key = string | symbol | undefined;

/**
 * The key of a path's rejections of single servers. They show that the panel works, but don't
 * contradict the failure of another server.
 */
export const REFUSALS = Symbol('refusals');

/** Evidence from one server's last outcome about one subject, and its place in its group. */
export interface Evidence extends HeapItem {
  group: Group;
  outcome: Outcome;
  proves: 'works' | 'fails' | undefined;
  /** Whether the server is one with which failures are compared (`Tally.counted`). */
  isCounted: boolean;
}

/** The replacement for a server's earlier evidence. */
export type NextEvidence = Readonly<Omit<Evidence, 'place'>>;

/** New evidence, which isn't counted yet. */
export function makeEvidence({ group, outcome, proves, isCounted }: NextEvidence): Evidence {
  return { group, outcome, proves, isCounted, place: -1 };
}

/**
 * Remembers the latest failure until it is removed. A base class, because an event would have to
 * fetch a separate object from memory.
 */
export class NewestFailure {
  #newestAt = NEVER;
  #newest: Evidence | undefined = undefined;

  /** The failure that ended last; undefined if it isn't known. */
  get newest(): Evidence | undefined {
    return this.#newest;
  }

  /** Notes a new failure, or one with another outcome. */
  failureChanged(evidence: Evidence): void {
    const { at } = evidence.outcome;
    if (at > this.#newestAt) {
      this.#newestAt = at;
      this.#newest = evidence;
    } else if (at < this.#newestAt && this.#newest === evidence) this.#newest = undefined;
  }

  failureRemoved(evidence: Evidence): void {
    if (this.#newest === evidence) this.#newest = undefined;
  }

  failuresRemoved(group: Group): void {
    if (this.#newest?.group === group) this.#newest = undefined;
  }
}

/** Stands for heaps that were never used: most groups contain only successes or only failures. */
const EMPTY = new Heap<Evidence>();

export class Group extends NewestFailure implements HeapItem {
  readonly tally: Tally;
  readonly key: Key;
  /** Successes, latest first. */
  #works = EMPTY;
  /** Failures, earliest start first. */
  #failed = EMPTY;
  /** Whether something else explains the failures, so that they don't count. */
  isExplained: boolean;
  /** The place among the groups with counted failures. */
  place = -1;
  /** The seat among the groups with successes; undefined before the first one. */
  working: HeapSlot<Group> | undefined = undefined;
  /** The number of servers with evidence in this group. */
  servers = 0;

  constructor(tally: Tally, key: Key, isExplained: boolean) {
    super();
    this.tally = tally;
    this.key = key;
    this.isExplained = isExplained;
  }

  get failed(): number {
    return this.#failed.size;
  }

  /** All failures, in no particular order. */
  get failures(): readonly Evidence[] {
    return this.#failed.items;
  }

  /** The failure whose call started first. */
  get firstFailure(): Evidence | undefined {
    return this.#failed.first;
  }

  /** The time of the last success; infinite while a socket streams. */
  get worksAt(): number {
    const { first } = this.#works;
    return first === undefined ? NEVER : workedAt(first.outcome);
  }

  /** The earliest start of a failed call; infinite if there is none. */
  get failsSince(): number {
    return this.#failed.first?.outcome.startedAt ?? Number.POSITIVE_INFINITY;
  }

  /** Adds a success, or updates it after another outcome. */
  putSuccess(evidence: Evidence): void {
    if (this.#works === EMPTY) this.#works = new Heap();
    this.#works.put(evidence, -workedAt(evidence.outcome));
  }

  deleteSuccess(evidence: Evidence): void {
    this.#works.delete(evidence);
  }

  /** Adds a failure, or updates it after another outcome. Returns whether it is new. */
  putFailure(evidence: Evidence): boolean {
    if (this.#failed === EMPTY) this.#failed = new Heap();
    const isNew = !this.#failed.has(evidence);
    this.#failed.put(evidence, evidence.outcome.startedAt);
    this.failureChanged(evidence);
    return isNew;
  }

  /** Returns whether the failure was in the group. */
  deleteFailure(evidence: Evidence): boolean {
    const isHere = this.#failed.delete(evidence);
    if (isHere) this.failureRemoved(evidence);
    return isHere;
  }

  /** Removes all failures as evidence. */
  excuse(): void {
    this.#failed = EMPTY;
    this.failuresRemoved(this);
  }
}
