/** What the last outcomes of all servers prove about one subject, updated one outcome at a time. */
import type { Problem } from '../../domain/problems.ts';
import { Heap, type Placed, Seat } from '../heap.ts';
import { type Channel, type Subject, subjectChannel, subjectNode } from '../subjects.ts';
import { NEVER, type Outcome } from './outcome.ts';

/**
 * The key of a group of evidence: the node for a path, the path for the panel, the sign (such as
 * `may fail`) for a node, the cause of the denial for the consoles.
 */
export type Key = string | undefined;

/** The evidence of one server's last outcome about one subject, in its place in its group. */
export interface Evidence extends Placed {
  group: Group;
  outcome: Outcome;
  proves: 'works' | 'fails' | undefined;
  /** Counts as asked there: it isn't blocked for a reason of its own. */
  isAsked: boolean;
}

/** What a server's evidence becomes. */
export type NextEvidence = Readonly<Omit<Evidence, 'place'>>;

/** Evidence that isn't counted yet. */
export function makeEvidence({ group, outcome, proves, isAsked }: NextEvidence): Evidence {
  return { group, outcome, proves, isAsked, place: -1 };
}

/** The failure that ended last; unknown once that one is removed. */
class Latest {
  #at = NEVER;
  /** Undefined if it isn't known. */
  evidence: Evidence | undefined;

  added(evidence: Evidence): void {
    const { at } = evidence.outcome;
    if (at <= this.#at) return;
    this.#at = at;
    this.evidence = evidence;
  }

  /** The evidence has another outcome. */
  changed(evidence: Evidence): void {
    const { at } = evidence.outcome;
    if (this.evidence === evidence && at < this.#at) this.evidence = undefined;
    else this.added(evidence);
  }

  removed(evidence: Evidence): void {
    if (this.evidence === evidence) this.evidence = undefined;
  }

  groupEmptied(group: Group): void {
    if (this.evidence?.group === group) this.evidence = undefined;
  }
}

/** Evidence with the same key. */
export class Group {
  readonly tally: Tally;
  readonly key: Key;
  /** Latest success first. */
  readonly works = new Heap<Evidence>();
  /** Earliest start of the failed call first. */
  failed = new Heap<Evidence>();
  readonly latest = new Latest();
  /** Its seats among the groups with successes, and among those with failures that count. */
  readonly working = new Seat<Group>(this);
  readonly failing = new Seat<Group>(this);
  /** Servers whose evidence is here. */
  servers = 0;
  /** Servers that don't count as asked, because they are blocked for a reason of their own. */
  blocked = 0;

  constructor(tally: Tally, key: Key) {
    this.tally = tally;
    this.key = key;
  }

  /** The last success; infinite while a socket streams. */
  get worksAt(): number {
    return this.works.first === undefined ? NEVER : workedAt(this.works.first);
  }

  /** When the first of the failed calls started; infinite without any. */
  get failsSince(): number {
    return this.failed.first?.outcome.startedAt ?? Number.POSITIVE_INFINITY;
  }

  /** Its failures are no longer evidence. */
  excuse(): void {
    this.failed = new Heap();
    this.latest.groupEmptied(this);
  }
}

/** All evidence about one subject, by group. */
export class Tally implements Placed {
  readonly subject: Subject;
  readonly channel: Channel;
  readonly node: string | undefined;
  readonly #groups = new Map<Key, Group>();
  readonly #working = new Heap<Seat<Group>>();
  /** Groups with failures that aren't explained by something else. */
  readonly #failing = new Heap<Seat<Group>>();
  readonly #isExplained: (key: Key) => boolean;
  readonly #latest = new Latest();
  /**
   * The servers on the subject's channel, the unblocked ones among them, and the unexplained
   * failures.
   */
  servers = 0;
  asked = 0;
  failed = 0;
  /** Its evidence changed since it was last decided. */
  isTouched = false;
  /** The place among the subjects whose failures a recent success contradicts. */
  place = -1;

  /** Failures of a group whose key is explained don't count. */
  constructor(subject: Subject, isExplained: (key: Key) => boolean = () => false) {
    this.subject = subject;
    this.channel = subjectChannel(subject);
    this.node = subjectNode(subject);
    this.#isExplained = isExplained;
  }

  /** `usual` is returned if it is that group: a server's evidence rarely changes its group. */
  group(key: Key, usual?: Group): Group {
    if (usual?.tally === this && usual.key === key) return usual;
    let group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, (group = new Group(this, key)));
    return group;
  }

  /** Groups with failures that count, in no particular order. */
  get failing(): readonly Group[] {
    return this.#failing.items.map(({ item }) => item);
  }

  /** The number of groups with failures that count. */
  get failingGroups(): number {
    return this.#failing.size;
  }

  /** When the first of the failed calls that count started; infinite without any. */
  get failsSince(): number {
    return this.#failing.first?.item.failsSince ?? Number.POSITIVE_INFINITY;
  }

  /** The failure that counts and whose call started first. */
  get firstFailure(): Evidence | undefined {
    return this.#failing.first?.item.failed.first;
  }

  /** The last success; infinite while a socket streams. */
  get worksAt(): number {
    return this.#working.first?.item.worksAt ?? NEVER;
  }

  /** The last success in any other group. */
  worksAtBeside(key: Key): number {
    for (const { item: group } of this.#working.inOrder()) if (group.key !== key) return group.worksAt;
    return NEVER;
  }

  /** The number of failures in the group with this key. */
  failedIn(key: Key): number {
    return this.#groups.get(key)?.failed.size ?? 0;
  }

  isFailing(key: Key): boolean {
    const group = this.#groups.get(key);
    return group !== undefined && this.#failing.has(group.failing);
  }

  add(evidence: Evidence): void {
    const { group, isAsked, proves } = evidence;
    this.servers += 1;
    group.servers += 1;
    if (isAsked) this.asked += 1;
    else group.blocked += 1;
    if (proves === 'works') this.#works(evidence);
    else if (proves === 'fails') this.#fails(evidence);
  }

  remove(evidence: Evidence): void {
    this.#takeOut(evidence);
    this.#forgetIfEmpty(evidence.group);
  }

  /** Like removing the evidence and adding the next, but in place if only the outcome differs. */
  change(evidence: Evidence, next: NextEvidence): void {
    const { group: before, proves, isAsked } = evidence;
    const isInPlace = next.group === before && next.proves === proves && next.isAsked === isAsked;
    if (!isInPlace) this.#takeOut(evidence);
    evidence.group = next.group;
    evidence.proves = next.proves;
    evidence.isAsked = next.isAsked;
    evidence.outcome = next.outcome;
    if (!isInPlace) {
      this.add(evidence);
      this.#forgetIfEmpty(before);
    } else if (proves === 'works') this.#works(evidence);
    else if (proves === 'fails') this.#fails(evidence);
  }

  #works(evidence: Evidence): void {
    const { group } = evidence;
    group.works.put(evidence, -workedAt(evidence));
    this.#working.put(group.working, -group.worksAt);
  }

  #fails(evidence: Evidence): void {
    const { group } = evidence;
    const isNew = !group.failed.has(evidence);
    group.failed.put(evidence, evidence.outcome.startedAt);
    group.latest.changed(evidence);
    this.#latest.changed(evidence);
    if (this.#isExplained(group.key)) return;
    if (isNew) this.failed += 1;
    this.#failing.put(group.failing, group.failsSince);
  }

  #takeOut(evidence: Evidence): void {
    const { group, isAsked, proves } = evidence;
    this.servers -= 1;
    group.servers -= 1;
    if (isAsked) this.asked -= 1;
    else group.blocked -= 1;
    if (proves === 'works') {
      group.works.delete(evidence);
      if (group.works.size > 0) this.#working.put(group.working, -group.worksAt);
      else this.#working.delete(group.working);
    } else if (proves === 'fails') this.drop(evidence);
  }

