import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const FOLDERS = ['src', 'test', 'scripts', 'docs', 'bench', 'dashboards', 'deploy', '.github'];

const FILES = [
  ...FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => `/${folder}/${file}`),
  ),
  ...readdirSync('.').map((file) => `/${file}`),
];

/** Names of files and folders, which may begin with any part of their path. */
const named = [...readFileSync('CONTRIBUTING.md', 'utf8').matchAll(/`([\w@./-]+\.(?:tsx?|mjs|md|sh|txt))`/g)]
  .map(([, name = '']) => name)
  // Examples of the form a/b.
  .filter((name) => !/(?:^|\/)a\/b(?:\.test)?\.ts$/.test(name));

it('every file that CONTRIBUTING.md names exists', () => {
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((name) => !FILES.some((file) => file.endsWith(`/${name}`)))).toEqual([]);
});
