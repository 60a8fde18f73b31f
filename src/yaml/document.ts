// A YAML text as a tree of texts with their places.

import { constants, open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
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
import { KNOWN_SECRETS } from '../domain/secrets.ts';
import { NESTED_TOO_DEEPLY, syntaxMessage } from './syntax-messages.ts';

/** What a file is expected to contain, and how large it may be. */
export interface FileKind {
  readonly maxKibibytes: number;
  /** Completes "expected ". */
  readonly content: string;
}

/** A file with a panel's API key. */
export const API_KEY_FILE: FileKind = { maxKibibytes: 4, content: 'only the API key in it' };

/** Certificates or a private key: four times a system's whole bundle of authorities. */
export const TLS_FILE: FileKind = {
  maxKibibytes: 1_024,
  content: 'only certificates or a private key in it, in PEM',
};

/**
 * The configuration or the web configuration: several times what a hundred thousand servers need.
 */
export const CONFIGURATION_FILE: FileKind = { maxKibibytes: 16_384, content: 'only settings in YAML in it' };

/** A file's content, or why it has none; completes a message that begins with the file's name. */
export type FileResult =
  | { readonly ok: true; readonly content: string }
  | { readonly ok: false; readonly problem: string };

/**
 * The text of a file that a user named, or why it can't be read. A pipe is read to its end, but
 * waited for at most 5 s; an endless device is read up to the limit.
 */
export function readTextFile(file: string, kind: FileKind): Promise<FileResult> {
  return readText(piecesOf(file), kind);
}

/** The text of a stream, with the same limit and errors as a file. */
export async function readText(
  pieces: AsyncIterable<Uint8Array | string>,
  { maxKibibytes, content }: FileKind,
): Promise<FileResult> {
  try {
    const read: Buffer[] = [];
    let rest = maxKibibytes * 1_024;
    for await (const piece of pieces) {
      // A copy, because the next piece may overwrite this one.
      read.push(Buffer.from(piece));
      rest -= read.at(-1)?.length ?? 0;
      const size = maxKibibytes < 1_024 ? `${maxKibibytes} KiB` : `${maxKibibytes / 1_024} MiB`;
      if (rest < 0) return unreadable(`larger than ${size}, expected ${content}`);
    }
    // Otherwise, text that is not UTF-8 would get replacement characters: a key that is wrong
    // without any visible reason.
    return { ok: true, content: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(read)) };
  } catch (error) {
    const code = codeOf(error);
    return unreadable(PROBLEMS[code] ?? code);
  }
}

function unreadable(why: string) {
  return { ok: false, problem: `can't be read: ${why}` } as const;
}

/** How long to wait for a pipe, in milliseconds, and how often to read it in that time. */
const PIPE_WAIT_MS = 5_000;
const PIPE_EVERY_MS = 20;

