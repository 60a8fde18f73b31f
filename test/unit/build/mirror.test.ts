import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';

/** Whether a file of `src` has this name without its extension. */
const isSource = (name: string) => existsSync(`src/${name}.ts`) || existsSync(`src/${name}.tsx`);

/** Tests without a file of `src` of their name: `a/b.test.ts`, or any file in the folder `a/b`, tests `src/a/b.ts`. */
const strays = (folder: string) =>
  readdirSync(`test/unit/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.test\.tsx?$/.test(file))
    .map((file) => `${folder}/${file.replace(/\.test\.tsx?$/, '')}`)
    .filter((name) => !isSource(name) && !isSource(dirname(name)));

const FOLDERS = readdirSync('test/unit').filter((name) => existsSync(`src/${name}`));

it.each(FOLDERS)('a unit test of src/%s has the name of the file that it tests', (folder) => {
  expect(strays(folder)).toEqual([]);
});
