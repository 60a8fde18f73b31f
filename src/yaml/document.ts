import {
  isAlias,
  isMap,
  isNode,
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

/** The content of a YAML file: every scalar is kept as text, so that an id like `1e100000` stays unchanged. */
export type Tree = string | null | readonly Tree[] | TreeMap;

/** A YAML mapping, without a prototype, so that only keys in the file are found. */
export interface TreeMap {
  readonly [key: string]: Tree;
}

/** The way from the root to a value: keys and indices. */
export type Path = readonly (string | number)[];

const PLAIN_KEY = /^[A-Za-z_][\w-]*$/;

/** The path as written in messages: `panels[0].servers[1].labels.game`. */
export function formatPath(path: Path): string {
  return path.map(formatStep).join('');
}

function formatStep(step: string | number, index: number): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!PLAIN_KEY.test(step)) return `[${JSON.stringify(step)}]`;
  return index === 0 ? step : `.${step}`;
}

export function isTreeMap(tree: Tree | undefined): tree is TreeMap {
  return typeof tree === 'object' && tree !== null && !Array.isArray(tree);
}

/** The value at a path; undefined if the file has none. */
export function valueAt(tree: Tree | undefined, path: Path): Tree | undefined {
  let value: Tree | undefined = tree;
  for (const step of path) {
    if (Array.isArray(value)) value = (value as readonly Tree[])[Number(step)];
    else value = isTreeMap(value) ? value[step] : undefined;
  }
  return value;
}

/** The tree with a key of the mapping at this path replaced by another. */
export function renameKey(tree: Tree, [step, ...rest]: Path, from: string, to: string): Tree {
  if (Array.isArray(tree))
    return tree.map((item: Tree, index) => (index === step ? renameKey(item, rest, from, to) : item));
  if (!isTreeMap(tree)) return tree;
  const entries = Object.entries(tree).map(([key, value]): [string, Tree] => {
    if (step === undefined) return [key === from ? to : key, value];
    return [key, key === step ? renameKey(value, rest, from, to) : value];
  });
  return Object.assign(Object.create(null) as TreeMap, Object.fromEntries(entries));
}

/** The mappings in the list at a key, each with its path; empty if there is no such list. */
export function mapsIn(parent: TreeMap, key: string, path: Path): { map: TreeMap; path: Path }[] {
  const list = parent[key];
  if (!Array.isArray(list)) return [];
  return (list as readonly Tree[]).flatMap((map, index) =>
    isTreeMap(map) ? [{ map, path: [...path, key, index] }] : [],
  );
}

