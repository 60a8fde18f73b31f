import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { LAYERS, mayImport } from '../../../scripts/layers.ts';

const OXLINT = join(import.meta.dirname, '../../../node_modules/.bin/oxlint');

const isFile = (path: string) => path.endsWith('.ts');

it('the linter rejects every forbidden import between layers, and no other', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'layers-'));
  try {
    await Promise.all(
      ['.oxlintrc.json', '.oxlintrc.layers.json'].map((file) => cp(file, join(folder, file))),
    );
    // One module in each folder, with an import from every other layer.
    const importers = LAYERS.filter(({ path }) => !isFile(path));
    for (const { path } of importers) {
      const others = LAYERS.filter((other) => other.path !== path);
      const lines = others.map((other, index) => {
        const target = relative(path, isFile(other.path) ? other.path : `${other.path}/target.ts`);
        return `export { a${index} } from '${target.startsWith('.') ? target : `./${target}`}';\n`;
      });
      await mkdir(join(folder, 'src', path), { recursive: true });
      await writeFile(join(folder, 'src', path, 'probe.ts'), lines.join(''));
    }
    const { stdout } = await promisify(execFile)(OXLINT, ['--format', 'json', 'src'], {
      cwd: folder,
      maxBuffer: 64 * 2 ** 20,
    }).catch((error: { stdout: string }) => error);
    const refused = [...stdout.matchAll(/src\/\S+ may not import src\/[\w./-]*\w/g)].map(
      ([message]) => message,
    );
    const forbidden = importers.flatMap((from) =>
      LAYERS.filter((to) => to !== from && !mayImport(from, to)).map(
        (to) => `src/${from.path} may not import src/${to.path}`,
      ),
    );
    expect([...new Set(refused)].sort()).toEqual(forbidden.sort());
  } finally {
    await rm(folder, { recursive: true });
  }
});
