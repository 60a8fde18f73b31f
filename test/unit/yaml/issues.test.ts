import { expect, it } from 'vitest';
import { type ConfigIssue, formatIssues } from '../../../src/yaml/issues.ts';

it.each<[Partial<ConfigIssue>, string]>([
  [{}, 'f.yaml: wrong'],
  [{ path: 'panels[0].url' }, 'f.yaml: panels[0].url: wrong'],
  [{ line: 7, column: 8 }, 'f.yaml:7:8: wrong'],
  [{ line: 7, column: 8, path: 'panels' }, 'f.yaml:7:8: panels: wrong'],
  [{ line: 7 }, 'f.yaml:7:1: wrong'],
])('an issue with %j is a line', (changes, line) => {
  expect(formatIssues([{ file: 'f.yaml', path: '', message: 'wrong', ...changes }])).toBe(line);
});

it('several issues are several lines, without one at the end', () => {
  const issue = { file: 'f.yaml', path: '', message: 'wrong' };
  expect([formatIssues([]), formatIssues([issue, issue])]).toEqual(['', 'f.yaml: wrong\nf.yaml: wrong']);
});
