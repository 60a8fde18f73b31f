import { CAUSES } from '../../diagnosis/causes.ts';
import type { Problem } from '../../domain/problem.ts';
import type { NodeReading, Snapshot } from '../../domain/reading.ts';
import type { ExplainedProblem, NodeDown } from './protocol.ts';
import { remedyWhile } from './words.ts';

/** A problem of a panel or node with the texts of its cause. */
export function explained({ cause, detail }: Problem): ExplainedProblem {
  const { title, remedy, severity } = CAUSES[cause];
  return { cause, title, detail, remedy, severity };
}

/** A server's problem: why it can't be monitored, else why its game can't be queried. */
export function problemOf({
  problem,
  query_problem,
}: Pick<Snapshot, 'problem' | 'query_problem'>): Problem | undefined {
  return problem ?? query_problem;
}

/** A server's problem with the texts of its cause; undefined if it has none. */
export function explainedOf(server: Snapshot): ExplainedProblem | undefined {
  const problem = problemOf(server);
  if (problem === undefined) return undefined;
  const words = explained(problem);
  return { ...words, remedy: remedyWhile(server.condition, words) };
}

/** The nodes whose servers can't be monitored. */
export function nodesDown(nodes: readonly NodeReading[]): readonly NodeDown[] {
  return nodes
    .filter(({ up }) => !up)
    .map(({ name, problem }) => ({ node: name, problem: problem && explained(problem) }));
}
