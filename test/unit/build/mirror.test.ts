import { existsSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';

/** What these folders test has no name of a file: documents, what operators copy, any input, and the source as a whole. */
const OF_RULES = new Set(['docs', 'deploy', 'fuzz', 'build']);

/** Where the files are that a folder tests, if not in `src`. */
const ELSEWHERE = new Map([
  ['bench', 'bench'],
  ['scripts', 'scripts'],
  ['support', 'test/support'],
]);

const hasFile = (path: string) => ['.ts', '.tsx', '.mjs'].some((extension) => existsSync(path + extension));

/** Tests in a folder without a file of their name: `a/b.test.ts` tests `a/b.ts`. */
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
