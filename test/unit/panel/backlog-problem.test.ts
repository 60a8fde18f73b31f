import { expect, it } from 'vitest';
import { backlogProblem } from '../../../src/panel/backlog-problem.ts';

it.each([
  ['no backlog', undefined, undefined],
  ['a backlog of less than 90 s, as of a cold start', { calls: 500, since: 10_001 }, undefined],
  ['a backlog of 90 s', { calls: 500, since: 10_000 }, '500 calls waiting, 33.3 per minute allowed'],
])('%s is a problem only after a while', (_what, backlog, detail) => {
  const problem = backlogProblem(backlog, 100 / 3, 100_000);
  expect(problem?.detail.split(':')[0]).toBe(detail);
  expect(problem?.cause).toBe(detail && 'calls_backlog');
  expect(problem?.since).toBe(detail && backlog?.since);
});

it('the minutes that a backlog takes are rounded up', () => {
  expect(backlogProblem({ calls: 61, since: 0 }, 60, 90_000)?.detail).toMatch(/about 2 min left$/);
});
