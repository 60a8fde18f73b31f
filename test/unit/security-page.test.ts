import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { writtenTests } from '../support/written-tests.ts';

const PAGE = readFileSync('SECURITY.md', 'utf8');

/** The tests that the page names: a file, then the names of the suites and of the test. */
const named = [...PAGE.matchAll(/`(test\/[^`]+)`/g)].map(([, reference = '']) => reference);

/** Why a reference proves nothing: the test does not exist, or does not always run. */
function flawOf(reference: string, read = (file: string) => readFileSync(file, 'utf8')): string | undefined {
  const [file = '', ...names] = reference.split(' › ');
  if (names.length === 0) return 'it names no test';
  const tests = writtenTests(file, read(file)).filter(({ path }) =>
    path.some((_, start) => names.every((name, index) => path[start + index] === name)),
  );
  if (tests.length === 0) return 'there is no such test';
  return tests.find(({ flaw }) => flaw !== undefined)?.flaw;
}

describe('SECURITY.md', () => {
  it('names a test for every claim', () => {
    const rows = PAGE.split('\n').filter(
      (line) => line.startsWith('| ') && !/^\| (?:It|They) can't \|/.test(line),
    );
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.filter((row) => !/`test\/[^`]+ › [^`]+` \|$/.test(row))).toEqual([]);
  });

  it.each([...new Set(named)])('%s exists and always runs', (reference) => {
    const [file = ''] = reference.split(' › ');
    expect(existsSync(file)).toBe(true);
    expect(flawOf(reference)).toBeUndefined();
  });
});

describe('a reference to a test', () => {
  const BODY = `async () => { expect(1).toBe(1); }`;
  const flaw = (source: string, names = 'a suite › a test') => flawOf(`a.test.ts › ${names}`, () => source);

  it.each([
    ['without options', `describe('a suite', () => { it('a test', ${BODY}); });`],
    ['with rows', `describe.each([1])('a suite', () => { it.each([1])('a test', ${BODY}); });`],
    ['that needs a package', `describe.skipIf(!hasProxy)('a suite', () => { it('a test', ${BODY}); });`],
    ['from a row', `describe('a suite', () => { it.each([['a', 1], ['test', 2]])('a %s', ${BODY}); });`],
    ['with a timeout', `describe('a suite', { timeout: 5 }, () => { it('a test', ${BODY}, 9); });`],
  ])('is satisfied by a test %s', (_what, source) => {
    expect(flaw(source)).toBeUndefined();
    expect(flaw(source, 'a test')).toBeUndefined();
    expect(flaw(source, 'a suite')).toBeUndefined();
  });

  // Source texts that the checker must reject. Words such as skip, only and todo are data here: no test of this file
  // is skipped.
  it.each([
    ['is missing', `describe('a suite', () => { it('another test', ${BODY}); });`],
    ['has only part of the name', `describe('a suite', () => { it('a test of more', ${BODY}); });`],
    ['is in another suite', `describe('a suite', () => {}); it('a test', ${BODY});`],
    ['is in a comment', `describe('a suite', () => { /* it('a test', ${BODY}); */ });`],
    ['is in a string', `describe('a suite', () => { it('another', () => { expect('a test').toBe(1); }); });`],
    ['is skipped', `describe('a suite', () => { it.skip('a test', ${BODY}); });`],
    ['is skipped with its rows', `describe('a suite', () => { it.skip.each([1])('a test', ${BODY}); });`],
    ['is in a skipped suite', `describe.skip('a suite', () => { it('a test', ${BODY}); });`],
    ['is skipped on a condition', `describe('a suite', () => { it.skipIf(isSlow)('a test', ${BODY}); });`],
    ['is skipped by an option', `describe('a suite', () => { it('a test', { skip: true }, ${BODY}); });`],
    ['skips itself', `describe('a suite', () => { it('a test', ({ skip }) => { skip(); }); });`],
    ['is marked todo', `describe('a suite', () => { it.todo('a test'); });`],
    ['has no body', `describe('a suite', () => { it('a test'); });`],
    ['has an empty body', `describe('a suite', () => { it('a test', () => {}); });`],
    ['is expected to fail', `describe('a suite', () => { it.fails('a test', ${BODY}); });`],
    ['is marked only', `describe('a suite', () => { it.only('a test', ${BODY}); });`],
    [
      'is beside a test marked only',
      `describe('a suite', () => { it('a test', ${BODY}); }); it.only('b', ${BODY});`,
    ],
  ])('is not satisfied by a test that %s', (_what, source) => {
    expect(flaw(source)).toBeDefined();
  });
});
