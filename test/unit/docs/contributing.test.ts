import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';

const FOLDERS = ['src', 'test', 'scripts', 'docs', 'bench', 'dashboards', 'deploy', '.github'];

const FILES = [
  ...FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => `/${folder}/${file}`),
  ),
  ...readdirSync('.').map((file) => `/${file}`),
];

/** The names of files and folders in the text. They may lack the first parts of their paths. */
const named = [...readFileSync('CONTRIBUTING.md', 'utf8').matchAll(/`([\w@./-]+\.(?:tsx?|mjs|md|sh|txt))`/g)]
  .map(([, name = '']) => name)
  // Without examples of the form a/b.
  .filter((name) => !/(?:^|\/)a\/b(?:\.test)?\.ts$/.test(name));

it('every file that CONTRIBUTING.md names exists', () => {
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((name) => !FILES.some((file) => file.endsWith(`/${name}`)))).toEqual([]);
});

/** The walks through the code: the names of their files, in order, with or without parentheses. */
const walks = readFileSync('CONTRIBUTING.md', 'utf8')
  .split(/\n\n|\n## /)
  .filter((text) => text.startsWith('**From '))
  .map((text) => {
    const [, title = ''] = /^\*\*(.+?)\.\*\*/.exec(text) ?? [];
    const files = [...text.matchAll(/(\(?)`([\w/-]+\.tsx?)`/g)];
    return { title, files: files.map(([, open, name = '']) => ({ name, isReturn: open === '(' })) };
  });

it('there are seven walks through the code', () => {
  expect(walks).toHaveLength(7);
});

describe.each(walks)('the walk $title', ({ files }) => {
  it('returns at most five times', () => {
    expect(files.filter(({ isReturn }) => isReturn).length).toBeLessThanOrEqual(5);
  });

  it('has the files in parentheses that it has left, and no others', () => {
    const visited: string[] = [];
    for (const { name, isReturn } of files) {
      const before = visited.slice(0, -1);
      const isLeft = before.includes(name) || (isReturn && before.some((file) => basename(file) === name));
      expect([name, isReturn]).toEqual([name, isLeft]);
      visited.push(name);
    }
  });
});
