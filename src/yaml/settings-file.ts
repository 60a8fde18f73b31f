import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import {
  type Environment,
  formatPath,
  type Path,
  type Position,
  type SettingProblem,
  type Tree,
  valueAt,
  YamlDocument,
} from './document.ts';
import {
  applySchema,
  type ConfigIssue,
  type IssueSource,
  MAX_PROBLEMS,
  sortIssues,
  toIssue,
} from './issues.ts';
import { quote } from './scalars.ts';
import { CONFIGURATION_FILE, type FileKind, readTextFile, unreadable } from './text-file.ts';

/** A kind of configuration file: its schema, rules and secrets, and the files that it refers to. */
export interface SettingsFormat<Shape> {
  readonly schema: z.ZodType<Shape>;
  /** Problems between settings. The tree may be one that the schema rejects; its misspelled keys are corrected. */
  readonly rules: (tree: Tree) => readonly SettingProblem[];
  /** Must the value at this path be kept out of messages? */
  readonly isSecret: (path: Path) => boolean;
  /** The paths of the settings that name files. */
  readonly filePaths: (tree: Tree) => readonly Path[];
  /** Prepares the tree that schema, rules and `filePaths` get; by default, they get the file's own. */
  readonly prepare?: (tree: Tree) => Tree;
  /** The message for a configuration of another program, which replaces all others; undefined if it isn't one. */
  readonly foreignMessage?: (tree: Tree) => string | undefined;
  /** The message for an empty file; without it, an empty file goes through the schema like any other. */
  readonly emptyMessage?: string;
}

/** A file that a configuration refers to and that has to be read to complete the configuration. */
export interface FileReference extends Position {
  /** The setting that refers to it, such as `panels[0].api_key_file`. */
  readonly path: string;
  /** The file's path as written in the configuration. */
  readonly file: string;
}

/** The content of a configuration's text, whether or not it is valid. */
export interface ParsedSettings<Shape> {
  /** Undefined if there are issues. */
  readonly shape: Shape | undefined;
  /** In the order in which they occur in the file. */
  readonly issues: readonly ConfigIssue[];
  /** The files to read, even if there are issues: all problems are reported at once. */
  readonly files: readonly FileReference[];
}

const START: Position = { line: 1, column: 1 };

/** Reads a configuration's text; `file` is its name in the issues. */
export function parseSettings<Shape>(
  text: string,
  file: string,
  env: Environment,
  format: SettingsFormat<Shape>,
): ParsedSettings<Shape> & { readonly source: IssueSource } {
  const {
    schema,
    rules,
    isSecret,
    filePaths,
    prepare = (tree) => tree,
    emptyMessage,
    foreignMessage,
  } = format;
  const document = new YamlDocument(text, env, isSecret);
  const source = { file, document, schema, isSecret };
  const issueOf = (problem: SettingProblem) => toIssue(problem, source);
  if (document.tree === undefined || (document.tree === null && emptyMessage !== undefined)) {
    const empty = { path: [], message: emptyMessage ?? '', at: START };
    const problems = document.problems.length === 0 ? [empty] : document.problems;
    return { shape: undefined, issues: reported(problems).map(issueOf), files: [], source };
  }
  const foreign = foreignMessage?.(document.tree);
  if (foreign !== undefined) {
    return {
      shape: undefined,
      issues: [issueOf({ path: [], message: foreign, at: START })],
      files: [],
      source,
    };
  }
  const tree = prepare(document.tree);
  const { shape, problems, meant, replaced } = applySchema(tree, schema);
  // A misspelled key is reported as such, without what would follow from it.
  const isCounted = ({ path }: SettingProblem) =>
    !document.isBroken(path) && !replaced.some((key) => key.every((step, index) => step === path[index]));
  const counted = [...problems, ...rules(meant)].filter(isCounted);
  const issues = sortIssues(reported([...document.problems, ...counted]).map(issueOf));
  const files = filePaths(tree).flatMap((path): FileReference[] => {
    const named = valueAt(tree, path);
    if (typeof named !== 'string' || named === '' || document.isBroken(path)) return [];
    return [{ path: formatPath(path), file: named, ...document.placeOf(path) }];
  });
  return { shape: issues.length === 0 ? shape : undefined, issues, files, source };
}

