// Packs the built program as an npm package: `node scripts/release/pack-package.mjs FOLDER`. The build contains all dependencies, so
// the package is packed from a copy that declares none: npm would install them a second time.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** What a package contains whatever its `files` are. */
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
  for (const field of ['dependencies', 'devDependencies', 'scripts']) delete manifest[field];
  writeFileSync(join(copy, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  execFileSync('npm', ['pack', copy, '--ignore-scripts', '--pack-destination', resolve(folder)], {
    stdio: 'inherit',
  });
} finally {
  rmSync(copy, { recursive: true });
}
