import { identityOf, isSameServer, type SampleSource, type ServerTarget } from '../domain/server.ts';
import type { Session } from '../session/session.ts';
import type { Role, SessionOwner, Standing, TurnEnd } from '../session/session-ports.ts';
import type { ServerRecord } from './server-record.ts';

/** What a member needs from its fleet. */
export interface MemberOwner {
  createSession(record: ServerRecord, owner: SessionOwner): Session;
  /** How often servers whose sockets fail are polled, in milliseconds. */
  fallbackMs(): number;
  /** The member's standing in the plan changed. */
  standingChanged(): void;
  /** The member can be observed again; this may hold for others of its node. */
  recovered(member: Member, way: SampleSource): void;
}

/** One server of a fleet: its record and, from its first role on, its session. */
export class Member implements SessionOwner {
  readonly record: ServerRecord;
  readonly #owner: MemberOwner;
  #session: Session | undefined;
  #standing: Standing = 'planned';
  /** The current plan gives it no socket. */
  #isPolled = false;

  constructor(record: ServerRecord, owner: MemberOwner) {
    this.record = record;
    this.#owner = owner;
  }

  /** Its standing in the plan. */
  get standing(): Standing {
    return this.#standing;
  }

  /** Is its socket not open yet? */
  get isConnecting(): boolean {
    const { target, status } = this.record;
    const isStreamed = target.mode !== 'poll' && target.blocked === undefined;
    return isStreamed && !this.#isPolled && this.#standing === 'planned' && status.condition !== 'streaming';
  }

  standingChanged(standing: Standing): void {
    this.#standing = standing;
    this.#owner.standingChanged();
  }

  recovered(way: SampleSource): void {
    this.#owner.recovered(this, way);
  }

  assume(role: Role): void {
    this.#isPolled = role.type === 'poll';
    this.#session ??= this.#owner.createSession(this.record, this);
    this.#session.assume(role);
  }

  beginTurn(onOver: (end: TurnEnd) => void): void {
    this.assume({ type: 'turn', pollIntervalMs: this.#owner.fallbackMs(), onOver });
  }

  waitForTurn(): void {
    this.#session ??= this.#owner.createSession(this.record, this);
    this.#session.waitForTurn();
  }

  /** Another server of its node can be observed again through this source. */
  followNode(way: SampleSource): void {
    this.#session?.wakeNode(way);
  }

  /** The panel's health changed; `isRelieved` if the reason why servers could not be observed may be gone. */
  followHealth(isRelieved: boolean): void {
    this.#session?.refresh();
    if (isRelieved) this.#session?.wake();
  }

  /** Resolves when the socket is closed. */
  async stop(): Promise<void> {
    if (this.#session === undefined) this.record.setCollection({ condition: 'stopped' }, 'none');
    else await this.#session.stop();
  }

  /** Discards the session's state, so that the next role starts afresh. Resolves when its socket is closed. */
  async reset(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#standing = 'planned';
    this.#isPolled = false;
    await session?.stop();
  }
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
  /** The members, their order, or how they may be observed changed. */
  readonly isRegrouped: boolean;
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
  return isSameRoster(current, targets)
    ? updateTargets(current, targets)
    : rearrange(current, targets, create);
}

// Most listings change nothing, and then ten thousand ids need no map.
function isSameRoster(current: readonly Member[], targets: readonly ServerTarget[]): boolean {
  return (
    current.length === targets.length &&
    current.every(({ record: { target } }, index) => {
      const next = targets[index];
      return next !== undefined && next.id === target.id && isSameServer(target, next);
    })
  );
}

function updateTargets(current: readonly Member[], targets: readonly ServerTarget[]): Regrouping {
  const counts = { changed: 0, unchanged: 0 };
  let isRegrouped = false;
  for (const [index, target] of targets.entries()) {
    const member = current[index];
    if (member === undefined) continue;
    if (!isObservedAlike(member.record.target, target)) isRegrouped = true;
    counts[updateTarget(member, target)] += 1;
  }
  return { members: current, left: [], changes: { added: 0, removed: 0, ...counts }, isRegrouped };
}

function rearrange(
  current: readonly Member[],
  targets: readonly ServerTarget[],
  create: (target: ServerTarget) => Member,
): Regrouping {
  const leaving = new Map(current.map((member) => [identityOf(member.record.target), member]));
  const members = new Map<string, Member>();
  const counts = { added: 0, changed: 0, unchanged: 0 };
  let rolesChanged = false;
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
    members.set(identity, found);
    if (!isObservedAlike(found.record.target, target)) rolesChanged = true;
    counts[updateTarget(found, target)] += 1;
  }
  const ordered = [...members.values()];
  const left = [...leaving.values()];
  return {
    members: ordered,
    left,
    changes: { ...counts, removed: left.length },
    isRegrouped: rolesChanged || !isSameOrder(current, ordered),
  };
}

// Without a change the old object is kept, so that everything derived from it, such as its labels, stays valid.
function updateTarget({ record }: Member, target: ServerTarget): 'changed' | 'unchanged' {
  if (sameTarget(record.target, target)) return 'unchanged';
  record.target = target;
  return 'changed';
}

/** Does the plan treat both the same way? */
function isObservedAlike(one: ServerTarget, other: ServerTarget): boolean {
  return one.mode === other.mode && one.blocked === other.blocked;
}

function isSameOrder(one: readonly Member[], other: readonly Member[]): boolean {
  return one.length === other.length && one.every((member, index) => member === other[index]);
}

type Scalar = Exclude<keyof ServerTarget, 'labels' | 'limits' | 'query'>;

// An object, so that the compiler reports a field that is missing here.
const SCALARS = Object.keys({
  panel: true,
  id: true,
  name: true,
  expect: true,
  mode: true,
  uuid: true,
  node: true,
  egg: true,
  address: true,
  allocation: true,
  blocked: true,
  withoutBackups: true,
} satisfies Record<Scalar, true>) as readonly Scalar[];

/** Are both descriptions of a server the same? A listing compares ten thousand servers at once. */
function sameTarget(one: ServerTarget, other: ServerTarget): boolean {
  if (one === other) return true;
  for (const key of SCALARS) if (one[key] !== other[key]) return false;
  return (
    sameEntries(one.labels, other.labels) &&
    sameEntries(one.limits, other.limits) &&
    sameEntries(one.query ?? NOTHING, other.query ?? NOTHING)
  );
}

const NOTHING = {};

function sameEntries(one: object, other: object): boolean {
  if (one === other) return true;
  const keys = Object.keys(one) as (keyof typeof one)[];
  if (keys.length !== Object.keys(other).length) return false;
  for (const key of keys) if (one[key] !== other[key]) return false;
  return true;
}
