// Writes the hash of the packed package into the egg, which installs only that package:
// `node scripts/release/pin-package.mjs FILE.tgz`.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

const EGG = 'deploy/pterodactyl/egg-gameserver-exporter.json';

const [tarball] = process.argv.slice(2);
if (tarball === undefined) {
  console.error('Usage: node scripts/release/pin-package.mjs <package.tgz>');
  process.exit(2);
}
// In the format of `dist.integrity` in the npm registry.
const integrity = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
const text = readFileSync(EGG, 'utf8');
const pinned = text.replace(/integrity='(?:sha512-[\w+/=]+)?'/, `integrity='${integrity}'`);
if (!pinned.includes(integrity)) throw new Error(`${EGG} has no place for the hash`);
writeFileSync(EGG, pinned);
