import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type InstalledPackage, installPackage } from '../support/npm-package.ts';
import { endProcesses, launch } from '../support/process.ts';
import { metricsAt } from '../support/program.ts';

const run = promisify(execFile);

interface Manifest {
  readonly version: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** A CycloneDX bill of materials. */
interface Bill {
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  }[];
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>;
}

const LOCK = new URL('../../package-lock.json', import.meta.url);

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Manifest;

/** Matches manifests of packages, but not those of folders in packages. */
const MANIFEST = /(?:^|node_modules\/)(?:@[^/]+\/)?[^/@]+\/package\.json$/;

describe('the npm package, installed into an empty folder', () => {
  let installed: InstalledPackage;

  beforeAll(async () => {
    installed = await installPackage();
  });

  afterEach(endProcesses);
  afterAll(() => installed.remove());

  const program = (...args: string[]) =>
    launch(join(installed.folder, 'node_modules/.bin/gameserver-exporter'), args, { cwd: installed.folder });

  it('contains the program, its files and its documentation, and nothing else', () => {
    const beside = installed.packed
      .filter((path) => !path.startsWith('dist/') && !/^docs\/[\w/-]+\.(?:md|png)$/.test(path))
      .toSorted();
    expect(beside).toEqual(
      [
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'config.example.yaml',
        'config.schema.json',
        'package.json',
      ].toSorted(),
    );
    expect(installed.packed).toContain('dist/cli.js');
    expect(installed.packed.filter((path) => /\.ts$|\.test\.|\.map$/.test(path))).toEqual([]);
  });

  it('has no links in its documentation to files that it lacks', async () => {
    const root = join(installed.folder, 'node_modules/gameserver-exporter');
    const pages = installed.packed.filter((path) => path.endsWith('.md'));
    const links = await Promise.all(
      pages.map(async (page) => {
        const text = await readFile(join(root, page), 'utf8');
        const targets = [...text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
        return targets.map((target) => join(page, '..', target));
      }),
    );
    expect(links.flat().length).toBeGreaterThan(100);
    expect(links.flat().filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('brings no packages, no install scripts and no native modules', async () => {
    const files = await readdir(join(installed.folder, 'node_modules'), { recursive: true });
    expect(files.filter((path) => MANIFEST.test(path))).toEqual(['gameserver-exporter/package.json']);
    expect(files.filter((path) => /\.node$|(?:^|\/)binding\.gyp$/.test(path))).toEqual([]);
    const file = join(installed.folder, 'node_modules/gameserver-exporter/package.json');
    const published = JSON.parse(await readFile(file, 'utf8')) as Manifest;
    expect(published.version).toBe(manifest.version);
    const declared = ['scripts', 'dependencies', 'devDependencies'].filter((field) => field in published);
    expect(declared).toEqual([]);
  });

  it('lists the packages that it contains, and their licenses', async () => {
    const dist = join(installed.folder, 'node_modules/gameserver-exporter/dist');
    const bill = JSON.parse(await readFile(join(dist, 'gameserver-exporter.cdx.json'), 'utf8')) as Bill;
    const notices = await readFile(join(dist, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    const locked = JSON.parse(readFileSync(LOCK, 'utf8')) as Lock;
    const held = new Set(bill.components.map(({ name, version }) => `${name} ${version}`));
    // Exactly the declared dependencies of the repository are in the build, and no development
    // tools.
    const contained = (names: Manifest['dependencies'] = {}) =>
      Object.keys(names).map((name) =>
        held.has(`${name} ${locked.packages[`node_modules/${name}`]?.version}`) ? 'contained' : 'absent',
      );
    expect(new Set(contained(manifest.dependencies))).toEqual(new Set(['contained']));
    expect(new Set(contained(manifest.devDependencies))).toEqual(new Set(['absent']));
    const integrities = new Set(
      Object.entries(locked.packages).map(([folder, { version, integrity }]) =>
        [folder.replace(/^.*node_modules\//, ''), version, integrity].join(' '),
      ),
    );
    for (const { name, version, hashes = [] } of bill.components) {
      const [hash] = hashes;
      const integrity = `sha512-${Buffer.from(hash?.content ?? '', 'hex').toString('base64')}`;
      expect(hash?.alg, name).toBe('SHA-512');
      expect(integrities).toContain(`${name} ${version} ${integrity}`);
    }
    for (const name of held) expect(notices).toContain(`\n${name} (`);
  });

  it('prints its version', async () => {
    const version = program('--version');
    expect(await version.ended).toEqual({ code: 0, signal: null });
    expect(version.stdout).toContain(`gameserver-exporter, version ${manifest.version} `);
  });

  it('accepts the example that it contains', async () => {
    const example = join(installed.folder, 'node_modules/gameserver-exporter/config.example.yaml');
    const check = program('check', example);
    expect(await check.ended).toEqual({ code: 1, signal: null });
    // Only the key file is missing, which users create themselves.
    expect(check.stderr.trim().split('\n')).toHaveLength(1);
    expect(check.stderr).toContain('the file "panel-key" can\'t be read');
  });

  it('runs the demo, which serves metrics', async () => {
    const demo = program(
      'demo',
      '--web.listen-address',
      '127.0.0.1:0',
      '--panel-port',
      '0',
      '--control-port',
      '0',
    );
    const [, url = ''] = await demo.printed(/serves at\s+(http:\S+)/);
    await metricsAt(url).until('gameserver_state', { server: 'survival', state: 'running' }, [1]);
    // The package also contains the files of the status page.
    const page = await (await fetch(`${url}/`)).text();
    const files = [...page.matchAll(/(?:src|href)="?([^"\s>]+\.(?:js|css))"?/g)].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThan(0);
    for (const path of files) expect((await fetch(new URL(path, `${url}/`))).status, path).toBe(200);
    demo.kill('SIGTERM');
    expect(await demo.ended).toEqual({ code: 0, signal: null });
  });

  it('exports the schema for editors', async () => {
    const script =
      "import schema from 'gameserver-exporter/config.schema.json' with { type: 'json' }; console.log(schema.type)";
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: installed.folder,
    });
    expect(stdout).toBe('object\n');
  });
});
