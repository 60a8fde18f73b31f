import { readdirSync } from 'node:fs';
import { dirname, parse } from 'node:path';
import { expect, it } from 'vitest';

/**
 * A folder with a subfolder for each dialect. Their files have the same names because they have the
 * same tasks.
 */
const DIALECTS = 'panel/dialects';

const FILES = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
  /\.tsx?$/.test(file),
);

/**
 * Files with the same name, regardless of their extension, because people mention files without it.
 */
function namesakes(files: readonly string[]): readonly string[] {
  const names = files.map((file) => parse(file).name);
  return files.filter(
    (_, index) => names.indexOf(names[index] ?? '') !== names.lastIndexOf(names[index] ?? ''),
  );
}

it('every name of a file in src exists once, except among the dialects', () => {
  expect(FILES.length).toBeGreaterThan(300);
  expect(namesakes(FILES).filter((file) => dirname(dirname(file)) !== DIALECTS)).toEqual([]);
});
