import { dirname, relative } from 'node:path';
import { expect, it } from 'vitest';
import { LAYERS, type Layer, mayImport } from '../../../scripts/layers.ts';
import { rejected } from '../../support/linted.ts';

const isFile = ({ path }: Layer) => path.endsWith('.ts');

const isInside = (path: string, folder: string) => path.startsWith(`${folder}/`);

/** A module in the folder of each layer, and one in a subfolder that isn't a layer of its own. */
const PROBES = LAYERS.filter((layer) => !isFile(layer)).flatMap((layer) => {
  const isWhole = !LAYERS.some((other) => isInside(other.path, layer.path) && !isFile(other));
  const isInner = layer.path.includes('/');
  const folders = isWhole && !isInner ? ['', '/deeper'] : [''];
  return folders.map((folder) => ({ layer, file: `src/${layer.path}${folder}/probe.ts` }));
});

const moduleOf = ({ path }: Layer) => (path.endsWith('.ts') ? `src/${path}` : `src/${path}/target.ts`);

/** The specifier of an import of `module` in `file`. */
function specifier(file: string, module: string): string {
  const path = relative(dirname(file), module);
  return path.startsWith('.') ? path : `./${path}`;
}

it('the linter rejects every forbidden import between layers, and no other', async () => {
  const files = new Map(
    PROBES.map(({ file }) => [
      file,
      LAYERS.map((other, n) => `export { a as a${n} } from '${specifier(file, moduleOf(other))}';`),
    ]),
  );
  const forbidden = PROBES.flatMap(({ layer, file }) =>
    LAYERS.flatMap((other, n) => (mayImport(layer, other) ? [] : [`${file}:${n + 1}`])),
  );
  expect(forbidden.length).toBeGreaterThan(100);
  expect(await rejected(files, ['no-restricted-imports'])).toEqual(forbidden.toSorted());
});
