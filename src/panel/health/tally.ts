/** The evidence of all servers' last outcomes about one subject, updated with each outcome. */

import { NEVER } from '../../domain/clock.ts';
import type { Problem } from '../../domain/problems.ts';
import { Heap, type HeapItem, HeapSlot } from '../heap.ts';
import { type Channel, type Subject, subjectChannel, subjectNode } from '../subjects.ts';
import type { Outage } from './blame.ts';
import {
  type Evidence,
  Group,
  type Key,
  NewestFailure,
  type NextEvidence,
  REFUSALS,
} from './evidence-group.ts';
import type { Outcome } from './outcome.ts';

/** Stands for a heap that was never used. */
const NO_GROUPS = new Heap<HeapSlot<Group>>();

const nothingIsExplained = () => false;

/** All evidence about one subject, by group. */
export class Tally extends NewestFailure implements HeapItem {
  readonly subject: Subject;
  readonly channel: Channel;
  readonly node: string | undefined;
  /** The subject's outage, which only the ledger changes. */
  outage: Outage | undefined = undefined;
  readonly #groups = new Map<Key, Group>();
  #working = NO_GROUPS;
  /** Groups with failures that nothing else explains. */
  readonly #failing = new Heap<Group>();
  readonly #isExplained: (key: Key) => boolean;
  /** The number of servers on the subject's channel. */
  servers = 0;
  /**
   * The number of those servers with which failures are compared. An individually blocked server
   * shows nothing about the subject, unless the path fails, which may be the reason.
   */
  counted = 0;
  /** The number of failures that nothing else explains. */
  failed = 0;
  /** Whether its evidence changed since its last decision. */
  isTouched = false;
  /** The place among the subjects with failures that a recent success contradicts. */
  place = -1;

  /** Failures in a group with an explained key don't count. */
  constructor(subject: Subject, isExplained: (key: Key) => boolean = nothingIsExplained) {
    super();
    this.subject = subject;
    this.channel = subjectChannel(subject);
    this.node = subjectNode(subject);
    this.#isExplained = isExplained;
  }

  /**
   * The group with this key. `usual` is returned if it is that group, because a server's evidence
   * rarely changes its group.
   */
  group(key: Key, usual?: Group): Group {
    if (usual?.tally === this && usual.key === key) return usual;
    let group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, (group = new Group(this, key, this.#isExplained(key))));
    return group;
  }

  /** Groups with counted failures, in no particular order. */
  get failing(): readonly Group[] {
    return this.#failing.items;
  }

  /** The number of groups with counted failures. */
  get failingGroups(): number {
    return this.#failing.size;
  }

  /** The earliest start of a counted failed call; infinite if there is none. */
  get failsSince(): number {
    return this.#failing.first?.failsSince ?? Number.POSITIVE_INFINITY;
  }

  /** The counted failure whose call started first. */
  get firstFailure(): Evidence | undefined {
    return this.#failing.first?.firstFailure;
  }

  /** The time of the last success; infinite while a socket streams. */
  get worksAt(): number {
    return this.#working.first?.item.worksAt ?? NEVER;
  }

  /** The time of the last success that contradicts failures; infinite while a socket streams. */
  get contradictedAt(): number {
    return this.#working.first?.item.key === REFUSALS ? this.worksAtBeside(REFUSALS) : this.worksAt;
  }

  /** The time of the last success that contradicts failures, in all other groups. */
  worksAtBeside(key: Key): number {
    for (const { item: group } of this.#working.inOrder())
      if (group.key !== key && group.key !== REFUSALS) return group.worksAt;
    return NEVER;
  }

  /** The number of failures in the group with this key. */
  failedIn(key: Key): number {
    return this.#groups.get(key)?.failed ?? 0;
  }

  isFailing(key: Key): boolean {
    const group = this.#groups.get(key);
    return group !== undefined && this.#failing.has(group);
  }

  add(evidence: Evidence): void {
    const { group, isCounted, proves } = evidence;
    this.servers += 1;
    group.servers += 1;
    if (isCounted) this.counted += 1;
    if (proves === 'works') this.#works(evidence);
    else if (proves === 'fails') this.#fails(evidence);
  }

  remove(evidence: Evidence): void {
    this.#takeOut(evidence);
    this.#forgetIfEmpty(evidence.group);
  }

  /**
   * The same as removing the evidence and adding the next, but in place if only the outcome
   * differs.
   */
  change(evidence: Evidence, next: NextEvidence): void {
    const { group: before, proves, isCounted } = evidence;
    const isInPlace = next.group === before && next.proves === proves && next.isCounted === isCounted;
    if (!isInPlace) this.#takeOut(evidence);
    evidence.group = next.group;
    evidence.proves = next.proves;
    evidence.isCounted = next.isCounted;
    evidence.outcome = next.outcome;
    if (!isInPlace) {
      this.add(evidence);
      this.#forgetIfEmpty(before);
    } else if (proves === 'works') this.#works(evidence);
    else if (proves === 'fails') this.#fails(evidence);
  }

  #works(evidence: Evidence): void {
    const { group } = evidence;
    group.putSuccess(evidence);
    this.#worked(group);
  }

  /** Handles a group whose last success has changed, or is gone. */
  #worked(group: Group): void {
    const { worksAt } = group;
    const slot = (group.working ??= new HeapSlot(group));
    if (this.#working === NO_GROUPS) this.#working = new Heap();
    if (worksAt === NEVER) this.#working.delete(slot);
    else this.#working.put(slot, -worksAt);
  }

  #fails(evidence: Evidence): void {
    const { group } = evidence;
    const isNew = group.putFailure(evidence);
    this.failureChanged(evidence);
    if (group.isExplained) return;
    if (isNew) this.failed += 1;
    this.#failing.put(group, group.failsSince);
  }

  #takeOut(evidence: Evidence): void {
    const { group, isCounted, proves } = evidence;
    this.servers -= 1;
    group.servers -= 1;
    if (isCounted) this.counted -= 1;
    if (proves === 'works') {
      group.deleteSuccess(evidence);
      this.#worked(group);
    } else if (proves === 'fails') this.drop(evidence);
  }

