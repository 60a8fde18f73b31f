import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** As wide as the code. */
const MAX_COLUMNS = 100;

const FOLDERS = ['src', 'bench', 'scripts', 'test'];

const FILES = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|mjs|sh)$/.test(name))
    .map((name) => join(folder, name)),
);

/** A line that is a comment; rows of tables are as wide as they have to be. */
const isComment = (line: string) => /^\s*(?:\/\*\*|\*|\/\/|# )/.test(line) && !/^\s*\* \|/.test(line);

it('comments are as wide as the code', () => {
  const wide = FILES.flatMap((name) =>
    readFileSync(name, 'utf8')
      .split('\n')
      .filter((line) => isComment(line) && line.length > MAX_COLUMNS)
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(wide).toEqual([]);
});
