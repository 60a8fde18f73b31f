/** What the last outcomes of all servers prove about one subject, kept up one outcome at a time. */
import type { Problem } from '../../domain/problems.ts';
import { Ranking } from '../ranking.ts';
import { type Channel, channelOf, nodeOf, type Subject } from '../subjects.ts';
import { NEVER, type Outcome } from './outcome.ts';

/**
 * What groups failures, depending on the subject: a path's node, a node's sign, a denial's cause.
 */
export type Key = string | undefined;

/** The evidence of one server's last outcome about one subject. */
export interface Evidence {
  readonly group: Group;
  readonly outcome: Outcome;
  readonly proves: 'works' | 'fails' | undefined;
  /** Counts as asked there: it isn't blocked for a reason of its own. */
  readonly isAsked: boolean;
}

/** The failure that ended last, as long as it is there. */
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
  readonly works = new Ranking<Evidence>();
  /** The failure whose call started earliest first. */
  failed = new Ranking<Evidence>();
  readonly latest = new Latest();
  /** Servers that aren't asked there for a reason of their own. */
  blocked = 0;
  /** Its servers no longer have an outcome; the evidence of the last one still counts. */
  isForgotten = false;

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

  get isEmpty(): boolean {
    return this.works.size + this.failed.size + this.blocked === 0;
  }

  /** Its failures are no longer evidence. */
  excuse(): void {
    this.failed = new Ranking();
    this.latest.groupEmptied(this);
  }
}

/** All evidence about one subject, by group. */
export class Tally {
  readonly subject: Subject;
  readonly channel: Channel;
  readonly node: string | undefined;
  readonly #groups = new Map<Key, Group>();
  #working = new Ranking<Group>();
  /** Groups with failures that aren't explained by something else. */
  #failing = new Ranking<Group>();
  readonly #isExplained: (key: Key) => boolean;
  readonly #latest = new Latest();
  /**
   * The servers on the subject's channel, the unblocked ones among them, and the unexplained
   * failures.
   */
  servers = 0;
  asked = 0;
  failed = 0;

  /** Failures of a group whose key is explained don't count. */
  constructor(subject: Subject, isExplained: (key: Key) => boolean = () => false) {
    this.subject = subject;
    this.channel = channelOf(subject);
    this.node = nodeOf(subject);
    this.#isExplained = isExplained;
  }

