import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  Scalar,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import { type Environment, expandVariables, hasVariables } from './variables.ts';

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

/** The content of a YAML file: maps, lists, and for each scalar a text, so that an id like `1e100000` stays unchanged, or null. */
export type Tree = unknown;

export function isTreeMap(tree: Tree): tree is Record<string, Tree> {
  return typeof tree === 'object' && tree !== null && Object.getPrototypeOf(tree) === Object.prototype;
}

/** The value at a path; undefined if the file has none. */
export function valueAt(tree: Tree, path: Path): Tree {
  const inside = (value: Tree, step: string | number) =>
    (isTreeMap(value) || Array.isArray(value)) && Object.hasOwn(value, step)
      ? (value as Record<string | number, Tree>)[step]
      : undefined;
  return path.reduce(inside, tree);
}

/** Line and column, counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a setting. */
export interface SettingProblem {
  readonly path: Path;
  readonly message: string;
  /**
   * What the message is about: a value is quoted after it, unless it must not be shown. A place is given if the path doesn't lead
   * there, as with the second of two equal keys.
   */
  readonly at: 'key' | 'value' | 'hidden value' | Position;
}

/** The most values of a file with aliases: a few times what ten thousand servers need. */
const MAX_VALUES = 500_000;

/** A YAML text as a tree of texts with expanded variables, and the places of its values. Never throws. */
export class YamlDocument {
  /** Undefined if the text can't be read. */
  readonly tree: Tree;
  /** Problems with the YAML itself, independent of its meaning. */
  readonly problems: SettingProblem[] = [];
  /** The paths of values that were found to be wrong: nothing more is reported about them. */
  readonly broken: Path[] = [];
  readonly #lines = new LineCounter();
  readonly #document: Document;

  constructor(text: string, env: Environment) {
    const { document, errors } = parseText(text, this.#lines);
    this.#document = document;
    for (const { offset, message } of errors) this.#report([], offset, message);
    if (errors.length > 0) return;
    const anchors = new Set<string>();
    visit(document, {
      Node: (key, node, around) => {
        if (isAlias(node)) {
          if (anchors.has(node.source)) return undefined;
          this.#fail(
            [...around, node],
            'refers to an anchor that is not defined before it; quote patterns that begin with `*`',
          );
          return new Scalar(null);
        }
        if (node.anchor !== undefined) anchors.add(node.anchor);
        if (isMap(node)) this.#keepValidKeys(node, around);
        if (isScalar(node) && key !== 'key') this.#expand(node, around, env);
        return undefined;
      },
    });
    const tree: Tree = document.toJS({ maxAliasCount: -1 });
    const isTooLarge = anchors.size > 0 && countValues(tree) > MAX_VALUES;
    if (isTooLarge) this.#report([], 0, 'the aliases contain themselves, or expand to too many values');
    this.tree = isTooLarge ? undefined : tree;
  }

  /** The position of a value or its key; if there is none, that of the nearest value around it. */
  placeOf(path: Path, of: 'key' | 'value' = 'value'): Position {
    const around = path.slice(0, -1);
    const map = of === 'key' ? this.#document.getIn(around, true) : undefined;
    const node = isMap(map)
      ? map.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))?.key
      : this.#document.getIn(path, true);
    return isNode(node) || path.length === 0 ? this.#placeAt(node) : this.placeOf(around);
  }

  /** The text as in the file, if it contains variables. */
  templateOf(path: Path): string | undefined {
    const node = path.reduce(
      (around: unknown, step) => (isCollection(around) ? this.#target(around.get(step, true)) : undefined),
      this.#document.contents,
    );
    return isScalar(node) && node.source !== undefined && hasVariables(node.source) ? node.source : undefined;
  }

  #target(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node;
  }

  #placeAt(at: unknown): Position {
    const offset = isNode(at) ? at.range?.[0] : at;
    const { line, col } = this.#lines.linePos(typeof offset === 'number' ? offset : 0);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }

  #report(path: Path, at: unknown, message: string): void {
    this.problems.push({ path, message, at: this.#placeAt(at) });
  }

  /** Reports the last of these nodes, which contain each other, as wrong. */
  #fail(nodes: readonly unknown[], message: string): void {
    const path = pathOf(nodes);
    this.broken.push(path);
    this.#report(path, nodes.at(-1), message);
  }

  #expand(scalar: Scalar, around: readonly unknown[], env: Environment): void {
    if (scalar.value === '' && scalar.type === 'PLAIN') scalar.value = null;
    if (typeof scalar.value !== 'string' || !scalar.value.includes('${')) return;
    const { text, problems } = expandVariables(scalar.value, env);
    scalar.value = text;
    for (const problem of problems) this.#fail([...around, scalar], problem);
  }

  /** Removes the entries of a map whose keys are not usable. Of two equal keys, the first counts. */
  #keepValidKeys(map: YAMLMap, around: readonly unknown[]): void {
    const known = new Set<unknown>();
    const problemOf = (key: unknown) => {
      if (!isScalar(key)) return 'expected a plain key, not an alias, a list or a map';
      if (key.value === '__proto__') return 'is not an allowed key';
      return known.has(key.value) ? 'is a duplicate key; keep only one' : undefined;
    };
    map.items = map.items.filter(({ key }) => {
      const problem = problemOf(key);
      const name = isScalar(key) ? KNOWN_SECRETS.redact(String(key.value)) : '';
      if (problem !== undefined) this.#report([...pathOf([...around, map]), name], key ?? map, problem);
      known.add(name);
      // Paths contain the name, so the library has to find it.
      if (isScalar(key)) key.value = name;
      return problem === undefined;
    });
  }
}

/** The path to the last of these nodes, each of which contains the next. */
function pathOf(nodes: readonly unknown[]): Path {
  return nodes.flatMap((node, index): Path => {
    if (isPair(node)) return isScalar(node.key) ? [String(node.key.value)] : [];
    return isSeq(node) && index + 1 < nodes.length ? [node.items.indexOf(nodes[index + 1])] : [];
  });
}

/** The number of values, also of those behind each alias; more than the maximum if there is no end. */
function countValues(tree: Tree, depth = 0): number {
  if (depth > 100) return MAX_VALUES + 1;
  let count = 1;
  for (const inner of typeof tree === 'object' && tree !== null ? Object.values(tree) : []) {
    count += countValues(inner, depth + 1);
    if (count > MAX_VALUES) break;
  }
  return count;
}

/** One mistake causes many errors after it. */
const MAX_SYNTAX_ERRORS = 10;

function parseText(text: string, lineCounter: LineCounter) {
  // `failsafe` makes every scalar a text; interpreting it is up to the schema. The library's pretty errors quote the source,
  // which may contain a key.
  const document = withoutEnvironment(() =>
    parseDocument(text, { schema: 'failsafe', prettyErrors: false, uniqueKeys: false, lineCounter }),
  );
  const found = [...document.errors, ...document.warnings];
  if (found.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) {
    // Where the stack overflowed shows nothing about the file, and later errors are only noise.
    return { document, errors: [{ offset: 0, message: 'invalid YAML: nested too deeply' }] };
  }
  const lineOf = (error: YAMLError | undefined) => error && lineCounter.linePos(error.pos[0]).line;
  // The library reports one mistake in several ways.
  const firstOfLine = found.filter((error, index) => lineOf(found[index - 1]) !== lineOf(error));
  const shown = firstOfLine.slice(0, MAX_SYNTAX_ERRORS);
  return {
    document,
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
  BAD_ALIAS: 'invalid YAML: an alias or anchor without a name; quote patterns that begin with `*`',
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
