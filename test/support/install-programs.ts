// Installs the programs that the selected tests need, before the first test starts.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { PROGRAMS, type ProgramName } from './programs.ts';

const run = promisify(execFile);

/** The lock of apt-get, because another run of the tests may have started it. */
const LOCK = join(tmpdir(), 'gameserver-exporter-apt.lock');

/** The time in seconds that apt waits for another package manager. */
const APT_WAIT = '-oDPkg::Lock::Timeout=120';

/** Installs those of the packages that this version of Debian contains. */
const INSTALL = `apt-get ${APT_WAIT} update &&
  apt-get ${APT_WAIT} install -y --no-install-recommends $(apt-cache show --no-all-versions "$@" | sed -n 's/^Package: //p')`;

/** The machine on which programs are installed. */
export interface Machine {
  has(file: string): boolean;
  /** Installs packages. Resolves with the reason if it fails. */
  install(packages: readonly string[]): Promise<string | undefined>;
  print(line: string): void;
  /** Whether a skipped test is a failure. */
  readonly isCi: boolean;
}

const HERE: Machine = {
  has: (file) =>
    file.startsWith('/')
      ? existsSync(file)
      : (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, file))),
  install,
  print: (line) => process.stderr.write(`${line}\n`),
  isCi: process.env['CI'] === 'true',
};

/** Vitest calls this once per run, when it has already selected the test files. */
export default async function setup({ provide, vitest }: TestProject): Promise<void> {
  provide('programs', await providePrograms(vitest.state.getPaths(), HERE));
}

/**
 * Installs missing programs that these test files need. Resolves with the programs and whether each
 * is installed. Prints the installed packages, and the tests that are skipped. With `CI=true`, it
 * rejects instead of skipping tests.
 */
export async function providePrograms(
  testFiles: readonly string[],
  machine: Machine,
): Promise<Partial<Record<ProgramName, boolean>>> {
  const needed = neededPrograms(testFiles);
  const missing = () => [...needed.keys()].filter((name) => !machine.has(PROGRAMS[name].file));
  if (missing().length > 0) {
    const packages = [...new Set(missing().map((name) => PROGRAMS[name].package))].toSorted();
    const trouble = await machine.install(packages);
    const stillMissing = missing();
    if (stillMissing.length > 0) {
      const files = [...new Set(stillMissing.flatMap((name) => needed.get(name) ?? []))].toSorted();
      const why = `missing programs: ${stillMissing.join(', ')} (${trouble ?? 'the Debian packages lack them'})`;
      if (machine.isCi)
        throw new Error(`${why}; with CI=true, tests must not be skipped: ${files.join(', ')}`);
      machine.print(`SKIPPED because of ${why}: tests in ${files.join(', ')}`);
    }
  }
  return Object.fromEntries([...needed.keys()].map((name) => [name, machine.has(PROGRAMS[name].file)]));
}

/** The programs that these test files or their imports name, with the test files that need them. */
export function neededPrograms(testFiles: readonly string[]): ReadonlyMap<ProgramName, readonly string[]> {
  const needed = new Map<ProgramName, string[]>();
  for (const file of testFiles) {
    for (const name of namedIn(file, new Set())) {
      needed.set(name, [...(needed.get(name) ?? []), relative(process.cwd(), file)]);
    }
  }
  return needed;
}

/** The programs that a file, or any file of `test` that it imports, names. */
function namedIn(file: string, seen: Set<string>): ReadonlySet<ProgramName> {
  if (seen.has(file)) return new Set();
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  const named = new Set(
    [...text.matchAll(/\bhasProgram\('([^']+)'\)/g)].map(([, name]) => name as ProgramName),
  );
  for (const [, path = ''] of text.matchAll(/^(?:import|export|\}) [^;]*?from '(\.[^']+\.ts)';$/gm)) {
    const imported = resolve(dirname(file), path);
    if (imported.includes('/test/')) for (const name of namedIn(imported, seen)) named.add(name);
  }
  return named;
}

async function install(packages: readonly string[]): Promise<string | undefined> {
  const names = packages.join(' ');
  if (process.getuid?.() !== 0) return `only root can install ${names}`;
  if (!HERE.has('apt-get')) return `there is no apt-get to install ${names}`;
  HERE.print(`installing Debian packages for the tests: ${names}`);
  // A service that the package starts does no harm, because tests use their own ports and folders.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await run('flock', [LOCK, 'sh', '-c', INSTALL, 'sh', ...packages], { env, maxBuffer: 64 * 2 ** 20 });
    return undefined;
  } catch (error) {
    return `apt-get can't install ${names}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