  /** The failure no longer counts, but stays the server's last outcome. */
  drop(evidence: Evidence): void {
    const { group } = evidence;
    if (!group.failed.delete(evidence)) return;
    group.latest.removed(evidence);
    this.#latest.removed(evidence);
    if (!this.#failing.has(group.failing)) return;
    this.failed -= 1;
    if (group.failed.size > 0) this.#failing.put(group.failing, group.failsSince);
    else this.#failing.delete(group.failing);
  }

  /** Failures, or those with this key, no longer count, but stay the servers' last outcomes. */
  excuse(...keys: readonly [] | readonly [Key]): void {
    const groups = keys.length === 0 ? this.#groups.values() : [this.#groups.get(keys[0])];
    for (const group of groups) {
      if (group === undefined || group.failed.size === 0) continue;
      if (this.#failing.delete(group.failing)) this.failed -= group.failed.size;
      group.excuse();
      this.#latest.groupEmptied(group);
    }
  }

  /** Something else now explains the failures of the group with this key, or no longer does. */
  explanationChanged(key: Key): void {
    const group = this.#groups.get(key);
    if (group === undefined || group.failed.size === 0) return;
    const isCounted = this.#failing.has(group.failing);
    const isExplained = this.#isExplained(key);
    if (isCounted && isExplained) {
      this.#failing.delete(group.failing);
      this.failed -= group.failed.size;
    } else if (!isCounted && !isExplained) {
      this.#failing.put(group.failing, group.failsSince);
      this.failed += group.failed.size;
    }
  }

  /**
   * The problem of the latest failure that counts. Searches all failures only if the latest was
   * removed.
   */
  newestProblem(): Problem | undefined {
    const { evidence } = this.#latest;
    if (evidence !== undefined && this.#failing.has(evidence.group.failing)) return evidence.outcome.problem;
    return findNewest(this.failing);
  }

  /** The problem of the group's latest failure. */
  newestProblemIn(group: Group): Problem | undefined {
    return group.latest.evidence?.outcome.problem ?? findNewest([group]);
  }

  /** Deletes an empty group, because nodes come and go. */
  #forgetIfEmpty(group: Group): void {
    if (group.servers === 0 && this.#groups.get(group.key) === group) this.#groups.delete(group.key);
  }
}

function findNewest(groups: Iterable<Group>): Problem | undefined {
  let newest: Outcome | undefined;
  for (const { failed } of groups)
    for (const { outcome } of failed.items)
      if (newest === undefined || outcome.at > newest.at) newest = outcome;
  return newest?.problem;
}

function workedAt({ outcome }: Evidence): number {
  return outcome.streams === true ? Number.POSITIVE_INFINITY : outcome.at;
}
