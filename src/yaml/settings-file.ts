import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import { type Path, valueAt, type YamlDocument } from './document.ts';
import { readings } from './scalars.ts';
import { CONFIGURATION_FILE, type FileKind, type ReadFile, readTextFile, unreadable } from './text-file.ts';

/** Reads and parses a configuration file, and returns the files that it refers to as well. While it is parsed, those can be read. */
export async function loadSettings<Parsed>(
  file: string,
  parse: (text: string) => Promise<Parsed>,
  /** What to do if the file doesn't exist, which ends the message, and which files that it refers to aren't read. */
  { advice, skipped }: { readonly advice: string; readonly skipped?: FileKind | undefined },
) {
  const text = await readTextFile(file, CONFIGURATION_FILE);
  if (!text.ok) {
    const issue = { file: KNOWN_SECRETS.redact(file), path: '', message: unreadable(text, advice) };
    return { parsed: undefined, issues: [issue], files: [file] };
  }
  const files = new Set([file]);
  const read: ReadFile = async (name, kind) => {
    const path = pathFrom(file, name);
    files.add(path);
    return kind === skipped ? undefined : readTextFile(path, kind);
  };
  const parsed = await readings.run(read, () => parse(text.content));
  return { parsed, files: [...files] };
}

/** A file that contains a key. */
export interface SecretFile {
  /** The path as this process opens it. */
  readonly file: string;
  /** The path as the user wrote it. */
  readonly shown: string;
  /** The position and the path of the setting that refers to it, or that is the key. */
  readonly place: string;
}

/** The files with keys that are named at these paths. */
export function secretFiles(file: string, document: YamlDocument, paths: readonly Path[]) {
  return paths.flatMap((path): readonly SecretFile[] => {
    const [shown, { line, column }] = [valueAt(document.tree, path), document.placeOf(path)];
    const place = `${file}:${line}:${column}: ${z.core.toDotPath(path)}`;
    return typeof shown === 'string' ? [{ file: pathFrom(file, shown), shown, place }] : [];
  });
}

/** A file's path as written in a configuration, which is relative to the configuration's directory. */
function pathFrom(file: string, name: string): string {
  return resolve(dirname(file), name.replace(/^~(?=\/)/, homedir()));
}
