// Finds out when the reason for a stored failure last ended.

import type { Problem } from '../domain/problems.ts';
import { NEVER } from '../domain/time.ts';
import { lastingRefusal, mayBeOfPanel } from './lasting-refusal.ts';
import type { Surroundings, WayState } from './surroundings.ts';

/** The last time at which a stored failure became obsolete. */
export function outdatedAt(problem: Problem | undefined, way: WayState, seen: Surroundings): number {
  const { panelJudgedAt, nodeJudgedAt } = way;
  const refused = lastingRefusal(problem);
  const ends = [seen.accessedAnewAt];
  if (mayBeOfPanel(refused?.reason)) ends.push(panelJudgedAt);
  // What failed for all of a node, or for a moment: another server of the node works again.
  if (refused?.reason === undefined) ends.push(nodeJudgedAt, recoveredOnNode(problem, seen));
  // A state that the server list shows as well: the response that contained it may be outdated.
  else if (!mayBeOfPanel(refused.reason) && refused.reason !== 'forbidden') ends.push(seen.listedAt);
  // Another server with the same refusal works, and this one is listed as that one is.
  if (refused !== undefined && problem !== undefined && seen.target.node !== undefined)
    ends.push(seen.recovered.get(problem.cause) ?? NEVER);
  return Math.max(...ends);
}

function recoveredOnNode(problem: Problem | undefined, seen: Surroundings): number {
  return (problem && seen.recoveredOnNode.get(problem.cause)) ?? NEVER;
}