  /** Stops counting the failure, which stays the server's last outcome. */
  drop(evidence: Evidence): void {
    const { group } = evidence;
    if (!group.deleteFailure(evidence)) return;
    this.failureRemoved(evidence);
    if (!this.#failing.has(group)) return;
    this.failed -= 1;
    if (group.failed > 0) this.#failing.put(group, group.failsSince);
    else this.#failing.delete(group);
  }

  /** Stops counting all failures, or those with this key. They stay the servers' last outcomes. */
  excuse(...keys: readonly [] | readonly [Key]): void {
    const groups = keys.length === 0 ? this.#groups.values() : [this.#groups.get(keys[0])];
    for (const group of groups) {
      if (group === undefined || group.failed === 0) continue;
      if (this.#failing.delete(group)) this.failed -= group.failed;
      group.excuse();
      this.failuresRemoved(group);
    }
  }

  /** Handles a change of whether something else explains the failures with this key. */
  explanationChanged(key: Key): void {
    const group = this.#groups.get(key);
    if (group === undefined) return;
    group.isExplained = this.#isExplained(key);
    if (group.failed === 0) return;
    const isFailing = this.#failing.has(group);
    if (isFailing && group.isExplained) {
      this.#failing.delete(group);
      this.failed -= group.failed;
    } else if (!isFailing && !group.isExplained) {
      this.#failing.put(group, group.failsSince);
      this.failed += group.failed;
    }
  }

  /** When the latest counted failure ended; infinite if there is none. */
  get failedAt(): number {
    return this.#newestFailure()?.at ?? Number.POSITIVE_INFINITY;
  }

  /** The problem of the latest counted failure. */
  newestProblem(): Problem | undefined {
    return this.#newestFailure()?.problem;
  }

  /** The latest failure. All failures are searched only if it was removed. */
  #newestFailure(): Outcome | undefined {
    const { newest } = this;
    if (newest !== undefined && this.#failing.has(newest.group)) return newest.outcome;
    return findNewest(this.failing);
  }

  /** The problem of the group's latest failure. */
  newestProblemIn(group: Group): Problem | undefined {
    return (group.newest?.outcome ?? findNewest([group]))?.problem;
  }

  /** Deletes an empty group, because nodes come and go. */
  #forgetIfEmpty(group: Group): void {
    if (group.servers === 0 && this.#groups.get(group.key) === group) this.#groups.delete(group.key);
  }
}

function findNewest(groups: Iterable<Group>): Outcome | undefined {
  let newest: Outcome | undefined;
  for (const { failures } of groups)
    for (const { outcome } of failures) if (newest === undefined || outcome.at > newest.at) newest = outcome;
  return newest;
}
