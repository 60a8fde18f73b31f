// A YAML text as a tree of texts with positions.

import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { KNOWN_SECRETS } from '../text/redaction.ts';
import { NESTED_TOO_DEEPLY, syntaxMessage } from './syntax-messages.ts';
import { BROKEN, type KeyPath, type Position, type SettingProblem, type Tree } from './tree.ts';
import { type Environment, expandVariables } from './variables.ts';

/** The maximum number of values from aliases: a few times what ten thousand servers need. */
const MAX_ALIASED = 250_000;

/**
 * A YAML text as a tree of texts with expanded variables, and the positions of its values. Never
 * throws.
 */
export class YamlDocument {
  /** Undefined if the text can't be read. */
  readonly tree: Tree;
  /** Problems with the YAML itself, independent of its meaning. */
  readonly problems: SettingProblem[] = [];
  readonly #env: Environment;
  readonly #lines = new LineCounter();
  readonly #document: Document;
  /** The value of each anchor, and the number of values in it; undefined while it is being read. */
  readonly #anchors = new Map<string, { readonly tree: Tree; readonly size: number } | undefined>();
  /** The file's own text for each text with expanded variables. */
  readonly #sources = new Map<string, string>();
  /** The number of values read, and the number of those from aliases. */
  #size = 0;
  #aliased = 0;

  constructor(text: string, env: Environment) {
    this.#env = env;
    const { document, errors } = parseText(text, this.#lines);
    this.#document = document;
    for (const { offset, message } of errors) this.#report([], offset, message);
    if (errors.length > 0) return;
    const tree = this.#read(document.contents, []);
    if (this.#aliased <= MAX_ALIASED) this.tree = tree;
    else this.#report([], 0, 'the aliases expand to too many values');
  }

  /**
   * The position of a value or its key. If it doesn't exist, that of the nearest value around it.
   */
  findPosition(path: KeyPath, of: 'key' | 'value' = 'value'): Position {
    const around = path.slice(0, -1);
    const map = of === 'key' ? this.#document.getIn(around, true) : undefined;
    const node = isMap(map)
      ? map.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))?.key
      : this.#document.getIn(path, true);
    return isNode(node) || path.length === 0 ? this.#placeAt(node) : this.findPosition(around);
  }

  /** The file's own text for a text of the tree, without expanded variables. */
  unexpanded(text: string): string {
    return this.#sources.get(text) ?? text;
  }

  #placeAt(at: unknown): Position {
    const offset = isNode(at) ? at.range?.[0] : at;
    const { line, col } = this.#lines.linePos(typeof offset === 'number' ? offset : 0);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }

  /** Reports a value as wrong, and returns its replacement in the tree. */
  #report(path: KeyPath, at: unknown, message: string): typeof BROKEN {
    this.problems.push({ path, message, at: this.#placeAt(at) });
    return BROKEN;
  }

  #read(node: unknown, path: KeyPath): Tree {
    if (isAlias(node)) return this.#readAlias(node, path);
    const before = this.#size;
    const anchor = isNode(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, undefined);
    this.#size += 1;
    const tree = isMap(node)
      ? this.#readMap(node, path)
      : isSeq(node)
        ? node.items.map((item, index) => this.#read(item, [...path, index]))
        : this.#readScalar(node, path);
    if (anchor !== undefined) this.#anchors.set(anchor, { tree, size: this.#size - before });
    return tree;
  }

  #readAlias(alias: Alias, path: KeyPath): Tree {
    const anchor = this.#anchors.get(alias.source);
    if (anchor === undefined) {
      const isInside = this.#anchors.has(alias.source);
      return this.#report(path, alias, isInside ? 'is an alias that contains itself' : UNKNOWN_ANCHOR);
    }
    this.#size += anchor.size;
    this.#aliased += anchor.size;
    return anchor.tree;
  }

  /**
   * Entries with unusable keys are left out. Of two equal keys, the first applies. The content of a
   * map with a merge key is unknown.
   */
  #readMap({ items }: YAMLMap, path: KeyPath): Tree {
    const tree: Record<string, Tree> = {};
    let isMerged = false;
    const keyProblem = (key: unknown, name: string) => {
      if (!isScalar(key)) return 'expected a plain key, not an alias, a list or a map';
      if (key.value === '__proto__') return '__proto__ is not an allowed key';
      return Object.hasOwn(tree, name) ? 'is a duplicate key; keep only one' : undefined;
    };
    for (const { key, value } of items) {
      const name = isScalar(key) ? KNOWN_SECRETS.redact(String(key.value)) : '';
      const problem = keyProblem(key, name);
      isMerged ||= name === MERGE_KEY;
      if (name === MERGE_KEY) this.#report(path, key, MERGED);
      else if (problem !== undefined) this.#report([...path, name], key ?? value, problem);
      else tree[name] = this.#read(value, [...path, name]);
      // Paths contain the redacted name, so the library has to find the entry with it.
      if (isScalar(key)) key.value = name;
    }
    return isMerged ? BROKEN : tree;
  }

  #readScalar(node: unknown, path: KeyPath): Tree {
    if (!isScalar(node) || (node.value === '' && node.type === 'PLAIN')) return null;
    const { text, problems } = expandVariables(String(node.value), this.#env);
    for (const problem of problems) this.#report(path, node, problem);
    if (text !== node.value) this.#sources.set(text, String(node.value));
    return problems.length > 0 ? BROKEN : text;
  }
}

const UNKNOWN_ANCHOR =
  'refers to an anchor that is not defined before it; quote patterns that begin with `*`';

const MERGE_KEY = '<<';
const MERGED =
  'expected settings without the merge key `<<`; write out the settings, or use an alias for a whole value, such as `labels: *labels`';

/** One mistake can cause many errors after it. */
const MAX_SYNTAX_ERRORS = 10;

/** The document, and its syntax errors. */
function parseText(text: string, lineCounter: LineCounter) {
  // With `failsafe`, every scalar is a text that the schema interprets. The library's pretty errors
  // quote the source, which may contain a key.
  const options = { schema: 'failsafe', prettyErrors: false, uniqueKeys: false, lineCounter } as const;
  // With these variables, the library prints what it reads, including keys.
  for (const name of ['LOG_TOKENS', 'LOG_STREAM']) delete process.env[name];
  const document = parseDocument(text, options);
  const found = [...document.errors, ...document.warnings];
  if (found.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) {
    // The position of the overflow is meaningless, and later errors are only noise.
    return { document, errors: [{ offset: 0, message: NESTED_TOO_DEEPLY }] };
  }
  const lineNumber = (error: YAMLError | undefined) => error && lineCounter.linePos(error.pos[0]).line;
  // The library may report one mistake several times.
  const firstOfLine = found.filter((error, index) => lineNumber(found[index - 1]) !== lineNumber(error));
  const errors = firstOfLine.map((error) => ({ offset: error.pos[0], message: syntaxMessage(error, text) }));
  return { document, errors: errors.slice(0, MAX_SYNTAX_ERRORS) };
}
