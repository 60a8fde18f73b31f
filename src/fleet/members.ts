import { setImmediate as nextTurn } from 'node:timers/promises';
import { identityOf, isSameServer, type ServerTarget } from '../domain/server.ts';
import type { Session } from '../session/session.ts';
import type { SessionContext } from '../session/session-ports.ts';
import type { ServerRecord } from './server-record.ts';

/** One server of a fleet. */
export interface Member {
  readonly record: ServerRecord;
  readonly session: Session;
}

/** How many servers a new list added, removed, changed and left unchanged. */
export type TargetChanges = Readonly<Record<'added' | 'removed' | 'changed' | 'unchanged', number>>;

/** The effect of a new list on the members. */
export interface Regrouping {
  /** In the list's order. */
  readonly members: readonly Member[];
  /** Those that are no longer in the list. */
  readonly left: readonly Member[];
  readonly changes: TargetChanges;
  /** The members, their order, or how they may be monitored changed. */
  readonly isRegrouped: boolean;
}

/** Sessions that are notified between two turns of the event loop: less work than a scrape, which should get most of the time. */
const SLICE = 32;

export interface MembersOptions {
  readonly random: () => number;
  readonly create: (target: ServerTarget) => Member;
  readonly surroundings: SessionContext['surroundings'];
  /** The list changed: called before sessions of new servers begin and those of removed ones end. */
  readonly changed: () => void;
}

/** The servers of one panel and their sessions. */
export class Members {
  readonly #options: MembersOptions;
  #members: readonly Member[] = [];
  #records: readonly ServerRecord[] = [];
  readonly #removed = new WeakSet<Session>();
  /** Sessions whose sockets close. */
  readonly #closing = new Set<Promise<void>>();
  #hasBegun = false;
  #isStopped = false;

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  /** The servers in the order of the list; a new array whenever servers were added, removed or moved. */
  get records(): readonly ServerRecord[] {
    return this.#records;
  }

  /**
   * Monitors these servers from now on. A server that was already monitored keeps its session, socket and record, even if its
   * description changed.
   */
  observe(targets: readonly ServerTarget[]): TargetChanges {
    const before = new Set(this.#members);
    const { members, left, changes, isRegrouped } = regroup(this.#members, targets, this.#options.create);
    if (!isRegrouped || this.#isStopped) return changes;
    this.#members = members;
    this.#records = members.map(({ record }) => record);
    this.#options.changed();
    for (const member of left) {
      this.#removed.add(member.session);
      this.#end(member);
    }
    if (!this.#hasBegun) return changes;
    this.#start(members.filter((member) => !before.has(member)));
    void this.#show(members.filter((member) => before.has(member)));
    return changes;
  }

  /** Begins the sessions, and those of servers that are added later. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#start(this.#members);
  }

  /** What these sessions see changed. */
  changed(isConcerned: (record: ServerRecord) => boolean = () => true): void {
    if (this.#hasBegun) void this.#show(this.#members.filter(({ record }) => isConcerned(record)));
  }

  /**
   * Begins again with the servers that were refused, or with all. `closeCircuits` is called while they rest: before, closed circuits would
   * wake them, and a call that is withdrawn counts as a call for a token; after, they would still be held.
   */
  retry(whom: 'refused' | 'all', closeCircuits: () => void): void {
    const members = this.#hasBegun
      ? this.#members.filter((member) => whom === 'all' || isRefused(member))
      : [];
    for (const member of members) this.#end(member);
    closeCircuits();
    this.#start(members);
  }

  /** Resolves when all sockets are closed. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const member of this.#members) this.#end(member);
    await Promise.all(this.#closing);
  }

  /** Starts sessions in random order, so that an exporter in a restart loop doesn't always begin with the same servers. */
  #start(members: readonly Member[]): void {
    void this.#show(shuffled(members, this.#options.random));
  }

  /** Shows many sessions what is: ten thousand at a time would delay sockets and scrapes for 300 ms. */
  async #show(members: readonly Member[]): Promise<void> {
    for (const [index, { session, record }] of members.entries()) {
      if (index > 0 && index % SLICE === 0) await nextTurn();
      if (this.#isStopped) return;
      if (!this.#removed.has(session)) session.sees(this.#options.surroundings(record, true));
    }
  }

  #end({ session, record }: Member): void {
    session.sees(this.#options.surroundings(record, false));
    const { closing } = session;
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }
}

function isRefused({ record: { status } }: Member): boolean {
  return status.condition === 'blocked' || status.condition === 'failing';
}

/**
 * Updates members to a list of servers: remaining ones get their new target, and new ones are created. If a server is listed
 * twice, the first entry counts.
 */
export function regroup(
  current: readonly Member[],
  targets: readonly ServerTarget[],
  create: (target: ServerTarget) => Member,
): Regrouping {
  const leaving = new Map(current.map((member) => [identityOf(member.record.target), member]));
  const members = new Map<string, Member>();
  const counts = { added: 0, changed: 0, unchanged: 0 };
  let isRegrouped = false;
  for (const target of targets) {
    const identity = identityOf(target);
    if (members.has(identity)) continue;
    const found = leaving.get(identity);
    if (found === undefined || !isSameServer(found.record.target, target)) {
      members.set(identity, create(target));
      counts.added += 1;
      continue;
    }
    leaving.delete(identity);
    isRegrouped ||= found !== current[members.size] || !isObservedAlike(found.record.target, target);
    members.set(identity, found);
    counts[updateTarget(found, target)] += 1;
  }
  const left = [...leaving.values()];
  return {
    members: [...members.values()],
    left,
    changes: { ...counts, removed: left.length },
    isRegrouped: isRegrouped || counts.added > 0 || left.length > 0,
  };
}

// Without a change the old object is kept, so that everything derived from it, such as its labels, stays valid.
function updateTarget({ record }: Member, target: ServerTarget): 'changed' | 'unchanged' {
  if (isSame(record.target, target)) return 'unchanged';
  record.target = target;
  return 'changed';
}

/** Does a session treat both the same way? */
function isObservedAlike(one: ServerTarget, other: ServerTarget): boolean {
  return one.mode === other.mode && one.blocked === other.blocked && one.node === other.node;
}

/** Do both contain the same values? A missing key is like an undefined one. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isObject(one) || !isObject(other)) return false;
  for (const key in one) if (!isSame(one[key], other[key])) return false;
  for (const key in other) if (other[key] !== undefined && !(key in one)) return false;
  return true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** The items in random order (Fisher and Yates). */
function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  const order = [...items];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const chosen = Math.floor(random() * (last + 1));
    const [one, other] = [order[last], order[chosen]];
    if (one === undefined || other === undefined) continue;
    order[chosen] = one;
    order[last] = other;
  }
  return order;
}
