import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const PAGE = readFileSync('SECURITY.md', 'utf8');

/** The tests that the page names: a file, then the names on the way to the test. */
const named = [...PAGE.matchAll(/`(test\/[^`]+)`/g)].map(([, reference = '']) => reference);

describe('SECURITY.md', () => {
  it('has a test behind every claim', () => {
    const rows = PAGE.split('\n').filter(
      (line) => line.startsWith('| ') && !/^\| (?:It|They) can't \|/.test(line),
    );
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.filter((row) => !/`test\/[^`]+ › [^`]+` \|$/.test(row))).toEqual([]);
  });

  it.each([...new Set(named)])('%s is there', (reference) => {
    const [file = '', ...names] = reference.split(' › ');
    expect(existsSync(file)).toBe(true);
    const source = readFileSync(file, 'utf8');
    for (const name of names) expect(source).toContain(name);
    expect(names.length).toBeGreaterThan(0);
  });
});
