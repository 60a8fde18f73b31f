import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problem.ts';
import { PathProblems } from '../../../src/panel/path-problems.ts';

describe('a listing that fails while servers answer', () => {
  it.each([
    ['key_refused', 'listing_refused'],
    ['challenge_page', 'challenge_page'],
  ] as const)('%s is told as %s, once', (cause, told) => {
    const paths = new PathProblems();
    const problem: Problem = { cause, detail: 'GET /api/client answered 403' };
    paths.failed('listing', 'panel', problem);
    expect(paths.settle(3)).toEqual([['listing', { ...problem, cause: told }]]);
    expect(paths.problems).toEqual([{ ...problem, cause: told }]);
    paths.failed('listing', 'panel', problem);
    expect(paths.settle(3)).toEqual([]);
    expect(paths.worked('listing')).toBe(true);
    expect(paths.problems).toEqual([]);
  });
});
