// The part of the build that lists the bundled packages and their licenses.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Plugin } from 'rolldown';

/** A bundled package. */
interface Component {
  readonly name: string;
  readonly version: string;
  /** An SPDX identifier. */
  readonly license: string;
  /** The license text, verbatim. */
  readonly text: string;
  /**
   * The hash of the archive from which npm installed the package, in hexadecimal; undefined if the
   * package isn't in the lockfile.
   */
  readonly sha512: string | undefined;
}

/**
 * Licenses that allow redistribution of the code with the exporter, if their texts are included.
 */
const PERMISSIVE = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
]);

const PACKAGE_FOLDER = /^(.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+)[/\\]/s;
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)/i;

/**
 * Writes the licenses of the packages in a build: `THIRD-PARTY-LICENSES.txt` for people, and a bill
 * of materials (CycloneDX) for scanners, which can't find packages inside a bundle. If builds share
 * the plugin, each writes the packages of all builds so far.
 */
export function thirdParty(): Plugin {
  const folders = new Set<string>();
  return {
    name: 'third-party',
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
      for (const [, folder] of modules.map((id) => PACKAGE_FOLDER.exec(id) ?? []))
        if (folder !== undefined) folders.add(folder);
      const hashes = lockedHashes();
      const components = [...folders].map((folder) => componentIn(folder, hashes)).toSorted(byNameAndVersion);
      const own = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source: notices(components) });
      this.emitFile({
        type: 'asset',
        fileName: `${own.name}.cdx.json`,
        source: `${JSON.stringify(billOfMaterials(own, components), null, 2)}\n`,
      });
    },
  };
}

type Manifest = Pick<Component, 'name' | 'version' | 'license'>;

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
}

/**
 * The hashes of the installed packages' archives, by folder. The lockfile has them in the format of
 * https://w3c.github.io/webappsec-subresource-integrity/.
 */
function lockedHashes(): ReadonlyMap<string, string> {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lockfile;
  return new Map(
    Object.entries(packages).flatMap(([folder, { integrity }]) => {
      const base64 = /^sha512-(\S+)$/.exec(integrity ?? '')?.[1];
      return base64 === undefined ? [] : [[folder, Buffer.from(base64, 'base64').toString('hex')] as const];
    }),
  );
}

function componentIn(folder: string, hashes: ReadonlyMap<string, string>): Component {
  const { name, version, license } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Manifest;
  if (!PERMISSIVE.has(license)) {
    throw new Error(
      `${name} has the license ${license}, which PERMISSIVE doesn't list, so it can't be part of the build`,
    );
  }
  const files = readdirSync(folder).filter((file) => LICENSE_FILE.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return {
    name,
    version,
    license,
    text: texts.join('\n\n') || `${license}; the package contains no license text.`,
    sha512: hashes.get(relative('.', folder).replaceAll('\\', '/')),
  };
}

function byNameAndVersion(a: Component, b: Component): number {
  return a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en');
}

/** The licenses of the packages as one text. */
function notices(components: readonly Component[]): string {
  const rule = '-'.repeat(80);
  const entries = components.map(
    ({ name, version, license, text }) => `${rule}\n${name} ${version} (${license})\n${rule}\n\n${text}\n`,
  );
  return `This program contains these packages, each under its own license.\n\n${entries.join('\n')}`;
}

/** The bill of materials of a build, as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). */
function billOfMaterials(own: Manifest, components: readonly Component[]) {
  const entry = (type: string, { name, version, license }: Manifest) => {
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
    return { 'bom-ref': purl, type, name, version, purl, licenses: [{ license: { id: license } }] };
  };
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: entry('application', own) },
    components: components.map((component) => ({
      ...entry('library', component),
      ...(component.sha512 !== undefined && { hashes: [{ alg: 'SHA-512', content: component.sha512 }] }),
    })),
  };
}
