import { z } from 'zod';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import {
  formatPath,
  type Path,
  renameKey,
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

/** The part of a JSON schema through which paths are followed. */
export interface SchemaNode {
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
}

/** Computed on demand, because most files have no problems. */
const JSON_SCHEMAS = new WeakMap<z.ZodType, SchemaNode>();

/** What the schema contains at a path; undefined if that is up to the user. */
function schemaAt(schema: z.ZodType, path: Path): SchemaNode | undefined {
  const root = JSON_SCHEMAS.get(schema) ?? (z.toJSONSchema(schema, { io: 'input' }) as SchemaNode);
  JSON_SCHEMAS.set(schema, root);
  return path.reduce<SchemaNode | undefined>(
    (node, step) => (typeof step === 'number' ? node?.items : node?.properties?.[step]),
    root,
  );
}

function knownKeys(schema: z.ZodType, path: Path): readonly string[] {
  return Object.keys(schemaAt(schema, path)?.properties ?? {});
}

/** At most this many problems of a file are reported: each is searched for in the file, and people read only the first ones. */
export const MAX_PROBLEMS = 100;

/** The result of applying a schema to a tree. */
export interface SchemaResult<Shape> {
  /** Undefined if there are problems. */
  readonly shape: Shape | undefined;
  /** One more than `MAX_PROBLEMS`, if there are so many. */
  readonly problems: readonly SettingProblem[];
  /** The tree as it was probably meant: misspelled keys are replaced by those that the schema knows. */
  readonly meant: Tree;
  /** The paths of these replacements in `meant`. */
  readonly replaced: readonly Path[];
}

export function applySchema<Shape>(tree: Tree, schema: z.ZodType<Shape>): SchemaResult<Shape> {
  const { success, data, error } = schema.safeParse(tree);
  if (success) return { shape: data, problems: [], meant: tree, replaced: [] };
  let meant = tree;
  const replaced: Path[] = [];
  const found = error.issues.flatMap((issue): readonly { path: Path; message: string; key?: string }[] => {
    const path = issue.path.filter((step) => typeof step !== 'symbol');
    const { message } = issue;
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path, message, key }))
      : [{ path, message }];
  });
  const problems = found.slice(0, MAX_PROBLEMS + 1).map(({ path, message, key }): SettingProblem => {
    if (key === undefined) return { path, message, at: 'value' };
    const known = knownKeys(schema, path);
    const similar = mostSimilar(key, known);
    if (similar !== undefined && valueAt(meant, [...path, similar]) === undefined) {
      meant = renameKey(meant, path, key, similar);
      replaced.push([...path, similar]);
    }
    const hint = similar === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${similar}?`;
    return { path: [...path, key], message: `unknown key, ${hint}`, at: 'key' };
  });
  return { shape: undefined, problems, meant, replaced };
}

/** A configuration file as issues refer to it. */
export interface IssueSource {
  readonly file: string;
  readonly document: YamlDocument;
  readonly schema: z.ZodType;
  readonly isSecret: (path: Path) => boolean;
}

/** The problem with its position, and with the value unless that is a secret. */
export function toIssue(
  { path, message, at }: SettingProblem,
  { file, document, schema, isSecret }: IssueSource,
): ConfigIssue {
  const value = at === 'value' ? valueAt(document.tree, path) : undefined;
  let text = message;
  if (at === 'value' && value === undefined) text = `is missing, ${message}`;
  // A variable may contain a misplaced secret; the file's own text does not.
  else if (value !== undefined && !isSecret(path))
    text = `${message}, got ${quote(document.templateOf(path) ?? value)}`;
  return {
    file,
    ...(typeof at === 'object' ? at : document.placeOf(path, at)),
    path: formatPath(knownPart(path, schema)),
    message: KNOWN_SECRETS.redact(text),
  };
}

/** The form of the configurations' own keys, which passwords, tokens and API keys with digits or capitals don't have. */
const OWN_KEY = /^[a-z_]{1,24}$/;

/**
 * The path as far as the schema knows its keys, and an evident misspelling of one. Any other key is the user's own, and may be a
 * secret with wrong indentation: line and column still locate it.
 */
function knownPart(path: Path, schema: z.ZodType): Path {
  const unknown = path.findIndex(
    (step, index) => typeof step === 'string' && schemaAt(schema, path.slice(0, index + 1)) === undefined,
  );
  if (unknown === -1) return path;
  const [known, key] = [path.slice(0, unknown), String(path[unknown])];
  const isMisspelling = OWN_KEY.test(key) && mostSimilar(key, knownKeys(schema, known)) !== undefined;
  return isMisspelling ? [...known, key] : known;
}

/** With at most this many edits between them, one word was probably meant to be the other. */
const MAX_EDITS = 2;

/** A shorter word is part of too many others. */
const SHORTEST_PART = 3;

/** The maximum number of suggestions. */
const MAX_OFFERED = 3;

/** The known word that was probably meant; undefined if none is close. */
export function mostSimilar(word: string, known: readonly string[]): string | undefined {
  return compared(word, known).find(({ isTypo }) => isTypo)?.candidate;
}

/**
 * The known words that may have been meant, the most likely first: those with few edits, and those that contain the word or are
 * part of it.
 */
export function similarWords(word: string, known: readonly string[]): readonly string[] {
  const near = compared(word, known).filter(({ isTypo, isPart }) => isTypo || isPart);
  return near.slice(0, MAX_OFFERED).map(({ candidate }) => candidate);
}

/** The known words, those with the fewest edits first. */
function compared(word: string, known: readonly string[]) {
  const plain = plainForm(word);
  const candidates = known.map((candidate) => {
    const other = plainForm(candidate);
    const edits = editsBetween(plain, other);
    const [short, long] = plain.length < other.length ? [plain, other] : [other, plain];
    const isTypo = edits <= MAX_EDITS && edits < plain.length;
    return { candidate, edits, isTypo, isPart: short.length >= SHORTEST_PART && long.includes(short) };
  });
  return candidates.toSorted((a, b) => a.edits - b.edits);
}

/** `apiKey`, `api-key` and `API_KEY` differ in style, not in spelling. */
function plainForm(word: string): string {
  return word.slice(0, 40).toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** The Levenshtein distance. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
