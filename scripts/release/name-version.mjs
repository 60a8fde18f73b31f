// Writes a new version into the files that contain it. Run by `npm version`, which updates
// package.json and package-lock.json itself.
import { readFileSync, writeFileSync } from 'node:fs';

const FILES = [
  'README.md',
  'docs/install.md',
  'deploy/compose/compose.yaml',
  'deploy/kubernetes/overlays/one/kustomization.yaml',
  'deploy/kubernetes/overlays/many/kustomization.yaml',
  'deploy/pterodactyl/egg-gameserver-exporter.json',
];

/** Matches the package, its tarball, the deployment files or the image, with a version. */
const VERSION = /(\bgameserver-exporter(?:-deploy)?[-@:]|\bnewTag: )\d+\.\d+\.\d+(?:-[a-z]+(?:\.\d+)*)?/g;

const { npm_new_version: version } = process.env;
if (!version) {
  console.error('Usage: npm version --no-git-tag-version <new version>');
  process.exit(2);
}

for (const file of FILES) {
  const text = readFileSync(file, 'utf8');
  const named = text.replaceAll(VERSION, `$1${version}`);
  if (!named.includes(version)) throw new Error(`${file} names no version`);
  writeFileSync(file, named);
}
