// Derives which of a panel's nodes are up from their servers and problems; pure.

import { CAUSES } from '../diagnosis/causes.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import type { NodeReading, ProblemReading } from '../domain/reading.ts';
import type { CollectionStatus } from '../domain/snapshot.ts';

/** The facts about a server that concern its node. */
interface ServerOfNode {
  readonly node: string | undefined;
  readonly status: Pick<CollectionStatus, 'problem'>;
  isFresh(now: number): boolean;
}

/**
 * The state of a panel's nodes; pure. A node is down if it has a problem and none of its servers is
 * monitored. While its servers are polled, a node with a problem, such as failing sockets, is up.
 */
export function nodeReadings(
  servers: readonly ServerOfNode[],
  nodeProblem: (node: string) => ProblemReading | undefined,
  now: number,
): readonly NodeReading[] {
  const nodes = new Map<string, { observed: boolean; readonly lost: Map<CauseCode, number> }>();
  for (const server of servers) {
    const { node } = server;
    if (node === undefined) continue;
    const known = nodes.get(node) ?? { observed: false, lost: new Map<CauseCode, number>() };
    nodes.set(node, known);
    if (server.isFresh(now)) known.observed = true;
    else count(known.lost, server.status.problem);
  }
  return [...nodes].map(([name, { observed, lost }]) => {
    const problem = nodeProblem(name);
    const up = observed || problem === undefined;
    return { name, up, problem, lost: lost.size > 0 ? lost : undefined };
  });
}

/** Counts a server by the cause of its problem, if only its node can cause it. */
function count(lost: Map<CauseCode, number>, problem: Problem | undefined): void {
  if (problem === undefined || CAUSES[problem.cause].scope !== 'node') return;
  lost.set(problem.cause, (lost.get(problem.cause) ?? 0) + 1);
}