  group(key: Key): Group {
    let group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, (group = new Group(this, key)));
    return group;
  }

  /** Groups with failures that count, in no particular order. */
  get failing(): readonly Group[] {
    return [...this.#failing.items];
  }

  /** The number of groups with failures that count. */
  get failingGroups(): number {
    return this.#failing.size;
  }

  /** When the first of the failed calls that count started; infinite without any. */
  get failsSince(): number {
    return this.#failing.first?.failsSince ?? Number.POSITIVE_INFINITY;
  }

  /** The one of them that started first. */
  get firstFailure(): Evidence | undefined {
    return this.#failing.first?.failed.first;
  }

  /** The last success; infinite while a socket streams. */
  get worksAt(): number {
    return this.#working.first?.worksAt ?? NEVER;
  }

  /** The last success in any other group. */
  worksAtBeside(key: Key): number {
    for (const group of this.#working.inOrder()) if (group.key !== key) return group.worksAt;
    return NEVER;
  }

  /** The number of failures in the group with this key. */
  failedIn(key: Key): number {
    return this.#groups.get(key)?.failed.size ?? 0;
  }

  isFailing(key: Key): boolean {
    const group = this.#groups.get(key);
    return group !== undefined && this.#failing.has(group);
  }

  add(evidence: Evidence): void {
    const { group, isAsked, proves } = evidence;
    this.servers += 1;
    if (isAsked) this.asked += 1;
    else group.blocked += 1;
    if (proves === 'works') {
      group.works.put(evidence, -workedAt(evidence));
      this.#working.put(group, -group.worksAt);
    } else if (proves === 'fails') {
      group.failed.put(evidence, evidence.outcome.startedAt);
      for (const latest of [group.latest, this.#latest]) latest.added(evidence);
      if (!this.#isExplained(group.key)) {
        this.failed += 1;
        this.#failing.put(group, group.failsSince);
      }
    }
  }

  remove(evidence: Evidence): void {
    const { group, isAsked, proves } = evidence;
    this.servers -= 1;
    if (isAsked || group.isForgotten) this.asked -= 1;
    else group.blocked -= 1;
    if (group.isForgotten) return;
    if (proves === 'works') {
      group.works.delete(evidence);
      if (group.works.size > 0) this.#working.put(group, -group.worksAt);
      else this.#working.delete(group);
    } else if (proves === 'fails') this.drop(evidence);
    this.#forgetIfEmpty(group);
  }

  /** The failure counts no longer, though it stays the server's last outcome. */
  drop(evidence: Evidence): void {
    const { group } = evidence;
    if (!group.failed.delete(evidence)) return;
    for (const latest of [group.latest, this.#latest]) latest.removed(evidence);
    if (!this.#failing.has(group)) return;
    this.failed -= 1;
    if (group.failed.size > 0) this.#failing.put(group, group.failsSince);
    else this.#failing.delete(group);
  }

  /** Failures, or those with this key, no longer count, but stay the servers' last outcomes. */
  excuse(...keys: readonly [] | readonly [Key]): void {
    const groups = keys.length === 0 ? this.#groups.values() : [this.#groups.get(keys[0])];
    for (const group of groups) {
      if (group === undefined || group.failed.size === 0) continue;
      if (this.#failing.delete(group)) this.failed -= group.failed.size;
      group.excuse();
      this.#latest.groupEmptied(group);
      this.#forgetIfEmpty(group);
    }
  }

  /** The outcomes of all servers are forgotten, except those with the key that is kept. */
  forget(kept: Key): void {
    for (const group of this.#groups.values()) {
      if (group.key === kept) continue;
      group.isForgotten = true;
      this.asked += group.blocked;
      if (this.#failing.has(group)) this.failed -= group.failed.size;
      this.#latest.groupEmptied(group);
      this.#groups.delete(group.key);
    }
    this.#working = new Ranking();
    this.#failing = new Ranking();
    for (const group of this.#groups.values()) {
      if (group.works.size > 0) this.#working.put(group, -group.worksAt);
      if (group.failed.size > 0 && !this.#isExplained(group.key)) this.#failing.put(group, group.failsSince);
    }
  }

  /** Whether something else explains the failures of the group with this key has changed. */
  explanationChanged(key: Key): void {
    const group = this.#groups.get(key);
    if (group === undefined || group.failed.size === 0) return;
    const isCounted = this.#failing.has(group);
    const isExplained = this.#isExplained(key);
    if (isCounted && isExplained) {
      this.#failing.delete(group);
      this.failed -= group.failed.size;
    } else if (!isCounted && !isExplained) {
      this.#failing.put(group, group.failsSince);
      this.failed += group.failed.size;
    }
  }

  /**
   * The problem of the latest failure that counts. Looks at all of them only if that was removed.
   */
  newestProblem(): Problem | undefined {
    const { evidence } = this.#latest;
    if (evidence !== undefined && this.#failing.has(evidence.group)) return evidence.outcome.problem;
    return newestOf(this.#failing.items);
  }

  /** The same of one group. */
  newestProblemIn(group: Group): Problem | undefined {
    return group.latest.evidence?.outcome.problem ?? newestOf([group]);
  }

  /** Nodes come and go. */
  #forgetIfEmpty(group: Group): void {
    if (group.isEmpty && this.#groups.get(group.key) === group) this.#groups.delete(group.key);
  }
}

function newestOf(groups: Iterable<Group>): Problem | undefined {
  let newest: Outcome | undefined;
  for (const { failed } of groups)
    for (const { outcome } of failed.items)
      if (newest === undefined || outcome.at > newest.at) newest = outcome;
  return newest?.problem;
}

function workedAt({ outcome }: Evidence): number {
  return outcome.streams === true ? Number.POSITIVE_INFINITY : outcome.at;
}
