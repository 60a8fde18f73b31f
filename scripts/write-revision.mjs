// Writes the commit that is built into dist/revision.txt, which `--version` and the build info metric show; part of `npm run build`.
// GAMESERVER_EXPORTER_REVISION names it where there is no repository, as in an image's build.
import { execFileSync } from 'node:child_process';
import { realpathSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = realpathSync(fileURLToPath(new URL('..', import.meta.url)));
const file = fileURLToPath(new URL('../dist/revision.txt', import.meta.url));

/** The checkout's commit; undefined where this folder is no checkout, though it may lie in somebody else's. */
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
// An older build's would be wrong.
rmSync(file, { force: true });
if (revision !== undefined) writeFileSync(file, `${revision}\n`);
