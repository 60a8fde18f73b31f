import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { thirdParty } from '../../../scripts/build/third-party.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'third-party-'));
});

afterEach(() => rm(folder, { recursive: true }));

/** Installs a package where a program in the folder finds it. */
async function install(name: string, license: string, files: Readonly<Record<string, string>> = {}) {
  const root = join(folder, 'node_modules', name);
  await mkdir(root, { recursive: true });
  const manifest = JSON.stringify({ name, version: '1.2.3', license, main: 'index.js' });
  for (const [file, text] of Object.entries({
    'package.json': manifest,
    'index.js': 'globalThis.x = 1',
    ...files,
  }))
    await writeFile(join(root, file), text);
}

/** Builds a program that imports these packages, and returns the files that the plugin adds. */
async function build(...names: readonly string[]) {
  return buildWith(thirdParty(), names);
}

async function buildWith(plugin: Plugin, names: readonly string[]) {
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

describe('the build output about bundled packages', () => {
  it('contains their licenses verbatim', async () => {
    await install('a', 'MIT', { LICENSE: 'Copyright of a', 'README.md': 'about a' });
    await install('@b/c', 'Apache-2.0', { 'LICENSE.txt': 'The license', NOTICE: 'Notice of c' });
    await install('d', 'ISC');
    const notices = (await build('a', '@b/c')).get('THIRD-PARTY-LICENSES.txt');
    expect(notices).toContain('a 1.2.3 (MIT)');
    expect(notices).toContain('\nCopyright of a\n');
    expect(notices).toContain('@b/c 1.2.3 (Apache-2.0)');
    expect(notices).toContain('\nThe license\n\nNotice of c\n');
    expect(notices).not.toContain('about a');
    expect(notices).not.toContain('d 1.2.3');
  });

  it('contains a bill of materials', async () => {
    await install('a', 'MIT');
    await install('@b/c', 'ISC');
    const bill = JSON.parse((await build('a', '@b/c')).get('gameserver-exporter.cdx.json') ?? '') as unknown;
    expect(bill).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: { component: { type: 'application', name: 'gameserver-exporter' } },
      components: [
        { type: 'library', name: '@b/c', version: '1.2.3', purl: 'pkg:npm/%40b/c@1.2.3' },
        { type: 'library', name: 'a', licenses: [{ license: { id: 'MIT' } }] },
      ],
    });
  });
});

it('the last of several builds that share the plugin describes the packages of all', async () => {
  await install('a', 'MIT');
  await install('d', 'ISC');
  const shared = thirdParty();
  await buildWith(shared, ['a']);
  const notices = (await buildWith(shared, ['d'])).get('THIRD-PARTY-LICENSES.txt');
  expect(notices).toContain('a 1.2.3 (MIT)');
  expect(notices).toContain('d 1.2.3 (ISC)');
});

it('the build fails if the license of a package forbids redistribution', async () => {
  await install('a', 'GPL-3.0-only');
  await expect(build('a')).rejects.toThrow('a has the license GPL-3.0-only, which PERMISSIVE');
});
