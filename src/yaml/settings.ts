// The types of settings, and how what is wrong with one is reported.

import leven from 'leven';
import { z } from 'zod';
import { KNOWN_SECRETS } from '../domain/secrets.ts';
import type { Limit } from '../domain/server.ts';
import { DURATION_PATTERN, formatDuration, parseDuration } from '../domain/time.ts';
import {
  BROKEN,
  type Environment,
  type FileKind,
  isTreeMap,
  type KeyPath,
  pathFrom,
  type SettingProblem,
  type Tree,
  valueAt,
  YamlDocument,
} from './document.ts';
import { NamedFile, namesFile, type ReadFile, withNamedFiles } from './named-files.ts';

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

/**
 * At most this many problems of a file are reported: each is searched for in the file, and people
 * read only the first ones.
 */
const MAX_PROBLEMS = 100;

/** What is expected of a file's text. */
interface Expected<Settings> {
  /** Its name in the issues. */
  readonly file: string;
  readonly schema: z.ZodType<Settings>;
  /** What the document's tree stands for, if not itself. */
  readonly treeOf?: (tree: Tree) => Tree;
  /** Reads the files that settings name; by default, none is read, and their contents are empty. */
  readonly read?: ReadFile | undefined;
  /**
   * Problems between settings, of which some may be wrong themselves: what is said of those doesn't
   * count.
   */
  readonly rules: (tree: Tree) => readonly SettingProblem[];
}

/**
 * The settings, or everything that is wrong with them, and a function that gives other problems
 * their place in the file.
 */
export async function checkSettings<T>(text: string, env: Environment, expected: Expected<T>) {
  const { file, schema, rules, read = NOT_READ, treeOf = (whole) => whole } = expected;
  const document = new YamlDocument(text, env);
  const tree = document.tree === undefined ? undefined : treeOf(document.tree);
  // Only for files with problems, because it takes time.
  let root: SchemaNode | undefined;
  const keysAt: KeysAt = (path) => {
    let node: SchemaNode | undefined = (root ??= z.toJSONSchema(schema, { io: 'input' }) as SchemaNode);
    for (const step of path) node = typeof step === 'number' ? node?.items : node?.properties?.[step];
    return Object.keys(node?.properties ?? {});
  };
  /** The problem with its position, and with the value unless that is hidden. */
  const toIssue = ({ path, message, at }: SettingProblem): ConfigIssue => {
    const value = at === 'value' ? valueAt(tree, path) : undefined;
    // A variable may contain a misplaced secret; the file's own text does not.
    const got = typeof value === 'string' ? document.sourceOf(value) : value;
    const text = value === undefined ? `is missing, ${message}` : `${message}, got ${quote(got)}`;
    return {
      file,
      ...(typeof at === 'object' ? at : document.placeOf(path, at === 'key' ? 'key' : 'value')),
      path: z.core.toDotPath(shownPart(path, keysAt)),
      message: KNOWN_SECRETS.redact(at === 'value' ? text : message),
    };
  };
  // The names first, and then the settings with what was read: no setting waits for a file.
  const complete = tree === undefined ? undefined : await withNamedFiles(schema, tree, read);
  const parsed = tree === undefined ? undefined : schema.safeParse(complete);
  // Misspelled keys are corrected by this, so that nothing that follows from them is reported.
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
 * Is the other value the one at this path, or within it? One problem of a value is enough, and
 * hides what is within it.
 */
function leadsTo(path: KeyPath, other: KeyPath): boolean {
  return path.every((step, index) => step === other[index]);
}

/** The keys that the schema knows at a path; none if they are up to the user. */
type KeysAt = (path: KeyPath) => readonly string[];

/**
 * The problems of unknown keys. A key that was probably meant gets a broken value, unless it has
 * another one.
 */
function unknownKeys(error: z.ZodError | undefined, tree: Tree, keysAt: KeysAt): readonly SettingProblem[] {
  const found = (error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ around: pathOf(issue), key })) : [],
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
    const [path, message] = [pathOf(issue), issue.message];
    if (issue.code === 'invalid_key')
      return { path, message: issue.issues[0]?.message ?? message, at: 'key' };
    const { at = 'value' }: Partial<SettingProblem> = (issue.code === 'custom' && issue.params) || {};
    return { path, message, at };
  });
}

function pathOf({ path }: z.core.$ZodIssue): KeyPath {
  return path.filter((step) => typeof step !== 'symbol');
}

/**
 * The form of the configurations' own keys, which passwords, tokens and API keys with digits or
 * capitals don't have.
 */
const OWN_KEY = /^[a-z_]{1,24}$/;

/**
 * The path as far as the schema knows its keys, and an evident misspelling of one. Any other key is
 * the user's own, and may be a secret with wrong indentation: line and column still locate it.
 */
