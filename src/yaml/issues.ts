import type { z } from 'zod';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import type { YamlDocument, YamlProblem } from './document.ts';
import { quote } from './quoting.ts';
import { mostSimilar } from './similar-words.ts';
import { formatPath, type Path, type Tree, valueAt } from './tree.ts';

/** One problem in the configuration. Line and column count from 1. */
export interface ConfigIssue {
  readonly file: string;
  /** Absent if the issue concerns the whole file, for example because it doesn't exist. */
  readonly line?: number;
  readonly column?: number;
  /** The path in the configuration, such as `panels[0].url`; empty for the whole of it. */
  readonly path: string;
  /** What is wrong and what was expected; never contains a secret. */
  readonly message: string;
}

/** The issues as lines of `file:line:column: path: message`, without a newline at the end. */
export function formatIssues(issues: readonly ConfigIssue[]): string {
  return issues.map(formatIssue).join('\n');
}

function formatIssue({ file, line, column, path, message }: ConfigIssue): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}

/** The issues in the order of their positions. */
export function sortIssues(issues: readonly ConfigIssue[]): readonly ConfigIssue[] {
  return issues.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

/** A problem with a setting, or with its key if `at` says so. The message doesn't quote the value: `locate` adds it. */
export interface SettingProblem {
  readonly path: Path;
  readonly message: string;
  readonly at: 'key' | 'value';
  /** The key that an unknown key was probably meant to be. */
  readonly meant?: string;
}

/** The part of a JSON schema through which paths are followed. */
export interface SchemaNode {
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
}

/** The result of applying a schema to a tree. */
export interface SchemaResult<Shape> {
  /** Undefined if there are problems. */
  readonly shape: Shape | undefined;
  readonly problems: readonly SettingProblem[];
}

/** Reads a tree with a schema. `jsonSchema` provides the known keys and is called only if a key is unknown. */
export function applySchema<Shape>(
  tree: Tree,
  schema: z.ZodType<Shape>,
  jsonSchema: () => SchemaNode,
): SchemaResult<Shape> {
  const result = schema.safeParse(tree);
  if (result.success) return { shape: result.data, problems: [] };
  const problems = result.error.issues.flatMap((issue): SettingProblem[] => {
    const path = issue.path.filter((step) => typeof step !== 'symbol');
    if (issue.code === 'unrecognized_keys') {
      const known = knownKeys(jsonSchema(), path);
      return issue.keys.map((key) => unknownKey(path, key, known));
    }
    return [{ path, message: issue.message, at: 'value' }];
  });
  return { shape: undefined, problems };
}

/** The known keys of the section at a path. */
function knownKeys(root: SchemaNode, path: Path): readonly string[] {
  let schema: SchemaNode | undefined = root;
  for (const step of path) schema = typeof step === 'number' ? schema?.items : schema?.properties?.[step];
  return Object.keys(schema?.properties ?? {});
}

function unknownKey(path: Path, key: string, known: readonly string[]): SettingProblem {
  const meant = mostSimilar(key, known);
  const hint = meant === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${meant}?`;
  return {
    path: [...path, key],
    message: `unknown key, ${hint}`,
    at: 'key',
    ...(meant === undefined ? {} : { meant }),
  };
}

/** Without the settings that are missing only because their keys are misspelled. */
export function withoutConsequences(
  problems: readonly SettingProblem[],
  tree: Tree,
): readonly SettingProblem[] {
  const misspelled = new Set(
    problems.flatMap(({ path, meant }) =>
      meant === undefined ? [] : [formatPath([...path.slice(0, -1), meant])],
    ),
  );
  if (misspelled.size === 0) return problems;
  return problems.filter(
    ({ path, meant }) =>
      meant !== undefined || valueAt(tree, path) !== undefined || !misspelled.has(formatPath(path)),
  );
}

/** The problem with its position, and with the value unless that is a secret. */
export function locate(
  { path, message, at }: SettingProblem,
  document: YamlDocument,
  isSecret: (path: Path) => boolean,
): YamlProblem {
  if (at === 'key') return { path, message, ...document.placeOfKey(path) };
  const value = valueAt(document.tree, path);
  const shown =
    value === undefined
      ? `is missing, ${message}`
      : isSecret(path)
        ? message
        : // A variable may contain a misplaced secret; the file's own text does not.
          `${message}, got ${quote(document.templateOf(path) ?? value)}`;
  return { path, message: shown, ...document.placeOf(path) };
}

/** Converts problems to issues of the file `file`; the schema provides the keys that may be shown. */
export function toIssue(file: string, jsonSchema: () => SchemaNode): (problem: YamlProblem) => ConfigIssue {
  let schema: SchemaNode | undefined;
  return ({ path, message, line, column }) => {
    schema ??= jsonSchema();
    return {
      file,
      line,
      column,
      path: formatPath(knownPart(path, schema)),
      message: KNOWN_SECRETS.redact(message),
    };
  };
}

/**
 * The path as far as the schema knows its keys, and an evident misspelling of one. Any other key is the user's own, and may be a
 * secret with wrong indentation: line and column still locate it.
 */
function knownPart(path: Path, root: SchemaNode): Path {
  let schema: SchemaNode | undefined = root;
  for (const [index, step] of path.entries()) {
    const next: SchemaNode | undefined =
      typeof step === 'number' ? schema?.items : schema?.properties?.[step];
    if (typeof step === 'string' && next === undefined) {
      const isShown = isMisspelling(step, Object.keys(schema?.properties ?? {}));
      return path.slice(0, isShown ? index + 1 : index);
    }
    schema = next;
  }
  return path;
}

/** The form of the configurations' own keys, which passwords, tokens and API keys with digits or capitals don't have. */
const PLAIN_KEY = /^[a-z_]{1,24}$/;

/** Whether an unknown key is similar enough to a known one to be shown. */
function isMisspelling(key: string, known: readonly string[]): boolean {
  return PLAIN_KEY.test(key) && mostSimilar(key, known) !== undefined;
}