/** The first problems, with one that says so if there are more. */
function reported(problems: readonly SettingProblem[]): readonly SettingProblem[] {
  if (problems.length <= MAX_PROBLEMS) return problems;
  const message = `more than ${MAX_PROBLEMS} problems, showing the first ones found`;
  return [{ path: [], message, at: START }, ...problems.slice(0, MAX_PROBLEMS)];
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

/** The files with keys: those that a configuration refers to, and itself if a key is written in it, at the path `inline`. */
export function secretFiles(
  file: string,
  named: readonly FileReference[],
  inline: string | undefined,
): readonly SecretFile[] {
  const own = inline === undefined ? [] : [{ file, shown: file, place: `${file}: ${inline}` }];
  const others = named.map(({ path, file: shown, line, column }) => ({
    file: resolve(dirname(file), shown),
    shown,
    place: `${file}:${line}:${column}: ${path}`,
  }));
  return [...own, ...others];
}

/** How a configuration file is loaded. */
export interface LoadSteps<Parsed> {
  readonly parse: (text: string) => Parsed | Promise<Parsed>;
  /** What to do if the file itself can't be read, and the reason doesn't show it; the end of the message. */
  readonly advice: string;
  /** What a named file is expected to contain. */
  readonly kindOf: (reference: FileReference) => FileKind;
  /** What is wrong with the content of a named file; follows the file's name. */
  readonly contentProblem?: (reference: FileReference, content: string) => string | undefined;
  /** Should this named file not be read? */
  readonly isSkipped?: (reference: FileReference) => boolean;
}

/** A configuration file and the contents of the files that it refers to. */
export interface LoadedSettings<Parsed> {
  /** Undefined if the file itself can't be read. */
  readonly parsed: Parsed | undefined;
  /** All problems, in the order in which they occur in the file. */
  readonly issues: readonly ConfigIssue[];
  /** By the setting that refers to the file, such as `panels[0].api_key_file`. */
  readonly contents: ReadonlyMap<string, string>;
  /** The file and the files that it refers to, whether or not they can be read. */
  readonly files: readonly string[];
}

/**
 * Reads a configuration file and the files that it refers to, whose relative paths start at its directory. Invalid input of any kind
 * is returned as issues.
 */
export async function loadSettings<Parsed extends ParsedSettings<unknown>>(
  file: string,
  { parse, advice, kindOf, contentProblem, isSkipped }: LoadSteps<Parsed>,
): Promise<LoadedSettings<Parsed>> {
  const text = await readTextFile(file, CONFIGURATION_FILE);
  if (!text.ok) {
    const message = unreadable(text, advice);
    const issues = [{ file: KNOWN_SECRETS.redact(file), path: '', message }];
    return { parsed: undefined, issues, contents: new Map(), files: [file] };
  }
  const parsed = await parse(text.content);
  const pathOf = (reference: FileReference) => resolve(dirname(file), reference.file);
  const contents = new Map<string, string>();
  const fileIssues = await Promise.all(
    parsed.files.map(async (reference): Promise<ConfigIssue[]> => {
      if (isSkipped?.(reference) === true) return [];
      const { path, line, column } = reference;
      const read = await readTextFile(pathOf(reference), kindOf(reference));
      if (read.ok) contents.set(path, read.content);
      const problem = read.ok ? contentProblem?.(reference, read.content) : unreadable(read);
      if (problem === undefined) return [];
      return [{ file, line, column, path, message: `the file ${quote(reference.file)} ${problem}` }];
    }),
  );
  return {
    parsed,
    issues: sortIssues([...parsed.issues, ...fileIssues.flat()]),
    contents,
    files: [file, ...parsed.files.map(pathOf)],
  };
}
