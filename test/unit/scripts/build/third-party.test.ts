import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { thirdParty } from '../../../../scripts/build/third-party.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'third-party-'));
});

afterEach(() => rm(folder, { recursive: true }));

/** Installs a package where programs in the folder find it. */
async function install(name: string, license: string) {
  const root = join(folder, 'node_modules', name);
  await mkdir(root, { recursive: true });
  const manifest = { name, version: '1.2.3', license, main: 'index.js' };
  await writeFile(join(root, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(root, 'index.js'), 'globalThis.x = 1');
}

/** Builds a program that imports these packages. Returns the files that the plugin adds. */
async function build(plugin: Plugin, ...names: readonly string[]) {
  const input = join(folder, 'program.js');
  await writeFile(input, names.map((name) => `import '${name}';`).join('\n'));
  const bundle = await rolldown({ input, logLevel: 'silent', plugins: [plugin] });
  try {
    const { output } = await bundle.generate();
    return new Map(
      output.flatMap((file) => (file.type === 'asset' ? [[file.fileName, String(file.source)]] : [])),
    );
  } finally {
    await bundle.close();
  }
}

it('the last of several builds that share the plugin describes the packages of all', async () => {
  await install('a', 'MIT');
  await install('d', 'ISC');
  const shared = thirdParty();
  await build(shared, 'a');
  const notices = (await build(shared, 'd')).get('THIRD-PARTY-LICENSES.txt');
  expect(notices).toContain('a 1.2.3 (MIT)');
  expect(notices).toContain('d 1.2.3 (ISC)');
});

it('the build fails if the license of a package forbids redistribution', async () => {
  await install('a', 'GPL-3.0-only');
  await expect(build(thirdParty(), 'a')).rejects.toThrow('a has the license GPL-3.0-only, which PERMISSIVE');
});