/** The text at a key; undefined if it is missing or empty. */
export function textIn(map: TreeMap, key: string): string | undefined {
  const value = map[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A text with its variables expanded, and what prevented the expansion of one. */
interface Expansion {
  readonly text: string;
  readonly problems: readonly string[];
}

const ESCAPED = '$${';
const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/** A name in capitals was chosen by someone; anything else in a secret's place may be the secret. */
const CONVENTIONAL_NAME = /^[A-Z_][A-Z0-9_]*$/;

function hasVariables(text: string): boolean {
  return text.match(REFERENCE)?.some((match) => match !== ESCAPED) === true;
}

/** Expands every `${VAR}` once; `$${` gives a literal `${`. A secret's text is never quoted in a problem. */
export function expandVariables(text: string, env: Environment, isSecret: boolean): Expansion {
  if (!text.includes('${')) return { text, problems: [] };
  const problems = new Set<string>();
  const expanded = text.replaceAll(REFERENCE, (match: string, name = '', close = '') => {
    if (match === ESCAPED) return '${';
    if (close === '' || !VARIABLE_NAME.test(name)) {
      problems.add('expected a variable such as ${PANEL_API_KEY}; write $${ for a literal ${');
      return '';
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) {
      const shown = !isSecret || CONVENTIONAL_NAME.test(name) ? ` ${name}` : ' named here';
      problems.add(`the environment variable${shown} is not set`);
    }
    return value ?? '';
  });
  return { text: expanded, problems: [...problems] };
}

/** Line and column, counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a setting. */
export interface SettingProblem {
  readonly path: Path;
  /** Doesn't quote the value, which is added where it may be shown. */
  readonly message: string;
  /** What the message is about. A place is given if the path doesn't lead there, as with the second of two equal keys. */
  readonly at: 'key' | 'value' | Position;
}

// A file far beyond what the configuration needs is an accident or an attack.
const MAX_DEPTH = 16;
/** How many values may come from aliases: enough for labels shared by tens of thousands of servers. */
const MAX_ALIASED_NODES = 200_000;

const PROTOTYPE = '__proto__';

/**
 * A YAML text as a tree of texts with expanded variables, and the places of the library's nodes. Never throws, and no problem
 * quotes the value at a path for which `isSecret` is true.
 */
export class YamlDocument {
  /** Undefined if the text can't be read. */
  readonly tree: Tree | undefined;
  /** Problems with the YAML itself, independent of its meaning. */
  readonly problems: SettingProblem[] = [];
  readonly #env: Environment;
  readonly #isSecret: (path: Path) => boolean;
  readonly #lines = new LineCounter();
  readonly #root: Node | null;
  readonly #anchors = new Map<string, Node>();
  readonly #targets = new Map<Node, Node>();
  /** Targets of the aliases that are being read. */
  readonly #following = new Set<Node>();
  readonly #broken = new Set<string>();
  #aliasedNodes = 0;

  constructor(text: string, env: Environment, isSecret: (path: Path) => boolean) {
    this.#env = env;
    this.#isSecret = isSecret;
    const { root, errors } = parseText(text, this.#lines);
    for (const { offset, message } of errors) this.#report([], offset, message);
    this.#root = root;
    const tree = errors.length > 0 ? undefined : this.#read(root, []);
    this.tree = this.#aliasedNodes > MAX_ALIASED_NODES ? undefined : tree;
  }

  /** The position of a value or its key; if there is none, that of the nearest value around it. */
  placeOf(path: Path, of: 'key' | 'value' = 'value'): Position {
    const nodes = this.#nodesAlong(path.slice(0, of === 'key' ? -1 : undefined));
    const map = nodes.length === path.length ? this.#targetOf(nodes.at(-1)) : undefined;
    const key = of === 'key' && isMap(map) ? pairAt(map, path.at(-1))?.key : undefined;
    return this.#placeAt(isNode(key) ? key : nodes.findLast(({ range }) => range));
  }

  /** The text as in the file, if it contains variables. */
  templateOf(path: Path): string | undefined {
    const nodes = this.#nodesAlong(path);
    const scalar = this.#targetOf(nodes[path.length]);
    const source = isScalar(scalar) ? scalar.source : undefined;
    return source !== undefined && hasVariables(source) ? source : undefined;
  }

  /** Was the value at this path, or one around it, already found to be wrong? */
  isBroken(path: Path): boolean {
    if (this.#broken.size === 0) return false;
    const around = Array.from({ length: path.length + 1 }, (_, length) => path.slice(0, length));
    return around.some((one) => this.#broken.has(formatPath(one)));
  }

  /** The nodes from the root to a path, as far as there are any. */
  #nodesAlong(path: Path): readonly Node[] {
    if (this.#root === null) return [];
    const nodes = [this.#root];
    for (const step of path) {
      const around = this.#targetOf(nodes.at(-1));
      const inner = isMap(around) || isSeq(around) ? around.get(step, true) : undefined;
      if (!isNode(inner)) break;
      nodes.push(inner);
    }
    return nodes;
  }

  #targetOf(node: Node | undefined): Node | undefined {
    return node && (this.#targets.get(node) ?? node);
  }

  #placeAt(at: Node | number | undefined): Position {
    const { line, col } = this.#lines.linePos((isNode(at) ? at.range?.[0] : at) ?? 0);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }

  #report(path: Path, at: Node | number | undefined, message: string): void {
    this.problems.push({ path, message, at: this.#placeAt(at) });
  }

  /** Reports a value as wrong; nothing more is reported about it. */
  #fail(path: Path, node: Node, message: string): null {
    this.#broken.add(formatPath(path));
    this.#report(path, node, message);
    return null;
  }

  #read(node: Node | null, path: Path): Tree {
    if (node === null) return null;
    if (this.#following.size > 0 && ++this.#aliasedNodes > MAX_ALIASED_NODES) {
      if (this.#aliasedNodes === MAX_ALIASED_NODES + 1)
        this.#report([], node, 'the aliases expand to too many values');
      return null;
    }
    if (isAlias(node)) return this.#readAlias(node, this.#anchors.get(node.source), path);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) return this.#readScalar(node, path);
    if (path.length >= MAX_DEPTH) return this.#fail(path, node, 'is nested too deeply');
    // A collection in a secret's place may contain the secret, which would then appear in a path.
    const isHidden = this.#isSecret(path);
    if (isSeq<Node>(node)) {
      return isHidden ? [] : node.items.map((item, index) => this.#read(item, [...path, index]));
    }
    if (!isMap<Node | null, Node | null>(node)) return null;
    return isHidden ? {} : this.#readMap(node, path);
  }

  #readAlias(alias: Node, target: Node | undefined, path: Path): Tree {
    if (target === undefined)
      return this.#fail(path, alias, 'refers to an anchor that is not defined before it');
    if (this.#following.has(target)) return this.#fail(path, alias, 'is an alias that contains itself');
    this.#targets.set(alias, target);
    this.#following.add(target);
    const tree = this.#read(target, path);
    this.#following.delete(target);
    return tree;
  }

  #readScalar(scalar: Scalar, path: Path): Tree {
    const text = String(scalar.value);
    if (text === '' && scalar.type === 'PLAIN') return null;
    const isSecret = this.#isSecret(path);
    const expansion = expandVariables(text, this.#env, isSecret);
    // The same value may also occur elsewhere in the file, where messages quote it.
    if (isSecret) KNOWN_SECRETS.add(expansion.text);
    for (const problem of expansion.problems) this.#fail(path, scalar, problem);
    return expansion.text;
  }

  #readMap(map: YAMLMap<Node | null, Node | null>, path: Path): Tree {
    const tree = Object.create(null) as Record<string, Tree>;
    for (const { key, value } of map.items) {
      if (!isScalar(key)) {
        this.#report(path, key ?? map, 'expected a plain key, not an alias, a list or a map');
      } else if (key.value === PROTOTYPE) {
        this.#report([...path, PROTOTYPE], key, 'is not an allowed key');
      } else {
        const name = KNOWN_SECRETS.redact(String(key.value));
        // Paths contain the name, so the library has to find it.
        key.value = name;
        const inner = [...path, name];
        if (name in tree) this.#report(inner, key, 'is a duplicate key; keep only one');
        else tree[name] = this.#read(value, inner);
      }
    }
    return tree;
  }
}

/** If a key occurs twice, the first counts. */
function pairAt(map: YAMLMap, name: unknown): Pair | undefined {
  return map.items.find(({ key }) => isScalar(key) && key.value === name);
}

/** One mistake causes many errors after it. */
const MAX_SYNTAX_ERRORS = 10;

interface ParsedText {
  /** Null for an empty text. */
  readonly root: Node | null;
  readonly errors: readonly { readonly offset: number; readonly message: string }[];
}

function parseText(text: string, lineCounter: LineCounter): ParsedText {
  // `failsafe` makes every scalar a text; interpreting it is up to the schema. The library's pretty errors quote the source,
  // which may contain a key.
  const { contents, errors, warnings } = withoutEnvironment(() =>
    parseDocument(text, { schema: 'failsafe', prettyErrors: false, uniqueKeys: false, lineCounter }),
  );
  const found = [...errors, ...warnings];
  if (found.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) {
    // Where the stack overflowed shows nothing about the file, and later errors are only noise.
    return { root: null, errors: [{ offset: 0, message: 'invalid YAML: nested too deeply' }] };
  }
  const lineOf = ({ pos }: YAMLError) => lineCounter.linePos(pos[0]).line;
  // The library reports one mistake in several ways.
  const firstOfLine = found.filter((error, index) => {
    const before = found[index - 1];
    return before === undefined || lineOf(before) !== lineOf(error);
  });
  const shown = firstOfLine.slice(0, MAX_SYNTAX_ERRORS);
  return {
    root: contents,
    errors: shown.map((error) => ({ offset: error.pos[0], message: syntaxMessage(error) })),
  };
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
  BLOCK_AS_IMPLICIT_KEY:
    'invalid YAML: a key inside another key\'s value; check the indentation, and put a value that contains ": " in quotes',
  MULTILINE_IMPLICIT_KEY:
    'invalid YAML: a key needs a colon and a space after it; check this line, and the indentation of the next',
  TAB_AS_INDENT: 'invalid YAML: a tab as indentation; use spaces',
  MULTIPLE_DOCS: 'expected one YAML document, but a second one starts here',
};

/** Errors that a wrong indentation or a missing quote may cause, in words of YAML's grammar. */
const OF_LAYOUT: ReadonlySet<YAMLError['code']> = new Set(['BAD_INDENT', 'MISSING_CHAR']);

/** The library's message without quotations from the source, which may contain a secret. */
function syntaxMessage({ code, message }: YAMLError): string {
  const advice = OF_LAYOUT.has(code)
    ? '; check the indentation, quotes and brackets of this line and those above'
    : '';
  return (
    SYNTAX_MESSAGES[code] ??
    `invalid YAML: ${message.replace(/: .*$/s, '').replace(/ ["']quote$/, ' quote')}${advice}`
  );
}
