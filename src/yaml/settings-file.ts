import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import {
  formatPath,
  isTreeMap,
  type Path,
  type Position,
  type SettingProblem,
  type Tree,
  valueAt,
  YamlDocument,
} from './document.ts';
import { applySchema, type ConfigIssue, MAX_PROBLEMS, toIssue } from './issues.ts';
import { CONFIGURATION_FILE, type FileKind, NamedFile, readTextFile, unreadable } from './text-file.ts';
import type { Environment } from './variables.ts';

/** A kind of configuration file: its schema, rules and secrets, and the files that it refers to. */
export interface SettingsFormat<Settings> {
  readonly schema: z.ZodType<Settings>;
  /** Problems between settings. The tree may be one that the schema rejects; its misspelled keys are corrected. */
  readonly rules?: (tree: Tree) => readonly SettingProblem[];
  /** The settings that name files. */
  readonly files: (tree: Tree) => readonly { readonly path: Path; readonly kind: FileKind }[];
  /** The tree without what counts as absent. */
  readonly prepare?: (tree: Tree) => Tree;
  /** The problem that replaces all others, if the file isn't of this kind at all. */
  readonly misfit?: (tree: Tree) => SettingProblem | undefined;
  /** What is allowed, but may not have the effect that its author expects. */
  readonly warnings?: (settings: Settings) => readonly SettingProblem[];
}

/** Where the first line begins. */
export const START: Position = { line: 1, column: 1 };

/** A setting that names a file. */
export interface FileReference extends Position {
  /** Such as `panels[0].api_key_file`. */
  readonly path: string;
  readonly named: NamedFile;
}

/**
 * A configuration's text; `file` is its name in the issues. The files that it refers to are checked with it if they were read by
 * then.
 */
export function openSettings<Settings>(
  text: string,
  file: string,
  env: Environment,
  format: SettingsFormat<Settings>,
) {
  const { schema, rules = () => [], prepare = (whole) => whole, warnings } = format;
  const document = new YamlDocument(text, env);
  const tree = document.tree === undefined ? undefined : prepare(document.tree);
  const issueOf = (problem: SettingProblem) => toIssue(problem, { file, document, tree, schema });
  const references = (tree === undefined ? [] : format.files(tree)).flatMap(
    ({ path, kind }): FileReference[] => {
      const [around, name] = [valueAt(tree, path.slice(0, -1)), valueAt(tree, path)];
      if (!isTreeMap(around) || typeof name !== 'string' || name === '') return [];
      const named = new NamedFile(name, kind);
      around[String(path.at(-1))] = named;
      return [{ path: formatPath(path), named, ...document.placeOf(path) }];
    },
  );
  const check = () => {
    const misfit = document.broken.length === 0 && tree !== undefined ? format.misfit?.(tree) : undefined;
    if (misfit !== undefined || tree === undefined) {
      const problems = misfit === undefined ? document.problems : [misfit];
      return { settings: undefined, issues: problems.map(issueOf), warnings: [] };
    }
    const { settings, problems, replaced } = applySchema(tree, schema);
    // A misspelled key or an unusable value is reported as such, without what would follow from it.
    const known = [...document.broken, ...replaced];
    const isNew = ({ path }: SettingProblem) =>
      !known.some((one) => one.every((step, index) => step === path[index]));
    const issues = reported([...document.problems, ...[...problems, ...rules(tree)].filter(isNew)]).map(
      issueOf,
    );
    return {
      settings: issues.length === 0 ? settings : undefined,
      issues: inOrder(issues),
      warnings: (settings === undefined ? [] : (warnings?.(settings) ?? [])).map(issueOf),
    };
  };
  return { document, references, check };
}

/** The first problems, with one that says so if there are more. */
function reported(problems: readonly SettingProblem[]): readonly SettingProblem[] {
  if (problems.length <= MAX_PROBLEMS) return problems;
  const message = `more than ${MAX_PROBLEMS} problems, showing the first ones found`;
  return [{ path: [], message, at: START }, ...problems.slice(0, MAX_PROBLEMS)];
}

function inOrder(issues: readonly ConfigIssue[]): readonly ConfigIssue[] {
  return issues.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
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

/** The files with keys that the configuration refers to. */
export function secretFiles(file: string, references: readonly FileReference[]): readonly SecretFile[] {
  return references.map(({ path, named, line, column }) => ({
    file: pathFrom(file, named.name),
    shown: named.name,
    place: `${file}:${line}:${column}: ${path}`,
  }));
}

/** A file's path as written in a configuration, which is relative to the configuration's directory. */
function pathFrom(file: string, name: string): string {
  return resolve(dirname(file), name.replace(/^~(?=\/)/, homedir()));
}

/** How a configuration file is loaded. */
export interface LoadOptions {
  /** What to do if the file itself doesn't exist; the end of the message. */
  readonly advice: string;
  /** Should this file not be read? */
  readonly isSkipped?: (file: NamedFile) => boolean;
}

/** Reads a configuration file and the files that it refers to. Invalid input of any kind is returned as issues. */
export async function loadSettings<Settings>(
  file: string,
  env: Environment,
  format: SettingsFormat<Settings>,
  { advice, isSkipped = () => false }: LoadOptions,
) {
  const text = await readTextFile(file, CONFIGURATION_FILE);
  if (!text.ok) {
    const issue: ConfigIssue = {
      file: KNOWN_SECRETS.redact(file),
      path: '',
      message: unreadable(text, advice),
    };
    return { settings: undefined, issues: [issue], warnings: [], references: [], files: [file] };
  }
  const { document, references, check } = openSettings(text.content, file, env, format);
  const read = references.map(async ({ named }) => {
    if (!isSkipped(named)) named.result = await readTextFile(pathFrom(file, named.name), named.kind);
  });
  await Promise.all(read);
  const files = [file, ...references.map(({ named }) => pathFrom(file, named.name))];
  return { ...check(), document, references, files };
}
