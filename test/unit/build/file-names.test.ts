import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, it } from 'vitest';

/** A folder for each dialect, whose files have the same names because they have the same tasks. */
const DIALECTS = 'panel/dialects';

const FILES = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
  /\.tsx?$/.test(file),
);

/** Files by their names: a stack trace or an editor's tab shows little more. */
function namesakes(files: readonly string[]): readonly string[] {
  const names = files.map((file) => basename(file));
  return files.filter((file) => names.indexOf(basename(file)) !== names.lastIndexOf(basename(file)));
}

it('every name of a file in src exists once, except among the dialects', () => {
  expect(FILES.length).toBeGreaterThan(300);
  expect(namesakes(FILES).filter((file) => dirname(dirname(file)) !== DIALECTS)).toEqual([]);
});
