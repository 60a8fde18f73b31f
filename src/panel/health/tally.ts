/** What the last outcomes of all servers prove about one subject, updated one outcome at a time. */

import type { Problem } from '../../domain/problems.ts';
import { NEVER } from '../../domain/time.ts';
import { Heap, type Placed, Seat } from '../heap.ts';
import { type Channel, type Subject, subjectChannel, subjectNode } from '../subjects.ts';
import {
  type Evidence,
  Group,
  type Key,
  NewestFailure,
  type NextEvidence,
  REFUSALS,
} from './evidence-group.ts';
import type { Outage } from './outage.ts';
import type { Outcome } from './outcome.ts';

/** In place of a heap into which nothing was ever put. */
const NO_GROUPS = new Heap<Seat<Group>>();

const nothingIsExplained = () => false;

/** All evidence about one subject, by group. */
export class Tally extends NewestFailure implements Placed {
  readonly subject: Subject;
  readonly channel: Channel;
  readonly node: string | undefined;
  /** The subject's outage, of which only the ledger decides. */
  outage: Outage | undefined = undefined;
  readonly #groups = new Map<Key, Group>();
  #working = NO_GROUPS;
  /** Groups with failures that aren't explained by something else. */
  readonly #failing = new Heap<Group>();
  readonly #isExplained: (key: Key) => boolean;
  /** The number of servers on the subject's channel. */
  servers = 0;
  /**
   * The number of those servers with which failures are compared: one that is blocked for a reason
   * of its own proves nothing about the subject, unless the path fails, which may be the reason.
   */
  counted = 0;
  /** The number of failures that nothing else explains. */
  failed = 0;
  /** Its evidence changed since it was last decided. */
  isTouched = false;
  /** The place among the subjects whose failures a recent success contradicts. */
  place = -1;

  /** Failures of a group whose key is explained don't count. */
  constructor(subject: Subject, isExplained: (key: Key) => boolean = nothingIsExplained) {
    super();
    this.subject = subject;
    this.channel = subjectChannel(subject);
    this.node = subjectNode(subject);
    this.#isExplained = isExplained;
  }

  /** `usual` is returned if it is that group: a server's evidence rarely changes its group. */
  group(key: Key, usual?: Group): Group {
    if (usual?.tally === this && usual.key === key) return usual;
    let group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, (group = new Group(this, key, this.#isExplained(key))));
    return group;
  }

  /** Groups with failures that count, in no particular order. */
  get failing(): readonly Group[] {
    return this.#failing.items;
  }

  /** The number of groups with failures that count. */
  get failingGroups(): number {
    return this.#failing.size;
  }

  /** When the first of the failed calls that count started; infinite without any. */
  get failsSince(): number {
    return this.#failing.first?.failsSince ?? Number.POSITIVE_INFINITY;
  }

  /** The failure that counts and whose call started first. */
  get firstFailure(): Evidence | undefined {
    return this.#failing.first?.firstFailure;
  }

  /** The last success; infinite while a socket streams. */
  get worksAt(): number {
    return this.#working.first?.item.worksAt ?? NEVER;
  }

  /** The last success that contradicts failures; infinite while a socket streams. */
  get contradictedAt(): number {
    return this.#working.first?.item.key === REFUSALS ? this.worksAtBeside(REFUSALS) : this.worksAt;
  }

  /** The last success that contradicts failures, in any other group. */
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

  /** Like removing the evidence and adding the next, but in place if only the outcome differs. */
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

  /** The group's last success is another one, or there is none any more. */
  #worked(group: Group): void {
    const { worksAt } = group;
    const seat = (group.working ??= new Seat(group));
    if (this.#working === NO_GROUPS) this.#working = new Heap();
    if (worksAt === NEVER) this.#working.delete(seat);
    else this.#working.put(seat, -worksAt);
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

  /** The failure no longer counts, but stays the server's last outcome. */
  drop(evidence: Evidence): void {
    const { group } = evidence;
    if (!group.deleteFailure(evidence)) return;
    this.failureRemoved(evidence);
    if (!this.#failing.has(group)) return;
    this.failed -= 1;
    if (group.failed > 0) this.#failing.put(group, group.failsSince);
    else this.#failing.delete(group);
  }

  /** Failures, or those with this key, no longer count, but stay the servers' last outcomes. */
  excuse(...keys: readonly [] | readonly [Key]): void {
    const groups = keys.length === 0 ? this.#groups.values() : [this.#groups.get(keys[0])];
    for (const group of groups) {
      if (group === undefined || group.failed === 0) continue;
      if (this.#failing.delete(group)) this.failed -= group.failed;
      group.excuse();
      this.failuresRemoved(group);
    }
  }

  /** Something else now explains the failures of the group with this key, or no longer does. */
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

  /** When the latest failure that counts ended; infinite without any. */
  get failedAt(): number {
    return this.#newestFailure()?.at ?? Number.POSITIVE_INFINITY;
  }

  /** The problem of the latest failure that counts. */
  newestProblem(): Problem | undefined {
    return this.#newestFailure()?.problem;
  }

  /** Searches all failures only if the latest was removed. */
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
