// Writes the built commit to dist/revision.txt, for `--version` and the build info metric; part of
// `npm run build`. Without a repository, as in the build of an image, GAMESERVER_EXPORTER_REVISION
// provides the commit.
import { execFileSync } from 'node:child_process';
import { realpathSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = realpathSync(fileURLToPath(new URL('..', import.meta.url)));
const file = fileURLToPath(new URL('../dist/revision.txt', import.meta.url));

/** The commit of the checkout; undefined if this folder isn't the top of one. */
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
// The file of an older build would be wrong.
rmSync(file, { force: true });
if (revision !== undefined) writeFileSync(file, `${revision}\n`);
