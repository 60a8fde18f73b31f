// Determines when the reason for a stored failure last ended.

import { NEVER } from '../domain/clock.ts';
import type { Problem } from '../domain/problems.ts';
import { lastingRefusal, mayBeOfPanel } from './lasting-refusal.ts';
import type { ChannelState, Surroundings } from './surroundings.ts';

/** The last time at which a stored failure became obsolete. */
export function outdatedAt(problem: Problem | undefined, channel: ChannelState, seen: Surroundings): number {
  const { panelJudgedAt, nodeJudgedAt } = channel;
  const refused = lastingRefusal(problem);
  const ends = [seen.accessedAnewAt];
  if (mayBeOfPanel(refused?.reason)) ends.push(panelJudgedAt);
  // A failure of the whole node, or a temporary one, ends when another server of the node works.
  if (refused?.reason === undefined) ends.push(nodeJudgedAt, recoveredOnNode(problem, seen));
  // The server list contains this state, too, so a newer list makes the response obsolete.
  else if (!mayBeOfPanel(refused.reason) && refused.reason !== 'forbidden') ends.push(seen.listedAt);
  // Another server with the same refusal works again, and both are in the list, unless it couldn't
  // be read yet.
  const isListed = seen.target.node !== undefined || seen.listedAt === NEVER;
  if (refused !== undefined && problem !== undefined && isListed)
    ends.push(seen.recovered.get(problem.cause) ?? NEVER);
  return Math.max(...ends);
}

function recoveredOnNode(problem: Problem | undefined, seen: Surroundings): number {
  return (problem && seen.recoveredOnNode.get(problem.cause)) ?? NEVER;
}
