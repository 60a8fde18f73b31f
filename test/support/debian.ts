import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { skipWithout } from './missing-program.ts';

const run = promisify(execFile);

/** Test files run concurrently, and only one apt-get may run at a time. */
const LOCK = join(tmpdir(), 'gameserver-exporter-apt.lock');

/** The number of seconds that apt waits for another package manager to finish. */
const APT_WAIT = '-oDPkg::Lock::Timeout=120';

/** Installs the package `$2`, unless another test file has installed its program `$1` in the meantime. */
const INSTALL = `command -v "$1" || test -f "$1" || {
  apt-get ${APT_WAIT} update && apt-get ${APT_WAIT} install -y --no-install-recommends "$2"
}`;

/**
 * Makes sure that the program of a Debian package is installed; root installs a missing package with apt, which one line on
 * standard error announces. If the program is still missing, standard error shows which tests are skipped and the result is false;
 * with `CI=true` this throws instead, because there a skip is a failure. `flag` makes the program exit successfully without doing
 * anything; a program without such a flag is given by its path and only checked for existence.
 */
export async function ensureDebianPackage(
  name: string,
  binary: string,
  flag: string | null = '--version',
): Promise<boolean> {
  const isThere = () => (flag === null ? exists(binary) : runs(binary, flag));
  if (await isThere()) return true;
  const trouble = await install(name, binary);
  if (await isThere()) return true;
  return skipWithout(
    `${binary} (Debian package ${name}) is missing and ${trouble ?? "its package doesn't contain it"}`,
  );
}

/** Installs a package; returns the error if that fails. */
async function install(name: string, binary: string): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root can install it';
  if (!(await runs('apt-get', '--version'))) return 'apt is not available to install it';
  process.stderr.write(`installing the Debian package ${name}, because the tests need ${binary}\n`);
  // A service that the package may start does no harm, because the tests use their own ports and folders.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await run('flock', [LOCK, 'sh', '-c', INSTALL, 'sh', binary, name], { env });
    return undefined;
  } catch (error) {
    return `apt can't install it: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

async function runs(binary: string, flag: string): Promise<boolean> {
  try {
    await run(binary, [flag]);
    return true;
  } catch (error) {
    // A program that is missing or fails has an error code. Anything else is a mistake in the test, such as a unit test that
    // starts programs.
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}
