// Updates the members of a fleet to a new list of servers; pure.

import { isDeepStrictEqual } from 'node:util';
import type { ServerTarget } from '../domain/server.ts';
import { isSameServer, shortId } from '../domain/server-ids.ts';
import type { Member } from './members.ts';

/**
 * Updates members to a list of servers, in its order: known ones get their new target, and new ones
 * are created. If a server is listed twice, the first entry applies. Also returns whether anything
 * changed.
 */
export function regroup(
  current: readonly Member[],
  targets: readonly ServerTarget[],
  create: (target: ServerTarget) => Member,
) {
  const isUnchanged =
    targets.length === current.length &&
    targets.every((target, index) => target === current[index]?.record.target);
  if (isUnchanged) return { members: current, isRegrouped: false };
  const known = new Map(current.map((member) => [shortId(member.record.target), member]));
  const members = new Map<string, Member>();
  let isRegrouped = false;
  for (const target of targets) {
    const identity = shortId(target);
    if (members.has(identity)) continue;
    const found = known.get(identity);
    const member = found && isSameServer(found.record.target, target) ? found : create(target);
    const isChanged = !isDeepStrictEqual(member.record.target, target);
    isRegrouped ||= isChanged || member !== current[members.size];
    members.set(identity, member);
    // An unchanged target stays the same object, so that everything derived from it, such as
    // labels, stays valid.
    if (isChanged) member.record.target = target;
  }
  return { members: [...members.values()], isRegrouped: isRegrouped || members.size < current.length };
}
