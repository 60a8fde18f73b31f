import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { LAYERS, type Layer, mayImport } from '../../../scripts/layers.ts';

const OXLINT = join(import.meta.dirname, '../../../node_modules/.bin/oxlint');

/** A module of a layer, in its folder or in a subfolder. */
function modulesOf({ path }: Layer, name: string): readonly string[] {
  if (path.endsWith('.ts')) return [`src/${path}`];
  // Layers inside another are flat, so that `../` can only mean the outer one.
  const isFlat = path.includes('/') || LAYERS.some((other) => other.path.startsWith(`${path}/`));
  return isFlat ? [`src/${path}/${name}.ts`] : [`src/${path}/${name}.ts`, `src/${path}/inner/${name}.ts`];
}

interface Probe {
  readonly file: string;
  readonly specifier: string;
  readonly isAllowed: boolean;
}

/** One module for each pair of layers and each depth in either. */
function probes(): readonly Probe[] {
  return LAYERS.flatMap((from, row) =>
    LAYERS.flatMap((to, column) => {
      // A layer that is one file has only one probe: others would overwrite it.
      if (from === to || from.path.endsWith('.ts')) return [];
      return modulesOf(from, `probe-${row}-${column}`).flatMap((file, depth) =>
        modulesOf(to, 'target').map((target, targetDepth) => {
          const own = file.replace(/\.ts$/, `-${depth}-${targetDepth}.ts`);
          const path = relative(dirname(own), target);
          const specifier = path.startsWith('.') ? path : `./${path}`;
          return { file: own, specifier, isAllowed: mayImport(from, to) };
        }),
      );
    }),
  );
}

it('the linter rejects every forbidden import between layers, and no other', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'layers-'));
  try {
    await Promise.all(
      ['.oxlintrc.json', '.oxlintrc.layers.json'].map((file) => cp(file, join(folder, file))),
    );
    const all = probes();
    for (const { file, specifier } of all) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), `export { target } from '${specifier}';\n`);
    }
    const { stdout } = await promisify(execFile)(OXLINT, ['--format', 'json', 'src'], {
      cwd: folder,
      maxBuffer: 64 * 2 ** 20,
    }).catch((error: { stdout: string }) => error);
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] };
    const refused = diagnostics
      .filter(({ code }) => code.includes('no-restricted-imports'))
      .map(({ filename }) => filename);
    const forbidden = all.filter(({ isAllowed }) => !isAllowed).map(({ file }) => file);
    expect(forbidden.length).toBeGreaterThan(500);
    expect([...new Set(refused)].sort()).toEqual(forbidden.toSorted());
  } finally {
    await rm(folder, { recursive: true });
  }
});
