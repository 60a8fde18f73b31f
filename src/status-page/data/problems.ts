import { CAUSES } from '../../diagnosis/causes.ts';
import type { CauseCode, Problem } from '../../domain/problem.ts';
import type { Condition, NodeReading } from '../../domain/reading.ts';
import type { CauseWords, ExplainedProblem, NodeDown } from './protocol.ts';
import { remedyWhile } from './words.ts';

/** The page's texts for each cause; a server's cause is sent as an index into this list. */
export const CAUSE_WORDS: readonly CauseWords[] = Object.values(CAUSES).map(
  ({ code, title, remedy, severity }) => ({ cause: code, title, remedy, severity }),
);

const PLACES: ReadonlyMap<CauseCode, number> = new Map(CAUSE_WORDS.map(({ cause }, place) => [cause, place]));

/** The index of a cause in `CAUSE_WORDS`; −1 for none. */
export function placeOf(cause: CauseCode | undefined): number {
  return (cause && PLACES.get(cause)) ?? -1;
}

/** A problem of a panel or node with the texts of its cause. */
export function explained({ cause, detail }: Problem): ExplainedProblem {
  const { title, remedy, severity } = CAUSES[cause];
  return { cause, title, detail, remedy, severity };
}

/** A server's problem with the texts of its cause; undefined if it has none. */
export function explainedOf({
  condition,
  problem,
}: {
  readonly condition: Condition;
  readonly problem?: Problem | undefined;
}): ExplainedProblem | undefined {
  if (problem === undefined) return undefined;
  const words = explained(problem);
  return { ...words, remedy: remedyWhile(condition, words) };
}

/** The nodes whose servers can't be observed. */
export function nodesDown(nodes: readonly NodeReading[]): readonly NodeDown[] {
  return nodes
    .filter(({ up }) => !up)
    .map(({ name, problem }) => ({ node: name, problem: problem && explained(problem) }));
}
