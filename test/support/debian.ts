import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** apt waits this many seconds for another package manager to finish. */
const APT_PATIENCE = '-oDPkg::Lock::Timeout=120';

/**
 * Is there the program of a Debian package on this machine, installed by apt if need be and possible? Says loudly what is
 * skipped where there is none, and throws where `CI=true`: there a skip is a failure. `flag` makes the program do nothing
 * but end well.
 */
export async function ensureDebianPackage(
  name: string,
  binary: string,
  flag = '--version',
): Promise<boolean> {
  if (await runs(binary, flag)) return true;
  const trouble = await install(name);
  if (await runs(binary, flag)) return true;
  const missing = `${binary} (Debian package ${name}) is missing and ${trouble ?? 'its package brought none'}`;
  if (process.env['CI'] === 'true') throw new Error(`${missing}; with CI=true nothing is skipped`);
  process.stderr.write(`\nSKIPPED: ${missing}; the tests that need it are skipped\n\n`);
  return false;
}

/** Installs a package; gives why that couldn't be done. */
async function install(name: string): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root can install it';
  if (!(await runs('apt-get', '--version'))) return 'there is no apt to install it with';
  // A service that the package may start is no trouble: the tests use ports and folders of their own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await run('apt-get', [APT_PATIENCE, 'update'], { env });
    await run('apt-get', [APT_PATIENCE, 'install', '-y', '--no-install-recommends', name], { env });
    return undefined;
  } catch (error) {
    return `apt can't install it: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function runs(binary: string, flag: string): Promise<boolean> {
  try {
    await run(binary, [flag]);
    return true;
  } catch {
    return false;
  }
}
