// Checks the text of a configuration file: returns its settings, or everything that is wrong with
// them.

import { z } from 'zod';
import { KNOWN_SECRETS } from '../text/redaction.ts';
import type { ConfigIssue } from './issues.ts';
import { mostSimilar } from './most-similar.ts';
import { type ReadFile, withNamedFiles } from './named-files.ts';
import { quote } from './quoting.ts';
import { NOT_READ, type SchemaNode } from './setting-types.ts';
import { BROKEN, isTreeMap, type KeyPath, type SettingProblem, type Tree, valueAt } from './tree.ts';
import type { Environment } from './variables.ts';
import { YamlDocument } from './yaml-document.ts';

/**
 * The maximum number of reported problems: each is located in the file, and people read only the
 * first ones.
 */
const MAX_PROBLEMS = 100;

/** The expectations of a file's text. */
interface Expected<Settings> {
  /** The name of the file in the issues. */
  readonly file: string;
  readonly schema: z.ZodType<Settings>;
  /** Converts the document's tree to the one that is checked; by default, both are the same. */
  readonly interpret?: (tree: Tree) => Tree;
  /** Reads the files that settings name. By default, none is read, and their contents are empty. */
  readonly read?: ReadFile | undefined;
  /**
   * Returns problems between settings. Problems of settings that are invalid themselves are
   * ignored.
   */
  readonly rules: (tree: Tree) => readonly SettingProblem[];
}

/**
 * The settings or everything that is wrong with them, and a function that adds positions in the
 * file to other problems.
 */
export async function checkSettings<T>(text: string, env: Environment, expected: Expected<T>) {
  const { file, schema, rules, read = NOT_READ, interpret = (whole) => whole } = expected;
  const document = new YamlDocument(text, env);
  const tree = document.tree === undefined ? undefined : interpret(document.tree);
  // Only for files with problems, because it is slow.
  let root: SchemaNode | undefined;
  const keysAt: KeysAt = (path) => {
    let node: SchemaNode | undefined = (root ??= z.toJSONSchema(schema, { io: 'input' }) as SchemaNode);
    for (const step of path) node = typeof step === 'number' ? node?.items : node?.properties?.[step];
    return Object.keys(node?.properties ?? {});
  };
  /** The problem with its position, and with the value unless it is hidden. */
  const toIssue = ({ path, message, at }: SettingProblem): ConfigIssue => {
    const value = at === 'value' ? valueAt(tree, path) : undefined;
    // A variable may contain a misplaced secret, but the file's own text does not.
    const got = typeof value === 'string' ? document.unexpanded(value) : value;
    const text = value === undefined ? `is missing, ${message}` : `${message}, got ${quote(got)}`;
    return {
      file,
      ...(typeof at === 'object' ? at : document.findPosition(path, at === 'key' ? 'key' : 'value')),
      path: z.core.toDotPath(shownPart(path, keysAt)),
      message: KNOWN_SECRETS.redact(at === 'value' ? text : message),
    };
  };
  // Named files are read first, so that no setting waits for one.
  const complete = tree === undefined ? undefined : await withNamedFiles(schema, tree, read);
  const parsed = tree === undefined ? undefined : schema.safeParse(complete);
  // A misspelled key marks the intended one as broken, so that its absence isn't reported.
  const unknown = unknownKeys(parsed?.error, tree, keysAt);
  const others: SettingProblem[] = [];
  for (const problem of [...problemsIn(parsed?.error), ...rules(tree)]) {
    const isNew = others.length <= MAX_PROBLEMS && !others.some(({ path }) => leadsTo(path, problem.path));
    if (isNew && valueAt(tree, problem.path) !== BROKEN) others.push(problem);
  }
  const inText = document.problems.filter(({ path }) => !others.some((around) => leadsTo(around.path, path)));
  const problems = [...inText, ...unknown, ...others];
  const message = `more than ${MAX_PROBLEMS} problems, showing the first ones found`;
  const more = problems.length > MAX_PROBLEMS ? [{ path: [], message, at: 'key' } as const] : [];
  const issues = [...more, ...problems.slice(0, MAX_PROBLEMS)]
    .map(toIssue)
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
  return { document, settings: issues.length === 0 ? parsed?.data : undefined, issues, toIssue };
}

/**
 * Is `other` the same path, or a path within the value? One problem of a value is enough, and hides
 * problems within it.
 */
function leadsTo(path: KeyPath, other: KeyPath): boolean {
  return path.every((step, index) => step === other[index]);
}

/** Returns the keys that the schema allows at a path; none if users choose them. */
type KeysAt = (path: KeyPath) => readonly string[];

/**
 * The problems of unknown keys. The probably intended key is marked as broken, unless it has a
 * value.
 */
function unknownKeys(error: z.ZodError | undefined, tree: Tree, keysAt: KeysAt): readonly SettingProblem[] {
  const found = (error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ around: issuePath(issue), key })) : [],
  );
  return found.slice(0, MAX_PROBLEMS + 1).map(({ around, key }) => {
    const known = keysAt(around);
    const similar = mostSimilar(key, known);
    const map = valueAt(tree, around);
    if (similar !== undefined && isTreeMap(map)) map[similar] ??= BROKEN;
    const hint = similar === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${similar}?`;
    return { path: [...around, key], message: `unknown key, ${hint}`, at: 'key' };
  });
}

function problemsIn(error: z.ZodError | undefined): readonly SettingProblem[] {
  const issues = (error?.issues ?? []).filter(({ code }) => code !== 'unrecognized_keys');
  return issues.slice(0, MAX_PROBLEMS + 1).map((issue) => {
    const [path, message] = [issuePath(issue), issue.message];
    if (issue.code === 'invalid_key')
      return { path, message: issue.issues[0]?.message ?? message, at: 'key' };
    const { at = 'value' }: Partial<SettingProblem> = (issue.code === 'custom' && issue.params) || {};
    return { path, message, at };
  });
}

function issuePath({ path }: z.core.$ZodIssue): KeyPath {
  return path.filter((step) => typeof step !== 'symbol');
}

/**
 * The form of the configurations' own keys, which passwords, tokens and API keys with digits or
 * capitals don't have.
 */
const OWN_KEY = /^[a-z_]{1,24}$/;

/**
 * The part of a path that may be shown: the schema's keys, and obvious misspellings of them. Any
 * other key may be a secret with wrong indentation, for which line and column are enough.
 */
function shownPart(path: KeyPath, keysAt: KeysAt): KeyPath {
  const isUnknown = (step: string | number, index: number) =>
    typeof step === 'string' && !keysAt(path.slice(0, index)).includes(step);
  const unknown = path.findIndex(isUnknown);
  if (unknown === -1) return path;
  const [known, key] = [path.slice(0, unknown), String(path[unknown])];
  return OWN_KEY.test(key) && mostSimilar(key, keysAt(known)) !== undefined ? [...known, key] : known;
}
