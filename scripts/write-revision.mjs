// Writes the commit that is being built to dist/revision.txt, for `--version` and the build info metric; part of `npm run build`.
// GAMESERVER_EXPORTER_REVISION provides it if there is no repository, as when building an image.
import { execFileSync } from 'node:child_process';
import { realpathSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = realpathSync(fileURLToPath(new URL('..', import.meta.url)));
const file = fileURLToPath(new URL('../dist/revision.txt', import.meta.url));

/** The checkout's commit; undefined if this folder isn't a checkout, even if it is inside another one. */
function commit() {
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    const [top, head] = execFileSync('git', ['rev-parse', '--show-toplevel', 'HEAD'], options).split('\n');
    return realpathSync(top) === root ? head : undefined;
  } catch {
    return undefined;
  }
}

const revision = process.env.GAMESERVER_EXPORTER_REVISION || commit();
// Removes the file of an older build, which would be wrong.
rmSync(file, { force: true });
if (revision !== undefined) writeFileSync(file, `${revision}\n`);
