import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/**
 * An entry of `scripts/mutations.mjs`: the rule, its file, the tests that protect it, the original
 * code, and the code that replaces it.
 */
type Mutation = readonly [
  rule: string,
  file: readonly [path: string, tests: string],
  find: string,
  replacement: string,
  tests?: string,
];

const SCRIPT = new URL('../../../scripts/mutations.mjs', import.meta.url).href;
const { MUTATIONS } = (await import(SCRIPT)) as { readonly MUTATIONS: readonly Mutation[] };

const TESTS = readdirSync('test/unit', { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.test.ts'),
);

const TABLE = MUTATIONS.map(([rule, [path, ownTests], find, replacement, tests = ownTests]) => ({
  rule,
  path,
  find,
  replacement,
  tests,
}));

it.each(TABLE)(
  '"$rule" can be broken: its code is there once, and it has tests',
  ({ path, find, replacement, tests }) => {
    expect(readFileSync(path, 'utf8').split(find)).toHaveLength(2);
    expect(replacement).not.toBe(find);
    expect(TESTS.filter((file) => file.includes(tests))).not.toEqual([]);
  },
);