async function* piecesOf(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  // Otherwise, opening a named pipe would wait for a writer, in a thread that nothing can
  // interrupt.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.allocUnsafe(64 * 1_024);
    const deadline = performance.now() + PIPE_WAIT_MS;
    for (;;) {
      try {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
      } catch (error) {
        if (codeOf(error) !== 'EAGAIN' || performance.now() > deadline) throw error;
        await setTimeout(PIPE_EVERY_MS);
      }
    }
  } finally {
    await handle.close();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

const NO_SUCH_FILE = 'no such file';
const DENIED = 'permission denied; let the user that runs this program read it';

/** By the codes of Node.js. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: NO_SUCH_FILE,
  ENOTDIR: NO_SUCH_FILE,
  EISDIR: 'it is a directory',
  EACCES: DENIED,
  EPERM: DENIED,
  EAGAIN: `no end of its data within ${PIPE_WAIT_MS / 1_000} s; close the other end of the pipe, or name an ordinary file`,
  ERR_ENCODING_INVALID_ENCODED_DATA: 'not UTF-8 text; save it as UTF-8',
};

/**
 * Reads and parses a configuration file, and returns the files that it refers to as well, which
 * `parse` reads.
 */
export async function loadSettings<Parsed>(
  file: string,
  parse: (
    text: string,
    read: (name: string, kind: FileKind) => Promise<FileResult | undefined>,
  ) => Promise<Parsed>,
  /**
   * What to do if the file doesn't exist, which ends the message, and which files that it refers to
   * aren't read.
   */
  { advice, skipped }: { readonly advice: string; readonly skipped?: FileKind | undefined },
) {
  const text = await readTextFile(file, CONFIGURATION_FILE);
  if (!text.ok) {
    const message = `${text.problem}${text.problem.endsWith(NO_SUCH_FILE) ? `; ${advice}` : ''}`;
    return { issues: [{ file: KNOWN_SECRETS.redact(file), path: '', message }], files: [file] };
  }
  const files = new Set([file]);
  const parsed = await parse(text.content, async (name, kind) => {
    const path = pathFrom(file, name);
    files.add(path);
    return kind === skipped ? undefined : readTextFile(path, kind);
  });
  return { parsed, files: [...files] };
}

/**
 * A file's path as written in a configuration, which is relative to the configuration's directory.
 */
export function pathFrom(file: string, name: string): string {
  // A user that the system doesn't know, as in a container, may have no home directory: looking it up would throw.
  return name.startsWith('~/') ? join(homedir(), name.slice(2)) : resolve(dirname(file), name);
}

/** The way from the root to a value: keys and indices. */
export type KeyPath = readonly (string | number)[];

/**
 * The content of a YAML file: maps, lists, and for each scalar a text, so that an id like
 * `1e100000` stays unchanged, or null.
 */
export type Tree = unknown;

/** Stands for a value that was found to be wrong: nothing more is reported about it. */
export const BROKEN = Symbol('broken');

export function isTreeMap(tree: Tree): tree is Record<string, Tree> {
  return typeof tree === 'object' && tree !== null && Object.getPrototypeOf(tree) === Object.prototype;
}

/** The value at a path, or the broken one around it; undefined if the file has none. */
export function valueAt(tree: Tree, path: KeyPath): Tree {
  const inside = (value: Tree, step: string | number) => {
    if (value === BROKEN) return BROKEN;
    const isAround = isTreeMap(value) || Array.isArray(value);
    return isAround && Object.hasOwn(value, step) ? (value as Record<string, Tree>)[step] : undefined;
  };
  return path.reduce(inside, tree);
}

/** Line and column, counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a setting. */
export interface SettingProblem {
  readonly path: KeyPath;
  readonly message: string;
  /**
   * What the message is about: a value is quoted after it, unless it must not be shown. A place is
   * given if the path doesn't lead there, as with the second of two equal keys.
   */
  readonly at: 'key' | 'value' | 'hidden value' | Position;
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

const ESCAPED = '$${';
const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/** What follows a name in shells and in Compose: a default, an error or another value. */
const OPERATOR = /^[A-Za-z_]\w*(:?[-=?+])/;

function notAName(name: string): string {
  const operator = OPERATOR.exec(name)?.[1];
  return operator === undefined
    ? 'expected a variable such as ${PANEL_API_KEY}; write $${ for a literal ${'
    : `expected only a name in the braces, such as \${PANEL_API_KEY}: \`${operator}\` and what follows it is not supported; set the variable, or write the value itself`;
}

/** A name in capitals was chosen by someone; anything else may be a secret. */
const CONVENTIONAL_NAME = /^[A-Z_][A-Z0-9_]*$/;

/** Expands every `${VAR}` once; `$${` gives a literal `${`. No problem quotes the text. */
export function expandVariables(text: string, env: Environment) {
  const problems = new Set<string>();
  const expanded = text.replaceAll(REFERENCE, (match: string, name = '', close = '') => {
    if (match === ESCAPED) return '${';
    if (close === '' || !VARIABLE_NAME.test(name)) {
      problems.add(notAName(name));
      return '';
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) {
      const shown = CONVENTIONAL_NAME.test(name) ? name : 'named here';
      problems.add(`the environment variable ${shown} is not set`);
    }
    return value ?? '';
  });
  return { text: expanded, problems: [...problems] };
}

/** The most values that aliases may stand for: a few times what ten thousand servers need. */
const MAX_ALIASED = 250_000;

/**
 * A YAML text as a tree of texts with expanded variables, and the places of its values. Never
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
  /**
   * What each anchor stands for, and of how many values it consists; undefined while it is being
   * read.
   */
  readonly #anchors = new Map<string, { readonly tree: Tree; readonly size: number } | undefined>();
  /** What the file has instead of an expanded text. */
  readonly #sources = new Map<string, string>();
  /** The number of values read, and how many of them aliases stand for. */
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

  /** The position of a value or its key; if there is none, that of the nearest value around it. */
  placeOf(path: KeyPath, of: 'key' | 'value' = 'value'): Position {
    const around = path.slice(0, -1);
    const map = of === 'key' ? this.#document.getIn(around, true) : undefined;
    const node = isMap(map)
      ? map.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))?.key
      : this.#document.getIn(path, true);
    return isNode(node) || path.length === 0 ? this.#placeAt(node) : this.placeOf(around);
  }

  /** How the file has a text of the tree, where variables aren't expanded. */
  sourceOf(text: string): string {
    return this.#sources.get(text) ?? text;
  }

  #placeAt(at: unknown): Position {
    const offset = isNode(at) ? at.range?.[0] : at;
    const { line, col } = this.#lines.linePos(typeof offset === 'number' ? offset : 0);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }

  /** Reports a value as wrong, and stands for it in the tree. */
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
   * Entries whose keys are not usable are left out. Of two equal keys, the first counts. With a
   * merge key, nothing is known about what the map has.
   */
  #readMap({ items }: YAMLMap, path: KeyPath): Tree {
    const tree: Record<string, Tree> = {};
    let isMerged = false;
    const problemOf = (key: unknown, name: string) => {
      if (!isScalar(key)) return 'expected a plain key, not an alias, a list or a map';
      if (key.value === '__proto__') return '__proto__ is not an allowed key';
      return Object.hasOwn(tree, name) ? 'is a duplicate key; keep only one' : undefined;
    };
    for (const { key, value } of items) {
      const name = isScalar(key) ? KNOWN_SECRETS.redact(String(key.value)) : '';
      const problem = problemOf(key, name);
      isMerged ||= name === MERGE_KEY;
      if (name === MERGE_KEY) this.#report(path, key, MERGED);
      else if (problem !== undefined) this.#report([...path, name], key ?? value, problem);
      else tree[name] = this.#read(value, [...path, name]);
      // Paths contain the name, so the library has to find it.
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

/** One mistake causes many errors after it. */
const MAX_SYNTAX_ERRORS = 10;

/** The document, and what is wrong with its syntax. */
function parseText(text: string, lineCounter: LineCounter) {
  // `failsafe` makes every scalar a text; interpreting it is up to the schema. The library's pretty errors quote the source,
  // which may contain a key.
  const options = { schema: 'failsafe', prettyErrors: false, uniqueKeys: false, lineCounter } as const;
  // These switches of the library print what is read, including keys.
  for (const name of ['LOG_TOKENS', 'LOG_STREAM']) delete process.env[name];
  const document = parseDocument(text, options);
  const found = [...document.errors, ...document.warnings];
  if (found.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) {
    // Where the stack overflowed shows nothing about the file, and later errors are only noise.
    return { document, errors: [{ offset: 0, message: NESTED_TOO_DEEPLY }] };
  }
  const lineOf = (error: YAMLError | undefined) => error && lineCounter.linePos(error.pos[0]).line;
  // The library reports one mistake in several ways.
  const firstOfLine = found.filter((error, index) => lineOf(found[index - 1]) !== lineOf(error));
  const errors = firstOfLine.map((error) => ({ offset: error.pos[0], message: syntaxMessage(error, text) }));
  return { document, errors: errors.slice(0, MAX_SYNTAX_ERRORS) };
}
