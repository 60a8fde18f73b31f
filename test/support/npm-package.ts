// The npm package as users install it.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

/** The settings with which npm on this machine reaches its registry. */
const NPM_SETTINGS = /^npm_config_(registry|cafile|cache|userconfig|globalconfig|proxy|https_proxy|noproxy)$/;

/** The package, installed into an empty folder. */
export interface InstalledPackage {
  readonly tarball: string;
  /** The paths in the tarball, without the top-level folder. */
  readonly packed: readonly string[];
  readonly folder: string;
  remove(): Promise<void>;
}

/**
 * Packs the built program, and installs the tarball. This needs no network, because all
 * dependencies are bundled.
 */
export async function installPackage(): Promise<InstalledPackage> {
  const root = await mkdtemp(join(tmpdir(), 'npm-package-'));
  const folder = join(root, 'empty');
  await mkdir(folder);
  await run(process.execPath, ['scripts/release/pack-package.mjs', root], {
    cwd: REPOSITORY,
    env: npmEnvironment(),
  });
  const name = (await readdir(root)).find((file) => file.endsWith('.tgz'));
  if (name === undefined) throw new Error('nothing was packed');
  const tarball = join(root, name);
  const { stdout: listing } = await run('tar', ['-tzf', tarball]);
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  await run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', tarball], {
    cwd: folder,
    env: npmEnvironment(),
  });
  return {
    tarball,
    packed: listing.split('\n').flatMap((path) => (path === '' ? [] : [path.replace(/^package\//, '')])),
    folder,
    remove: () => rm(root, { recursive: true }),
  };
}

/**
 * The environment without the variables that npm sets for its scripts, because the folder is
 * another project.
 */
export function npmEnvironment(): Record<string, string> {
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (!entry[0].startsWith('npm_') || NPM_SETTINGS.test(entry[0])),
  );
  return Object.fromEntries(own);
}
