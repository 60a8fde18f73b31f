import leven from 'leven';
import { z } from 'zod';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import {
  formatPath,
  isTreeMap,
  type Path,
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

/** The keys that the schema knows in the map at a path. */
export function knownKeys(schema: z.ZodType, path: Path): readonly string[] {
  return Object.keys(schemaAt(schema, path)?.properties ?? {});
}

/** At most this many problems of a file are reported: each is searched for in the file, and people read only the first ones. */
export const MAX_PROBLEMS = 100;

/** The schema's settings, or its problems: one more than `MAX_PROBLEMS`, if there are so many. */
export function applySchema<Settings>(tree: Tree, schema: z.ZodType<Settings>) {
  const first = schema.safeParse(tree);
  const replaced: Path[] = [];
  const unknown = (first.error?.issues ?? [])
    .flatMap((issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...pathOf(issue), key]) : [],
    )
    .slice(0, MAX_PROBLEMS + 1)
    .map((path): SettingProblem => {
      const [around, key] = [path.slice(0, -1), String(path.at(-1))];
      const known = knownKeys(schema, around);
      const similar = mostSimilar(key, known);
      const map = valueAt(tree, around);
      if (similar !== undefined && isTreeMap(map) && map[similar] === undefined) {
        map[similar] = map[key] ?? null;
        replaced.push([...around, similar]);
      }
      const hint = similar === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${similar}?`;
      return { path, message: `unknown key, ${hint}`, at: 'key' };
    });
  // What follows from a misspelled key isn't reported: the rules apply to the tree as it was probably meant.
  const { data: settings, error } = replaced.length === 0 ? first : schema.safeParse(tree);
  const others = (error?.issues ?? []).filter(({ code }) => code !== 'unrecognized_keys');
  const problems = others.slice(0, MAX_PROBLEMS + 1).map((issue): SettingProblem => {
    const isKey = issue.code === 'invalid_key';
    const message = (isKey ? issue.issues[0]?.message : undefined) ?? issue.message;
    const at =
      issue.code === 'custom' ? (issue.params as Pick<SettingProblem, 'at'> | undefined)?.at : undefined;
    return { path: pathOf(issue), message, at: at ?? (isKey ? 'key' : 'value') };
  });
  return { settings, problems: [...unknown, ...problems], replaced };
}

function pathOf({ path }: z.core.$ZodIssue): Path {
  return path.filter((step) => typeof step !== 'symbol');
}

/** A configuration file as issues refer to it. */
export interface IssueSource {
  readonly file: string;
  readonly document: YamlDocument;
  readonly tree: Tree;
  readonly schema: z.ZodType;
}

/** The problem with its position, and with the value unless that is hidden. */
export function toIssue(
  { path, message, at }: SettingProblem,
  { file, document, tree, schema }: IssueSource,
): ConfigIssue {
  const value = at === 'value' ? valueAt(tree, path) : undefined;
  // A variable may contain a misplaced secret; the file's own text does not.
  const got = typeof value === 'string' ? (document.templateOf(path) ?? value) : value;
  const text = value === undefined ? `is missing, ${message}` : `${message}, got ${quote(got)}`;
  return {
    file,
    ...(typeof at === 'object' ? at : document.placeOf(path, at === 'key' ? 'key' : 'value')),
    path: formatPath(knownPart(path, schema)),
    message: KNOWN_SECRETS.redact(at === 'value' ? text : message),
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

/** The known word that was probably meant; undefined if none is close. */
export function mostSimilar(word: string, known: readonly string[]): string | undefined {
  const plain = plainForm(word);
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: leven(plain, plainForm(candidate)) }))
    .toSorted((a, b) => a.edits - b.edits);
  return nearest !== undefined && nearest.edits <= MAX_EDITS && nearest.edits < plain.length
    ? nearest.candidate
    : undefined;
}

/** `apiKey`, `api-key` and `API_KEY` differ in style, not in spelling. */
function plainForm(word: string): string {
  return word.slice(0, 40).toLowerCase().replaceAll(/[-_ ]/g, '');
}
