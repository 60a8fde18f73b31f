// Which of a panel's nodes are up, judged by their servers and by their problems; pure.

import type { NodeReading, ProblemReading } from '../domain/reading.ts';

/** The parts of a server's reading that concern its node. */
interface ServerOfNode {
  readonly node: string | undefined;
  isFresh(now: number): boolean;
}

/**
 * The state of a panel's nodes; pure. A node is down if it has a problem and none of its servers is
 * monitored; it may have one, such as sockets that fail, while its servers are polled.
 */
export function nodeReadings(
  servers: readonly ServerOfNode[],
  nodeProblem: (node: string) => ProblemReading | undefined,
  now: number,
): readonly NodeReading[] {
  const isObserved = new Map<string, boolean>();
  for (const server of servers) {
    const { node } = server;
    if (node !== undefined) isObserved.set(node, isObserved.get(node) === true || server.isFresh(now));
  }
  return [...isObserved].map(([name, observed]) => {
    const problem = nodeProblem(name);
    return { name, up: observed || problem === undefined, problem };
  });
}
