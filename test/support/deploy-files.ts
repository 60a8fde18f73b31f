// Reads files of the repository.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

const ROOT = new URL('../../', import.meta.url);

/** The absolute path of a file in the repository. */
export function repositoryPath(path: string): string {
  return fileURLToPath(new URL(path, ROOT));
}

export function isInRepository(path: string): boolean {
  return existsSync(new URL(path, ROOT));
}

export function readText(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

/** The documents of a YAML file, with merge keys resolved; throws if it isn't strict YAML. */
export function readYaml(path: string): readonly unknown[] {
  return parseAllDocuments(readText(path), { merge: true }).map((document) => {
    const [error] = [...document.errors, ...document.warnings];
    if (error !== undefined) throw new Error(`${path}: ${error.message}`, { cause: error });
    return document.toJS() as unknown;
  });
}

/** The contents of `package.json`. */
export function readManifest(): { readonly version: string; readonly license: string } {
  return JSON.parse(readText('package.json')) as { version: string; license: string };
}
