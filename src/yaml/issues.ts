import leven from 'leven';
import { z } from 'zod';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import {
  BROKEN,
  isTreeMap,
  type KeyPath,
  type SettingProblem,
  type Tree,
  valueAt,
  type YamlDocument,
} from './document.ts';
import { quote } from './scalars.ts';

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
  const lines = issues.map(({ file, line, column, path, message }) => {
    const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
    return path === '' ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
  });
  return lines.join('\n');
}

/** The part of a JSON schema through which paths are followed. */
export interface SchemaNode {
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
}

/** At most this many problems of a file are reported: each is searched for in the file, and people read only the first ones. */
const MAX_PROBLEMS = 100;

/** A file as text and as a tree, and what is expected of it. */
export interface SettingsFile<Settings> {
  readonly file: string;
  readonly document: YamlDocument;
  /** The document's tree, or what it stands for. */
  readonly tree: Tree;
  readonly schema: z.ZodType<Settings>;
  /** Problems between settings. The tree may be one that the schema rejects. */
  readonly rules?: (tree: Tree) => readonly SettingProblem[];
}

/** The settings, or everything that is wrong with them, and a function that gives other problems their place in the file. */
export async function checkSettings<Settings>(checked: SettingsFile<Settings>) {
  const { document, tree, schema, rules = () => [] } = checked;
  // Only for files with problems, because it takes time.
  let root: SchemaNode | undefined;
  const knownAt: KnownAt = (path) => {
    root ??= z.toJSONSchema(schema, { io: 'input' }) as SchemaNode;
    return path.reduce<SchemaNode | undefined>(
      (node, step) => (typeof step === 'number' ? node?.items : node?.properties?.[step]),
      root,
    );
  };
  const toIssue = (problem: SettingProblem) => issueOf(problem, checked, knownAt);
  if (tree === undefined) return { settings: undefined, issues: document.problems.map(toIssue), toIssue };
  const first = await schema.safeParseAsync(tree);
  const unknown = unknownKeys(first.error).map((path) => unknownKey(path, tree, knownAt));
  // Misspelled keys are corrected by now, so that nothing that follows from them is reported.
  const { data, error } = unknown.length === 0 ? first : await schema.safeParseAsync(tree);
  const others = [...problemsIn(error), ...rules(tree)].filter(({ path }) => valueAt(tree, path) !== BROKEN);
  // What is within a value of the wrong kind doesn't matter.
  const isWithin = ({ path }: SettingProblem) =>
    others.some(
      (other) => other.path.length < path.length && other.path.every((step, index) => step === path[index]),
    );
  const syntax = document.problems.filter((problem) => !isWithin(problem));
  const problems = [...syntax, ...unknown, ...others];
  const message = `more than ${MAX_PROBLEMS} problems, showing the first ones found`;
  const more = problems.length > MAX_PROBLEMS ? [{ path: [], message, at: 'key' } as const] : [];
  const issues = [...more, ...problems.slice(0, MAX_PROBLEMS)]
    .map(toIssue)
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
  return { settings: issues.length === 0 ? data : undefined, issues, toIssue };
}

/** What the schema contains at a path; undefined if that is up to the user. */
type KnownAt = (path: KeyPath) => SchemaNode | undefined;

function unknownKeys(error: z.ZodError | undefined): readonly KeyPath[] {
  return (error?.issues ?? [])
    .flatMap((issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...pathOf(issue), key]) : [],
    )
    .slice(0, MAX_PROBLEMS + 1);
}

/** The problem of an unknown key. The key that was probably meant gets a broken value, unless it has another one. */
function unknownKey(path: KeyPath, tree: Tree, knownAt: KnownAt): SettingProblem {
  const [around, key] = [path.slice(0, -1), String(path.at(-1))];
  const known = Object.keys(knownAt(around)?.properties ?? {});
  const similar = mostSimilar(key, known);
  const map = valueAt(tree, around);
  if (similar !== undefined && isTreeMap(map)) map[similar] ??= BROKEN;
  const hint = similar === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${similar}?`;
  return { path, message: `unknown key, ${hint}`, at: 'key' };
}

function problemsIn(error: z.ZodError | undefined): readonly SettingProblem[] {
  const issues = (error?.issues ?? []).filter(({ code }) => code !== 'unrecognized_keys');
  return issues.slice(0, MAX_PROBLEMS + 1).map((issue): SettingProblem => {
    const path = pathOf(issue);
    if (issue.code === 'invalid_key')
      return { path, message: issue.issues[0]?.message ?? issue.message, at: 'key' };
    const params =
      issue.code === 'custom' ? (issue.params as Partial<SettingProblem> | undefined) : undefined;
    return { path, message: issue.message, at: params?.at ?? 'value' };
  });
}

function pathOf({ path }: z.core.$ZodIssue): KeyPath {
  return path.filter((step) => typeof step !== 'symbol');
}

/** The problem with its position, and with the value unless that is hidden. */
function issueOf(
  { path, message, at }: SettingProblem,
  { file, document, tree }: Omit<SettingsFile<unknown>, 'schema'>,
  knownAt: KnownAt,
): ConfigIssue {
  const value = at === 'value' ? valueAt(tree, path) : undefined;
  // A variable may contain a misplaced secret; the file's own text does not.
  const got = typeof value === 'string' ? document.sourceOf(value) : value;
  const text = value === undefined ? `is missing, ${message}` : `${message}, got ${quote(got)}`;
  return {
    file,
    ...(typeof at === 'object' ? at : document.placeOf(path, at === 'key' ? 'key' : 'value')),
    path: z.core.toDotPath(shownPart(path, knownAt)),
    message: KNOWN_SECRETS.redact(at === 'value' ? text : message),
  };
}

/** The form of the configurations' own keys, which passwords, tokens and API keys with digits or capitals don't have. */
const OWN_KEY = /^[a-z_]{1,24}$/;

/**
 * The path as far as the schema knows its keys, and an evident misspelling of one. Any other key is the user's own, and may be a
 * secret with wrong indentation: line and column still locate it.
 */
function shownPart(path: KeyPath, knownAt: KnownAt): KeyPath {
  const unknown = path.findIndex(
    (step, index) => typeof step === 'string' && knownAt(path.slice(0, index + 1)) === undefined,
  );
  if (unknown === -1) return path;
  const [known, key] = [path.slice(0, unknown), String(path[unknown])];
  const keys = Object.keys(knownAt(known)?.properties ?? {});
  return OWN_KEY.test(key) && mostSimilar(key, keys) !== undefined ? [...known, key] : known;
}

/** With at most this many edits between them, one word was probably meant to be the other. */
const MAX_EDITS = 2;

/** The known word that was probably meant; undefined if none is close. */
export function mostSimilar(word: string, known: readonly string[]): string | undefined {
  // `apiKey`, `api-key` and `API_KEY` differ in style, not in spelling.
  const plainForm = (text: string) => text.slice(0, 40).toLowerCase().replaceAll(/[-_ ]/g, '');
  const plain = plainForm(word);
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: leven(plain, plainForm(candidate)) }))
    .filter(({ edits }) => edits <= MAX_EDITS && edits < plain.length)
    .toSorted((a, b) => a.edits - b.edits);
  return nearest?.candidate;
}
