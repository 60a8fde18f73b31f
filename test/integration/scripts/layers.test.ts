import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { LAYERS, type Layer, mayImport } from '../../../scripts/layers.ts';

const OXLINT = join(import.meta.dirname, '../../../node_modules/.bin/oxlint');

/** A module of each folder. */
const PROBES = LAYERS.filter(({ path }) => !path.endsWith('.ts')).map((layer) => ({
  layer,
  file: `src/${layer.path}/probe.ts`,
}));

const moduleOf = ({ path }: Layer) => (path.endsWith('.ts') ? `src/${path}` : `src/${path}/target.ts`);

/** How the linter sees an import of `module` in `file`. */
function specifier(file: string, module: string): string {
  const path = relative(dirname(file), module);
  return path.startsWith('.') ? path : `./${path}`;
}

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly line: number } }[];
}

/** The rejected lines of the files in a folder, as `file:line`. */
async function rejectedIn(folder: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(OXLINT, ['--format', 'json', 'src'], {
    cwd: folder,
    maxBuffer: 64 * 2 ** 20,
  }).catch((error: { stdout: string }) => error);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly Diagnostic[] };
  return diagnostics
    .filter(({ code }) => code.includes('no-restricted-imports'))
    .map(({ filename, labels }) => `${filename}:${labels[0]?.span.line}`);
}

it('the linter rejects every forbidden import between layers, and no other', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'layers-'));
  try {
    await Promise.all(
      ['.oxlintrc.json', '.oxlintrc.layers.json'].map((file) => cp(file, join(folder, file))),
    );
    for (const { file } of PROBES) {
      const lines = LAYERS.map(
        (other, n) => `export { a as a${n} } from '${specifier(file, moduleOf(other))}';`,
      );
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), lines.join('\n'));
    }
    const forbidden = PROBES.flatMap(({ layer, file }) =>
      LAYERS.flatMap((other, n) => (mayImport(layer, other) ? [] : [`${file}:${n + 1}`])),
    );
    expect(forbidden.length).toBeGreaterThan(100);
    expect((await rejectedIn(folder)).toSorted()).toEqual(forbidden.toSorted());
  } finally {
    await rm(folder, { recursive: true });
  }
});
