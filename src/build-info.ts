// Build information: the version, the revision and the location of the built files.

import { readFileSync } from 'node:fs';

/**
 * The folder of the built program: this one in a build, `dist` next to the sources when they run
 * directly.
 */
export const DIST_URL = new URL(import.meta.url.endsWith('.ts') ? '../dist/' : './', import.meta.url);

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The package's version. */
export const VERSION: string = version;

/** The User-Agent that the exporter sends to panels and nodes. */
export const USER_AGENT = `gameserver-exporter/${VERSION}`;

/**
 * The commit that the program was built from, as recorded by the build; the environment variable
 * overrides it.
 */
export const REVISION: string = process.env['GAMESERVER_EXPORTER_REVISION'] ?? builtRevision() ?? 'unknown';

/** The output of `--version`, in the layout of Prometheus' programs. */
export const VERSION_TEXT = `gameserver-exporter, version ${VERSION} (revision: ${REVISION})
  node version:     ${process.version}
  platform:         ${process.platform}/${process.arch}`;

function builtRevision(): string | undefined {
  try {
    return readFileSync(new URL('revision.txt', import.meta.url), 'utf8').trim();
  } catch {
    return undefined;
  }
}
