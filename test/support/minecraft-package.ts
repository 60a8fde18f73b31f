import { execFile } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { skipWithout } from './missing-program.ts';
import { npmEnvironment } from './npm-package.ts';

const run = promisify(execFile);

/** A project of its own, because the package is larger than all others together. */
const FOLDER = fileURLToPath(new URL('minecraft-protocol/', import.meta.url));

/** The part of npm's minecraft-protocol that the tests use. */
interface MinecraftProtocol {
  createServer(options: object): EventEmitter & {
    readonly socketServer: { address(): { readonly port: number } };
    close(): void;
  };
  createClient(options: object): EventEmitter & { end(reason: string): void };
}

/** Installs the locked version unless it is installed; undefined if that fails, which is reported on standard error. */
export async function installMinecraftProtocol(): Promise<MinecraftProtocol | undefined> {
  const require = createRequire(`${FOLDER}package.json`);
  if (!(await isInstalled())) {
    process.stderr.write('installing the npm package minecraft-protocol, because the tests need it\n');
    try {
      await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
        cwd: FOLDER,
        env: npmEnvironment(),
      });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      skipWithout(`minecraft-protocol is missing and npm can't install it: ${reason}`);
      return undefined;
    }
  }
  return require('minecraft-protocol') as MinecraftProtocol;
}

/** npm writes its own lockfile at the end of an installation. */
async function isInstalled(): Promise<boolean> {
  const changed = async (file: string) => (await stat(`${FOLDER}${file}`)).mtimeMs;
  const installed = await changed('node_modules/.package-lock.json').catch(() => 0);
  return installed > (await changed('package-lock.json'));
}
