#!/usr/bin/env bash
# Writes the files of a release to a folder: `bash scripts/release/pack.sh FOLDER`. These are the
# package, its bill of materials, the deployment files with the package's hash in the egg, their
# checksums, and the changelog's section about this version.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=${1:?usage: bash scripts/release/pack.sh FOLDER}
version=$(node --print "require('./package.json').version")
name=gameserver-exporter

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
npm run build
node scripts/release/pack-package.mjs "$folder"
cp "dist/$name.cdx.json" "$folder/$name-$version.cdx.json"
node scripts/release/pin-package.mjs "$folder/$name-$version.tgz"
# Reproducible: the same commit always results in the same bytes.
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime='2000-01-01T00:00:00Z' deploy |
  gzip --no-name > "$folder/$name-deploy-$version.tar.gz"
node scripts/release/changes.mjs "$version" > "$folder/CHANGES.md"
cd "$folder"
sha256sum "$name"-* > SHA256SUMS
