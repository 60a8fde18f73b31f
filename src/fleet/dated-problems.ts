// When each problem of a panel's fleet began.

import type { Problem } from '../domain/problems.ts';
import type { ProblemReading } from '../domain/reading.ts';

/**
 * The problems found at the instant `now`: one whose cause is among those found before began with
 * them, whatever its details are now.
 */
export function datedProblems(
  found: readonly Problem[],
  before: readonly ProblemReading[],
  now: number,
): readonly ProblemReading[] {
  const began = new Map(before.map(({ cause, since }) => [cause, since]));
  return found.map((problem) => ({ ...problem, since: began.get(problem.cause) ?? now }));
}
