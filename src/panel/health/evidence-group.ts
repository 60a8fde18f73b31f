/** The evidence of servers about one subject that has the same key. */
import { NEVER } from '../../domain/time.ts';
import { Heap, type Placed, type Seat } from '../heap.ts';
import { type Outcome, workedAt } from './outcome.ts';
import type { Tally } from './tally.ts';

/**
 * The key of a group of evidence: the node for a path, the path for the panel, the sign (such as
 * `may fail`) for a node, the cause of the denial for the consoles.
 */
export type Key = string | symbol | undefined;

/**
 * The key of a path's refusals of single servers: the panel works as far as it can refuse them,
 * which contradicts no failure of another server.
 */
export const REFUSALS = Symbol('refusals');

/** The evidence of one server's last outcome about one subject, in its place in its group. */
export interface Evidence extends Placed {
  group: Group;
  outcome: Outcome;
  proves: 'works' | 'fails' | undefined;
  /** The server is one of those with which failures are compared (`Tally.counted`). */
  isCounted: boolean;
}

/** The evidence that replaces a server's earlier one. */
export type NextEvidence = Readonly<Omit<Evidence, 'place'>>;

/** Evidence that isn't counted yet. */
export function makeEvidence({ group, outcome, proves, isCounted }: NextEvidence): Evidence {
  return { group, outcome, proves, isCounted, place: -1 };
}

/**
 * Remembers the failure that ended last, until that one is removed. A base class instead of a part:
 * with a node per server, an event would have to fetch that part from memory, too.
 */
export class NewestFailure {
  #newestAt = NEVER;
  #newest: Evidence | undefined = undefined;

  /** The failure that ended last; undefined if it isn't known. */
  get newest(): Evidence | undefined {
    return this.#newest;
  }

  /** A failure is new, or has another outcome. */
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

/** In place of heaps into which nothing was ever put: most groups only work, or only fail. */
const EMPTY = new Heap<Evidence>();

export class Group extends NewestFailure implements Placed {
  readonly tally: Tally;
  readonly key: Key;
  /** Latest success first. */
  #works = EMPTY;
  /** Earliest start of the failed call first. */
  #failed = EMPTY;
  /** Something else explains its failures, so they don't count. */
  isExplained: boolean;
  /** The place among the groups with failures that count. */
  place = -1;
  /** The seat among the groups with successes; absent before the first. */
  working: Seat<Group> | undefined = undefined;
  /** Servers whose evidence is here. */
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

  /** In no particular order. */
  get failures(): readonly Evidence[] {
    return this.#failed.items;
  }

  /** The failure whose call started first. */
  get firstFailure(): Evidence | undefined {
    return this.#failed.first;
  }

  /** The last success; infinite while a socket streams. */
  get worksAt(): number {
    const { first } = this.#works;
    return first === undefined ? NEVER : workedAt(first.outcome);
  }

  /** When the first of the failed calls started; infinite without any. */
  get failsSince(): number {
    return this.#failed.first?.outcome.startedAt ?? Number.POSITIVE_INFINITY;
  }

  /** The success is new, or has another outcome. */
  putSuccess(evidence: Evidence): void {
    if (this.#works === EMPTY) this.#works = new Heap();
    this.#works.put(evidence, -workedAt(evidence.outcome));
  }

  deleteSuccess(evidence: Evidence): void {
    this.#works.delete(evidence);
  }

  /** The failure is new, or has another outcome; returns whether it is new. */
  putFailure(evidence: Evidence): boolean {
    if (this.#failed === EMPTY) this.#failed = new Heap();
    const isNew = !this.#failed.has(evidence);
    this.#failed.put(evidence, evidence.outcome.startedAt);
    this.failureChanged(evidence);
    return isNew;
  }

  /** Returns whether the failure was in here. */
  deleteFailure(evidence: Evidence): boolean {
    const isHere = this.#failed.delete(evidence);
    if (isHere) this.failureRemoved(evidence);
    return isHere;
  }

  /** Its failures are no longer evidence. */
  excuse(): void {
    this.#failed = EMPTY;
    this.failuresRemoved(this);
  }
}
