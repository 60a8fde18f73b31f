// Notes when each problem of a panel's fleet began.

import type { Problem } from '../domain/problems.ts';
import type { ProblemReading } from '../domain/reading.ts';

/**
 * The problems at the instant `now`. A problem keeps its beginning as long as its cause exists,
 * even if its details change.
 */
export function datedProblems(
  found: readonly Problem[],
  before: readonly ProblemReading[],
  now: number,
): readonly ProblemReading[] {
  const began = new Map(before.map(({ cause, since }) => [cause, since]));
  return found.map((problem) => ({ ...problem, since: began.get(problem.cause) ?? now }));
}
