import { existsSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';

/**
 * Folders with tests that aren't about a single file: about documents, deployment files, random
 * input, or all of the code.
 */
const OF_RULES = new Set(['docs', 'deploy', 'fuzz', 'build']);

/** The tested folder, if it isn't in `src`. */
const ELSEWHERE = new Map([
  ['bench', 'bench'],
  ['scripts', 'scripts'],
  ['support', 'test/support'],
]);

const hasFile = (path: string) => ['.ts', '.tsx', '.mjs'].some((extension) => existsSync(path + extension));

/** Tests without a file of the same name: `a/b.test.ts` has to test `a/b.ts`. */
function strays(folder: string): readonly string[] {
  const root = ELSEWHERE.get(folder) ?? `src/${folder}`;
  return readdirSync(`test/unit/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.test\.tsx?$/.test(file))
    .map((file) => `${root}/${file.replace(/\.test\.tsx?$/, '')}`)
    .filter((path) => !hasFile(path));
}

const ENTRIES = readdirSync('test/unit').filter((name) => !OF_RULES.has(name));

it('a unit test is in a folder', () => {
  expect(ENTRIES.filter((name) => name.includes('.'))).toEqual([]);
});

it.each(ENTRIES)('a unit test of %s has the name of the file that it tests', (folder) => {
  expect(strays(folder)).toEqual([]);
});
