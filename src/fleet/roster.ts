import type { ServerTarget } from '../domain/server.ts';
import { identityOf, sameTarget } from './identity.ts';
import type { Member } from './member.ts';

/** How many servers a new list brought, took, described anew and left as they were. */
export type TargetChanges = Readonly<Record<'added' | 'removed' | 'changed' | 'unchanged', number>>;

/** What a new list makes of the members. */
export interface Regrouping {
  /** In the list's order. */
  readonly members: readonly Member[];
  /** Those that are no longer in the list. */
  readonly left: readonly Member[];
  readonly changes: TargetChanges;
  /** Who is there, in which order, or how they may be observed is not as it was. */
  readonly isRegrouped: boolean;
}

/**
 * Brings members in line with a list of servers: those that stay get their new target, new ones are created. Of a server that is
 * listed twice the first entry counts.
 */
export function regroup(
  current: readonly Member[],
  targets: readonly ServerTarget[],
  create: (target: ServerTarget) => Member,
): Regrouping {
  return isSameRoster(current, targets) ? redescribe(current, targets) : rearrange(current, targets, create);
}

// Most listings bring nothing new, and then ten thousand ids need no map.
function isSameRoster(current: readonly Member[], targets: readonly ServerTarget[]): boolean {
  return (
    current.length === targets.length &&
    current.every(({ record: { target } }, index) => {
      const next = targets[index];
      return next !== undefined && next.id === target.id && isSameServer(target, next);
    })
  );
}

function redescribe(current: readonly Member[], targets: readonly ServerTarget[]): Regrouping {
  const counts = { changed: 0, unchanged: 0 };
  let isRegrouped = false;
  for (const [index, target] of targets.entries()) {
    const member = current[index];
    if (member === undefined) continue;
    if (!isObservedAlike(member.record.target, target)) isRegrouped = true;
    counts[describeAnew(member, target)] += 1;
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
    counts[describeAnew(found, target)] += 1;
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

// The old object stays where nothing changed: what was made of it, as its labels, is still good.
function describeAnew({ record }: Member, target: ServerTarget): 'changed' | 'unchanged' {
  if (sameTarget(record.target, target)) return 'unchanged';
  record.target = target;
  return 'changed';
}

/** Does the plan treat both the same? */
function isObservedAlike(one: ServerTarget, other: ServerTarget): boolean {
  return one.mode === other.mode && one.blocked === other.blocked;
}

// A panel gives the same short id to no two servers at a time, but it may to one after the other.
function isSameServer(one: ServerTarget, other: ServerTarget): boolean {
  return one.uuid === undefined || other.uuid === undefined || one.uuid === other.uuid;
}

function isSameOrder(one: readonly Member[], other: readonly Member[]): boolean {
  return one.length === other.length && one.every((member, index) => member === other[index]);
}
