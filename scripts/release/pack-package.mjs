// Packs the built program as an npm package: `node scripts/release/pack-package.mjs FOLDER`.
//
// The build contains all dependencies, so the package is packed from a copy that declares none: npm
// would install them a second time.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize, resolve } from 'node:path';

/** Files that a package contains in addition to `files`. */
const ALWAYS = ['README.md', 'LICENSE'];

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Usage: node scripts/release/pack-package.mjs <folder>');
  process.exit(2);
}

const copy = mkdtempSync(join(tmpdir(), 'gameserver-exporter-package-'));
try {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const path of [...manifest.files, ...ALWAYS]) cpSync(path, join(copy, path), { recursive: true });
  for (const page of readdirSync(copy, { recursive: true })) {
    if (page.endsWith('.md')) linkRepository(page, manifest);
  }
  for (const field of ['dependencies', 'devDependencies', 'scripts']) delete manifest[field];
  writeFileSync(join(copy, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  execFileSync('npm', ['pack', copy, '--ignore-scripts', '--pack-destination', resolve(folder)], {
    stdio: 'inherit',
  });
} finally {
  rmSync(copy, { recursive: true });
}

/**
 * Changes links to files that aren't packed into links to the repository. Without its address, only
 * the text of a link remains.
 */
function linkRepository(page, { homepage, version }) {
  const file = join(copy, page);
  const text = readFileSync(file, 'utf8').replaceAll(
    /(?<!!)\[([^\]]*)\]\(([^)#:\s]+)(#[^)]*)?\)/g,
    (link, words, target, anchor = '') => {
      const path = normalize(join(dirname(page), target));
      if (existsSync(join(copy, path))) return link;
      const kind = /\.\w+$/.test(path) ? 'blob' : 'tree';
      return homepage === undefined
        ? words
        : `[${words}](${homepage.replace('#readme', '')}/${kind}/v${version}/${path}${anchor})`;
    },
  );
  writeFileSync(file, text);
}
