import { identityOf, isSameServer, type ServerTarget } from '../domain/server.ts';
import type { Session } from '../session/session.ts';
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

// Most server lists change nothing, and then ten thousand ids need no map.
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

type Scalar = Exclude<keyof ServerTarget, 'labels' | 'limits' | 'query' | 'otherPorts'>;

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
  namedPort: true,
  blocked: true,
  withoutBackups: true,
} satisfies Record<Scalar, true>) as readonly Scalar[];

/** Are both descriptions of a server the same? A server list compares ten thousand servers at once. */
function sameTarget(one: ServerTarget, other: ServerTarget): boolean {
  if (one === other) return true;
  for (const key of SCALARS) if (one[key] !== other[key]) return false;
  return (
    sameEntries(one.labels, other.labels) &&
    sameEntries(one.limits, other.limits) &&
    sameEntries(one.query ?? NOTHING, other.query ?? NOTHING) &&
    sameEntries(one.otherPorts ?? NOTHING, other.otherPorts ?? NOTHING)
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
