// Finds the servers that an event concerns, without a search through all of them.

import type { CauseCode } from '../domain/problems.ts';
import type { Condition } from '../domain/snapshot.ts';
import type { SessionRecord } from '../session/session-ports.ts';
import type { Member } from './members.ts';

/** The facts by which events select members. */
interface MemberFacts {
  readonly id: string;
  readonly node: string | undefined;
  readonly condition: Condition;
  readonly cause: CauseCode | undefined;
  readonly isOnlyPolled: boolean;
}

/** Groups of members with a common fact. A group without members is absent. */
class Groups<Fact> {
  readonly #groups = new Map<Fact, Set<Member>>();

  of(fact: Fact): ReadonlySet<Member> {
    return this.#groups.get(fact) ?? NOBODY;
  }

  get size(): number {
    return this.#groups.size;
  }

  move(member: Member, from: Fact | undefined, to: Fact | undefined): void {
    if (from === to) return;
    if (from !== undefined) {
      const left = this.#groups.get(from);
      left?.delete(member);
      if (left?.size === 0) this.#groups.delete(from);
    }
    if (to === undefined) return;
    const joined = this.#groups.get(to);
    if (joined === undefined) this.#groups.set(to, new Set([member]));
    else joined.add(member);
  }
}

const NOBODY: ReadonlySet<Member> = new Set();

/** The members with running sessions, by server, node, condition and cause. */
export class MemberIndex {
  readonly #facts = new Map<SessionRecord, { readonly member: Member; readonly facts: MemberFacts }>();
  readonly #byId = new Map<string, Member>();
  readonly #byNode = new Groups<string>();
  readonly #byCause = new Groups<CauseCode>();
  readonly #byCondition = new Groups<Condition>();
  /** Servers that are only polled, and haven't been polled yet. */
  readonly #unpolled = new Set<Member>();

  add(member: Member): void {
    this.#become(member, this.#facts.get(member.record)?.facts, readFacts(member));
  }

  remove(member: Member): void {
    this.#become(member, this.#facts.get(member.record)?.facts, undefined);
  }

  /**
   * Updates the groups after a member's description, node or condition may have changed. Others are
   * ignored.
   */
  update(record: SessionRecord): void {
    const known = this.#facts.get(record);
    if (known === undefined) return;
    const { member, facts } = known;
    const { target, node, status } = member.record;
    const isSame =
      facts.condition === status.condition &&
      facts.cause === status.problem?.cause &&
      facts.node === node &&
      facts.id === target.id &&
      facts.isOnlyPolled === (target.mode === 'poll');
    if (!isSame) this.#become(member, facts, readFacts(member));
  }

  withId(id: string): Member | undefined {
    return this.#byId.get(id);
  }

  onNode(node: string): ReadonlySet<Member> {
    return this.#byNode.of(node);
  }

  /** The number of nodes with members. */
  get nodes(): number {
    return this.#byNode.size;
  }

  /** The members that have a problem with this cause. */
  withCause(cause: CauseCode): ReadonlySet<Member> {
    return this.#byCause.of(cause);
  }

  inCondition(condition: Condition): ReadonlySet<Member> {
    return this.#byCondition.of(condition);
  }

  /** The number of members that are polled, or will be once their first call starts. */
  get polled(): number {
    return this.inCondition('polling').size + this.#unpolled.size;
  }

  #become(member: Member, from: MemberFacts | undefined, to: MemberFacts | undefined): void {
    if (to === undefined) this.#facts.delete(member.record);
    else this.#facts.set(member.record, { member, facts: to });
    if (from !== undefined && from.id !== to?.id && this.#byId.get(from.id) === member)
      this.#byId.delete(from.id);
    if (to !== undefined) this.#byId.set(to.id, member);
    this.#byNode.move(member, from?.node, to?.node);
    this.#byCause.move(member, from?.cause, to?.cause);
    this.#byCondition.move(member, from?.condition, to?.condition);
    if (to?.isOnlyPolled === true && to.condition === 'waiting') this.#unpolled.add(member);
    else this.#unpolled.delete(member);
  }
}

function readFacts({ record }: Member): MemberFacts {
  const { target, node, status } = record;
  return {
    id: target.id,
    node,
    condition: status.condition,
    cause: status.problem?.cause,
    isOnlyPolled: target.mode === 'poll',
  };
}
