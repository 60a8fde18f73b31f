import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import { formatPath, type Path, type SettingProblem, type Tree, valueAt, YamlDocument } from './document.ts';
import { checkSettings } from './issues.ts';
import { readings } from './scalars.ts';
import { CONFIGURATION_FILE, type FileKind, type ReadFile, readTextFile, unreadable } from './text-file.ts';
import type { Environment } from './variables.ts';

/** A kind of configuration file. */
export interface SettingsFormat<Settings> {
  readonly schema: z.ZodType<Settings>;
  /** Problems between settings. */
  readonly rules?: (tree: Tree) => readonly SettingProblem[];
  /** The tree without what counts as absent. */
  readonly prepare?: (tree: Tree) => Tree;
  /** What is allowed, but may not have the effect that its author expects. */
  readonly warnings?: (settings: Settings) => readonly SettingProblem[];
}

/** Checks a configuration's text; `file` is its name in the issues. The files that it names aren't read. */
export async function parseSettings<Settings>(
  text: string,
  file: string,
  env: Environment,
  format: SettingsFormat<Settings>,
) {
  const { schema, rules, prepare = (whole) => whole, warnings } = format;
  const document = new YamlDocument(text, env);
  const tree = document.tree === undefined ? undefined : prepare(document.tree);
  const checked = { file, document, tree, schema, ...(rules && { rules }) };
  const { settings, issues, toIssue } = await checkSettings(checked);
  const warned = settings === undefined ? undefined : warnings?.(settings);
  return { document, settings, issues, warnings: (warned ?? []).map(toIssue) };
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
    const place = `${file}:${line}:${column}: ${formatPath(path)}`;
    return typeof shown === 'string' ? [{ file: pathFrom(file, shown), shown, place }] : [];
  });
}

/** A file's path as written in a configuration, which is relative to the configuration's directory. */
function pathFrom(file: string, name: string): string {
  return resolve(dirname(file), name.replace(/^~(?=\/)/, homedir()));
}

/** How a configuration file is loaded. */
interface LoadOptions {
  /** What to do if the file itself doesn't exist; the end of the message. */
  readonly advice: string;
  /** Files of this kind aren't read. */
  readonly skipped?: FileKind | undefined;
}

/** Reads a configuration file and the files that it refers to. Invalid input of any kind is returned as issues. */
export async function loadSettings<Settings>(
  file: string,
  env: Environment,
  format: SettingsFormat<Settings>,
  { advice, skipped }: LoadOptions,
) {
  const text = await readTextFile(file, CONFIGURATION_FILE);
  const files = new Set([file]);
  if (!text.ok) {
    const issue = { file: KNOWN_SECRETS.redact(file), path: '', message: unreadable(text, advice) };
    return { settings: undefined, issues: [issue], warnings: [], files: [...files] };
  }
  const read: ReadFile = async (name, kind) => {
    const path = pathFrom(file, name);
    files.add(path);
    return kind === skipped ? undefined : readTextFile(path, kind);
  };
  const parsed = await readings.run(read, () => parseSettings(text.content, file, env, format));
  return { ...parsed, files: [...files] };
}
