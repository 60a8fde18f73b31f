import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const PAGE = readFileSync('docs/threat-model.md', 'utf8');

/** The tests that the page names: a file, followed by the names of the suites and the test. */
const named = [...PAGE.matchAll(/`(test\/[^`]+)`/g)].map(([, reference = '']) => reference);

it('the threat model refers to a test for every claim', () => {
  const rows = PAGE.split('\n').filter((line) => /^\| (?!It can't|They can't|---)/.test(line));
  expect(rows).not.toEqual([]);
  expect(rows.filter((row) => !/`test\/[^`]+ › [^`]+` \|$/.test(row))).toEqual([]);
});

// These tests also run: the linter rejects skipped and empty tests, and with `CI=true`, a test that
// skips itself fails.
it.each([...new Set(named)])('the test that the threat model refers to exists: %s', (reference) => {
  const [file = '', ...names] = reference.split(' › ');
  const source = readFileSync(file, 'utf8');
  expect(names.filter((name) => !source.includes(name))).toEqual([]);
});

it('SECURITY.md has at most 1,000 words', () => {
  expect(readFileSync('SECURITY.md', 'utf8').split(/\s+/).length).toBeLessThanOrEqual(1_000);
});