function shownPart(path: KeyPath, keysAt: KeysAt): KeyPath {
  const isUnknown = (step: string | number, index: number) =>
    typeof step === 'string' && !keysAt(path.slice(0, index)).includes(step);
  const unknown = path.findIndex(isUnknown);
  if (unknown === -1) return path;
  const [known, key] = [path.slice(0, unknown), String(path[unknown])];
  return OWN_KEY.test(key) && mostSimilar(key, keysAt(known)) !== undefined ? [...known, key] : known;
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

/** Longer values are truncated in messages. */
const MAX_QUOTED = 120;

/** Everything before the last `@`, because a password may contain any character. */
const USER_INFO = /^.*@/s;
const QUERY_VALUE = /([?&][^=&#]*=)[^&#]*/g;

/** An address, or what was meant to be one, without username, password and query values. */
export function withoutCredentials(text: string): string {
  const [scheme = ''] = /^[a-z]+:\/\//i.exec(text) ?? [];
  const rest = text.slice(scheme.length).replace(USER_INFO, '<secret>@');
  return KNOWN_SECRETS.redact(scheme + rest.replaceAll(QUERY_VALUE, '$1<secret>'));
}

/** How a message shows a value: quoted if it is a text, otherwise by its kind. */
export function quote(value: Tree): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value !== 'string') return 'a map';
  const shown = withoutCredentials(value);
  return JSON.stringify(shown.length > MAX_QUOTED ? `${shown.slice(0, MAX_QUOTED)}…` : shown);
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** A problem as a schema reports it. */
export function problemOf(message: string, at: SettingProblem['at'] = 'value') {
  return { code: 'custom' as const, message, params: { at } };
}

interface ScalarOptions<T> {
  /** What the file could contain. */
  readonly example?: string;
  /** A more precise message than what was expected, if there is one. */
  readonly problem?: (text: string) => string | undefined;
  /** The parsed value; undefined if the text is invalid. By default, the text itself. */
  readonly read?: (text: string) => T | undefined;
  /** The type as editors see it; a text by default. */
  readonly json?: JsonSchema;
  /** No message shows a secret. */
  readonly isSecret?: boolean;
}

/**
 * A setting that is a text in the file and the result of `read` in the program. Rules see an
 * invalid one as undefined.
 */
export function scalar<T = string>(expected: string, options: ScalarOptions<T> = {}) {
  const { example, problem, read = (text) => text as T, json = {}, isSecret = false } = options;
  const kind = example === undefined ? expected : `${expected}, such as ${example}`;
  return z
    .unknown()
    .transform((text, context): T => {
      // The same text may also occur elsewhere in the file, where messages quote it.
      if (isSecret && typeof text === 'string') KNOWN_SECRETS.add(text);
      const wrong = typeof text === 'string' ? problem?.(text) : undefined;
      const value = wrong === undefined && typeof text === 'string' ? read(text) : undefined;
      const at = isSecret ? 'hidden value' : 'value';
      if (value === undefined) context.addIssue(problemOf(wrong ?? `expected ${kind}`, at));
      return value as T;
    })
    .meta({ type: 'string', ...json, ...(example !== undefined && { examples: [example] }) });
}

const NOT_READ: ReadFile = () => Promise.resolve(undefined);

interface FileOptions {
  readonly kind: FileKind;
  /** What the file should contain, as the end of "expected …". */
  readonly expected?: string;
  /** What is wrong with the file's name, if it can't be read. */
  readonly nameProblem?: (name: string) => string | undefined;
  /** What is wrong with its content; follows the file's name. */
  readonly problem: (content: string) => string | undefined;
}

/** A setting that names a file, and is its content: empty if the file isn't read. */
export function namedFile({ kind, expected = 'a file path', nameProblem, problem }: FileOptions) {
  const type = z
    .unknown()
    .transform((value, context) => {
      // Otherwise, a key would be empty without an error.
      if (typeof value === 'string' && value !== '') throw new Error('a named file was not read');
      const { name, file } = value instanceof NamedFile ? value : new NamedFile('', undefined);
      if (name === '') context.addIssue(problemOf(`expected ${expected}`));
      const unusable = file && (file.ok ? problem(file.content) : file.problem);
      const wrong =
        (file?.ok ? undefined : nameProblem?.(name)) ?? (unusable && `the file ${quote(name)} ${unusable}`);
      if (wrong !== undefined) context.addIssue(problemOf(wrong, 'hidden value'));
      return file?.ok ? file.content : '';
    })
    .meta({ type: 'string' });
  return namesFile(type, kind);
}

/** A setting with examples of what the file may contain. */
export function withExamples<T extends z.ZodType>(type: T, ...examples: readonly unknown[]): T {
  return examples.length === 0 ? type : type.meta({ examples: [...examples] });
}

/** A setting that may be missing. */
export function optional<T extends z.ZodType>(type: T, ...examples: readonly unknown[]) {
  return withExamples(type.optional(), ...examples);
}

/** A setting with a default, which is what the file could contain instead. */
export function byDefault<T extends z.ZodType>(initial: string | number | boolean, type: T) {
  return type.prefault(String(initial) as z.input<T>).meta({ default: initial });
}

/** A mapping with these keys and no others. */
export function section<T extends z.ZodRawShape>(expected: string, shape: T) {
  return z.strictObject(shape, { error: `expected ${expected}` });
}

/**
 * A mapping whose settings have other names in the program: `pollIntervalMs` is `poll_interval` in
 * the file.
 */
export function settings<T extends z.ZodRawShape>(expected: string, shape: T) {
  const names = new Map(Object.keys(shape).map((name) => [keyOf(name), name]));
  const types = Object.fromEntries(Object.entries(shape).map(([name, type]) => [keyOf(name), type]));
  return section(expected, types).transform((values) => {
    const renamed = Object.entries(values).map(([key, value]) => [names.get(key), value]);
    return Object.fromEntries(renamed) as { [Name in keyof T]: z.output<T[Name]> };
  });
}

function keyOf(name: string): string {
  const plain = name.replace(/(?:Ms|Bytes)$/, '');
  return plain.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A list with at least one item. */
export function list<T extends z.ZodType>(item: T, expected: string, atLeast: string) {
  return z
    .array(item, { error: `expected a list of ${expected}` })
    .min(1, { error: `expected at least one ${atLeast}` });
}

/** `${VAR}` may replace any value, so the published schema has to allow it. */
function orVariable(...alternatives: readonly JsonSchema[]): JsonSchema {
  return { anyOf: [...alternatives, { type: 'string', pattern: '\\$\\{' }] };
}

export function oneOf<const T extends string>(words: readonly T[]) {
  const read = (text: string) => words.find((word) => word === text);
  return scalar(`one of ${words.join(', ')}`, { read, json: orVariable({ enum: words }) });
}

export function flag() {
  const read = (text: string) => (text === 'true' ? true : text === 'false' ? false : undefined);
  return scalar('true or false', { read, json: orVariable({ type: 'boolean' }) });
}

/** A whole number above 0. */
export function count() {
  const read = (text: string) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined);
  return scalar('a positive integer', { read, json: orVariable({ type: 'integer', minimum: 1 }) });
}

const MAX_DURATION_MS = 86_400_000;

/** Milliseconds, written in Prometheus's duration syntax; above 0 and up to a day. */
export function duration(atLeast = '1ms', because?: string) {
  const minimumMs = parseDuration(atLeast) ?? 0;
  const range = because === undefined ? 'above 0' : `of at least ${atLeast} (${because})`;
  return scalar('a duration such as 30s or 1m30s', {
    problem: (text) => {
      const durationMs = parseDuration(text) ?? minimumMs;
      if (durationMs < minimumMs) return `expected a duration ${range}`;
      return durationMs > MAX_DURATION_MS
        ? `expected a duration of at most ${formatDuration(MAX_DURATION_MS)}`
        : undefined;
    },
    read: parseDuration,
    json: orVariable({ type: 'string', pattern: DURATION_PATTERN }),
  });
}

// Binary units only: GB means 10⁹ to some and 2³⁰ to others, and a limit that is 7 % off misleads.
const UNITS: readonly string[] = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
export const SIZE_PATTERN = `^(\\d+(?:\\.\\d+)?) ?(${UNITS.join('|')})$`;
const COUNT_PATTERN = '^(\\d+(?:\\.\\d+)?)$';

/** Bytes above 0, or `unlimited`. */
export const sizeLimit = () => limit('a size such as 4GiB or 512MiB', SIZE_PATTERN);

/** A number above 0, or `unlimited`. */
export const countLimit = () =>
  limit('a number of cores such as 1.5', COUNT_PATTERN, { type: 'number', exclusiveMinimum: 0 });

function limit(expected: string, pattern: string, ...json: readonly JsonSchema[]) {
  const read = (text: string): Limit | undefined => {
    if (text === 'unlimited') return text;
    const [, count, unit] = new RegExp(pattern).exec(text) ?? [];
    const amount =
      unit === undefined ? Number(count) : Math.round(Number(count) * 1_024 ** UNITS.indexOf(unit));
    return amount > 0 && amount <= Number.MAX_SAFE_INTEGER ? amount : undefined;
  };
  const written = orVariable(...json, { type: 'string', pattern }, { const: 'unlimited' });
  return scalar(`${expected}, or unlimited`, { read, json: written });
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
export function secretFiles(file: string, document: YamlDocument, paths: readonly KeyPath[]) {
  return paths.flatMap((path): readonly SecretFile[] => {
    const [shown, { line, column }] = [valueAt(document.tree, path), document.placeOf(path)];
    const place = `${file}:${line}:${column}: ${z.core.toDotPath(path)}`;
    return typeof shown === 'string' ? [{ file: pathFrom(file, shown), shown, place }] : [];
  });
}
