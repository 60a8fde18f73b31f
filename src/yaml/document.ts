import {
  type Alias,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import { formatPath, type Path, type Tree } from './tree.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Line and column, counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A problem with the YAML itself, independent of its meaning. */
export interface YamlProblem extends Place {
  readonly path: Path;
  readonly message: string;
}

/** A YAML text as a tree of texts, with the position of each value. */
export interface YamlDocument {
  /** Undefined if the text can't be read. */
  readonly tree: Tree | undefined;
  readonly problems: readonly YamlProblem[];
  /** The position of a value, or of the nearest value around it. */
  placeOf(path: Path): Place;
  /** The position of a value's key. */
  placeOfKey(path: Path): Place;
  /** The text as in the file, if variables were expanded in it. */
  templateOf(path: Path): string | undefined;
  /** Was the value at this path, or one around it, already found to be wrong? */
  isBroken(path: Path): boolean;
}

// A file far beyond what the configuration needs is an accident or an attack.
const MAX_DEPTH = 16;
/** How many values may come from aliases: enough for labels shared by tens of thousands of servers. */
const MAX_ALIASED_NODES = 200_000;

/** The state of reading one text. */
interface Visit {
  readonly env: Environment;
  readonly isSecret: (path: Path) => boolean;
  readonly anchors: Map<string, Node>;
  readonly targets: Map<Alias, Node>;
  /** Targets of the aliases currently being resolved. */
  readonly following: Set<Node>;
  readonly templates: Map<string, string>;
  readonly broken: Set<string>;
  aliasedNodes: number;
  report(path: Path, offset: number, message: string): void;
}

/**
 * Reads YAML without ever throwing, and expands `${VAR}` in every value. No problem quotes the value at a path for which
 * `isSecret` is true.
 */
export function readYaml(text: string, env: Environment, isSecret: (path: Path) => boolean): YamlDocument {
  const lines = new LineCounter();
  const problems: YamlProblem[] = [];
  const visit: Visit = {
    env,
    isSecret,
    anchors: new Map(),
    targets: new Map(),
    following: new Set(),
    templates: new Map(),
    broken: new Set(),
    aliasedNodes: 0,
    report: (path, offset, message) => problems.push({ path, message, ...placeAt(offset, lines) }),
  };
  const root = parseYaml(text, lines, (offset, message) => visit.report([], offset, message));
  const tree = root === undefined ? undefined : readNode(root, [], visit);
  const source = { root, lines, targets: visit.targets };
  return {
    tree: visit.aliasedNodes > MAX_ALIASED_NODES ? undefined : tree,
    problems,
    placeOf: (path) => placeOf(path, source),
    placeOfKey: (path) => placeOfKey(path, source),
    templateOf: (path) => visit.templates.get(formatPath(path)),
    isBroken: (path) =>
      Array.from({ length: path.length + 1 }, (_, length) => formatPath(path.slice(0, length))).some(
        (around) => visit.broken.has(around),
      ),
  };
}

function readNode(node: Node | null, path: Path, visit: Visit): Tree {
  if (node === null) return null;
  const offset = node.range?.[0] ?? 0;
  if (visit.following.size > 0 && ++visit.aliasedNodes > MAX_ALIASED_NODES) {
    if (visit.aliasedNodes === MAX_ALIASED_NODES + 1)
      visit.report([], offset, 'the aliases expand to too many values');
    return null;
  }
  if (isAlias(node)) return readAlias(node, path, visit);
  if (node.anchor !== undefined) visit.anchors.set(node.anchor, node);
  if (isScalar(node)) return readScalar(node, path, visit);
  if (path.length >= MAX_DEPTH) {
    return fail(path, offset, 'is nested too deeply', visit);
  }
  // A collection in a secret's place may contain the secret, which would then appear in a path.
  if (visit.isSecret(path) && isCollection(node)) return isSeq(node) ? [] : {};
  if (isSeq<Node | Pair>(node)) {
    return node.items.map((item, index) => readNode(item as Node, [...path, index], visit));
  }
  return isMap<Node | null, Node | null>(node) ? readMap(node, path, visit) : null;
}

/** Reports a value as wrong; nothing more is reported about it. */
function fail(path: Path, offset: number, message: string, visit: Visit): null {
  visit.broken.add(formatPath(path));
  visit.report(path, offset, message);
  return null;
}

function readAlias(alias: Alias, path: Path, visit: Visit): Tree {
  const target = visit.anchors.get(alias.source);
  if (target === undefined || visit.following.has(target)) {
    const message =
      target === undefined
        ? 'refers to an anchor that is not defined before it'
        : 'is an alias that contains itself';
    return fail(path, alias.range?.[0] ?? 0, message, visit);
  }
  visit.targets.set(alias, target);
  visit.following.add(target);
  const tree = readNode(target, path, visit);
  visit.following.delete(target);
  return tree;
}

function readScalar(scalar: Scalar, path: Path, visit: Visit): Tree {
  const text = String(scalar.value);
  if (text === '' && scalar.type === 'PLAIN') return null;
  const expansion = expandVariables(text, visit.env, visit.isSecret(path));
  // The same value may also have been put somewhere else, where messages quote it.
  if (visit.isSecret(path)) KNOWN_SECRETS.add(expansion.text);
  if (expansion.usesVariables) visit.templates.set(formatPath(path), text);
  for (const problem of expansion.problems) fail(path, scalar.range?.[0] ?? 0, problem, visit);
  return expansion.text;
}

const PROTOTYPE = '__proto__';

function readMap(map: YAMLMap<Node | null, Node | null>, path: Path, visit: Visit): Tree {
  const tree = Object.create(null) as Record<string, Tree>;
  for (const { key, value } of map.items) {
    const offset = key?.range?.[0] ?? map.range?.[0] ?? 0;
    const name = nameOfKey(key);
    if (name === undefined) {
      visit.report(path, offset, 'expected a plain key, not an alias, a list or a map');
      continue;
    }
    const inner = [...path, name];
    if (isScalar(key) && key.value === PROTOTYPE) {
      visit.report([...path, PROTOTYPE], offset, 'is not an allowed key');
    } else if (name in tree) {
      visit.report(inner, offset, 'is a duplicate key; keep only one');
    } else {
      tree[name] = readNode(value, inner, visit);
    }
  }
  return tree;
}

/** A text with its variables expanded, and what prevented the expansion of one. */
export interface Expansion {
  readonly text: string;
  readonly usesVariables: boolean;
  readonly problems: readonly string[];
}

const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/** A name in capitals was chosen by someone; anything else in a secret's place may be the secret. */
const CONVENTIONAL_NAME = /^[A-Z_][A-Z0-9_]*$/;

/** Expands every `${VAR}` once; `$${` gives a literal `${`. A secret's text is never quoted in a problem. */
export function expandVariables(text: string, env: Environment, isSecret: boolean): Expansion {
  if (!text.includes('${')) return { text, usesVariables: false, problems: [] };
  const problems: string[] = [];
  let usesVariables = false;
  const expanded = text.replaceAll(REFERENCE, (match: string, name: string | undefined, close: string) => {
    if (match === '$${') return '${';
    usesVariables = true;
    if (name === undefined || close === '' || !VARIABLE_NAME.test(name)) {
      problems.push('expected a variable such as ${PANEL_API_KEY}; write $${ for a literal ${');
      return '';
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) {
      const shown = !isSecret || CONVENTIONAL_NAME.test(name) ? ` ${name}` : ' named here';
      problems.push(`the environment variable${shown} is not set`);
    }
    return value ?? '';
  });
  return { text: expanded, usesVariables, problems: [...new Set(problems)] };
}

/** One mistake causes many errors after it. */
const MAX_SYNTAX_PROBLEMS = 10;

/** The file's root, null for an empty file; undefined if the syntax is invalid, which is reported by offset. */
function parseYaml(
  text: string,
  lineCounter: LineCounter,
  report: (offset: number, message: string) => void,
): Node | null | undefined {
  // `failsafe` makes every scalar a text; interpreting it is up to the schema. The library's pretty errors quote the source,
  // which may contain a key.
  const document = withoutEnvironment(() =>
    parseDocument(text, { schema: 'failsafe', prettyErrors: false, uniqueKeys: false, lineCounter }),
  );
  const errors = [...document.errors, ...document.warnings];
  if (errors.length === 0) return document.contents;
  if (errors.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) {
    // Where the stack overflowed says nothing about the file, and later errors are only noise.
    report(0, 'invalid YAML: nested too deeply');
    return undefined;
  }
  for (const error of errors.slice(0, MAX_SYNTAX_PROBLEMS)) report(error.pos[0], syntaxMessage(error));
  return undefined;
}

/**
 * For each token, the library checks its debug switches LOG_TOKENS and LOG_STREAM. They print what is read, including keys; and
 * each check is a call to the operating system, a tenth of the time that 10,000 servers take.
 */
function withoutEnvironment<Result>(read: () => Result): Result {
  const { env } = process;
  process.env = {};
  try {
    return read();
  } finally {
    process.env = env;
  }
}

const TAGGED =
  'expected YAML without tags (words that start with !); put the value in quotes if it is a string';

const SYNTAX_MESSAGES: Partial<Record<YAMLError['code'], string>> = {
  TAG_RESOLVE_FAILED: TAGGED,
  BAD_COLLECTION_TYPE: TAGGED,
  BAD_DIRECTIVE: 'expected YAML without directives (lines that start with %)',
  BAD_DQ_ESCAPE:
    'invalid YAML: unknown escape sequence in double quotes; use single quotes, or \\\\ for a backslash',
  MULTIPLE_DOCS: 'expected one YAML document, but a second one starts here',
};

/** The library's message without quotations from the source, which may contain a secret. */
function syntaxMessage({ code, message }: YAMLError): string {
  return SYNTAX_MESSAGES[code] ?? `invalid YAML: ${message.replace(/: .*$/s, '')}`;
}

/** The content of a YAML text, as parsed by the library. */
interface YamlSource {
  /** Null for an empty text, undefined if the syntax is invalid. */
  readonly root: Node | null | undefined;
  readonly lines: LineCounter;
  /** What each alias stands for. */
  readonly targets: ReadonlyMap<Alias, Node>;
}

interface Found {
  /** Undefined for an item of a list. */
  readonly key: Node | undefined;
  readonly value: Node | null;
}

/** A mapping key's name as used everywhere else; undefined if it isn't a plain key. */
function nameOfKey(key: Node | null): string | undefined {
  return isScalar(key) ? KNOWN_SECRETS.redact(String(key.value)) : undefined;
}

/** Line and column of an offset in the text. */
function placeAt(offset: number, lines: LineCounter): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** The position of a value, or of the nearest value around it. Computed on demand, because most files have no problems. */
function placeOf(path: Path, source: YamlSource): Place {
  let node = source.root;
  let offset = startOf(node) ?? 0;
  for (const step of path) {
    node = childOf(node, step, source)?.value;
    if (node === undefined || node === null) break;
    offset = startOf(node) ?? offset;
  }
  return placeAt(offset, source.lines);
}

/** The position of a value's key, or of the nearest value around it. */
function placeOfKey(path: Path, source: YamlSource): Place {
  const around = path.slice(0, -1);
  const last = path.at(-1);
  let node = source.root;
  for (const step of around) node = childOf(node, step, source)?.value;
  const offset = last === undefined ? undefined : startOf(childOf(node, last, source)?.key);
  return offset === undefined ? placeOf(around, source) : placeAt(offset, source.lines);
}

function childOf(node: Node | null | undefined, step: Path[number], source: YamlSource): Found | undefined {
  const container = isAlias(node) ? source.targets.get(node) : node;
  if (isSeq<Node | null>(container)) {
    const value = typeof step === 'number' ? container.items[step] : undefined;
    return value === undefined ? undefined : { key: undefined, value };
  }
  if (!isMap<Node | null, Node | null>(container)) return undefined;
  // If a key occurs twice, the first counts.
  const pair = container.items.find(({ key }) => nameOfKey(key) === step);
  return pair && { key: pair.key ?? undefined, value: pair.value };
}

function startOf(node: Node | null | undefined): number | undefined {
  return node?.range?.[0];
}
