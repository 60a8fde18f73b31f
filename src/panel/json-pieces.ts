import { setImmediate as afterEvents } from 'node:timers/promises';
import { ShapeError } from './dialect.ts';

/** The longest JSON, in UTF-16 units, that is parsed at once. */
export const MAX_PIECE = 128 * 1024;

/**
 * The most objects, lists and members of objects in such a piece, which limits how long parsing blocks the event loop: objects with
 * keys of their own take a hundred times as long as a text of that length. A server with 1,000 allocations has as many.
 */
const MAX_NODES = 10_000;

/** A text of this length contains fewer, so they aren't counted. */
const SHORT = 16 * 1024;

/** More than a list may have. The others are only counted. */
const MAX_ENTRIES = 1_000;

/** What is read of a long text before the event loop has its turn. */
const SLICE = 32 * 1024;

/**
 * Parses JSON without blocking the event loop for long. In a long text, each entry of a list in the outermost object is parsed on
 * its own, and then the rest. Each entry is decoded at once, and only what is needed of it is kept until the text is complete.
 *
 * @throws ShapeError if one of these pieces is too long, or consists of too many parts
 * @throws SyntaxError if the text isn't JSON
 */
export async function parseJson(
  text: string,
  decodeEntry: (entry: unknown) => unknown = (entry) => entry,
): Promise<unknown> {
  if (text.length <= SHORT) return withEntries(JSON.parse(text), decodeEntry);
  const reader = new PieceReader(text, decodeEntry);
  for (let end = SLICE; end < text.length + SLICE; end += SLICE) {
    reader.readTo(Math.min(end, text.length));
    await afterEvents();
  }
  return reader.whole();
}

/** The JSON with the entries of each list in its outermost object replaced. */
export function withEntries(json: unknown, replace: (entry: unknown) => unknown): unknown {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return json;
  const replaced = Object.entries(json).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.map(replace) : value,
  ]);
  return Object.fromEntries(replaced);
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The depth of a list in the outermost object. */
const LIST_DEPTH = 2;

/** Stands for an entry in what is left of the text. */
const ENTRY = 0;

class PieceReader {
  readonly #text: string;
  readonly #decodeEntry: (entry: unknown) => unknown;
  readonly #entries: unknown[] = [];
  /** The number of entries that were only counted, for each list. */
  readonly #surplus: number[] = [];
  /** The text without its entries, up to the start of an entry or of what follows one. */
  #rest = '';
  #at = 0;
  #pieceStart = 0;
  #depth = 0;
  /** The entries of the present list so far. */
  #inList = 0;
  /** The objects, lists and members since an entry began or ended. */
  #nodes = 0;
  #isInList = false;

  constructor(text: string, decodeEntry: (entry: unknown) => unknown) {
    this.#text = text;
    this.#decodeEntry = decodeEntry;
  }

  readTo(end: number): void {
    for (; this.#at < end; this.#at += 1) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit === QUOTE) this.#at = this.#endOfString();
      else if (unit === OPEN_LIST || unit === OPEN_OBJECT) this.#open(unit === OPEN_LIST);
      else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) this.#close();
      else if (unit === COLON) this.#count();
    }
  }

  whole(): unknown {
    this.#rest += this.#text.slice(this.#pieceStart);
    const entries = this.#entries.values();
    const value = withEntries(parsePiece(this.#rest), (entry) =>
      entry === ENTRY ? entries.next().value : this.#decodeEntry(entry),
    );
    const lists = Object.values(value ?? {}).filter(Array.isArray);
    for (const [index, list] of lists.entries()) list.length += this.#surplus[index] ?? 0;
    return value;
  }

  /** The offset of the quotation mark that ends the string that begins here. */
  #endOfString(): number {
    for (let end = this.#text.indexOf('"', this.#at + 1); end > 0; end = this.#text.indexOf('"', end + 1)) {
      requirePiece(end - this.#at);
      let escapes = 0;
      while (this.#text.charCodeAt(end - escapes - 1) === BACKSLASH) escapes += 1;
      if (escapes % 2 === 0) return end;
    }
    return this.#text.length;
  }

  #open(isList: boolean): void {
    this.#depth += 1;
    this.#count();
    if (this.#depth === LIST_DEPTH) this.#isInList = isList;
    if (this.#depth !== LIST_DEPTH + 1 || !this.#isInList) return;
    this.#inList += 1;
    this.#nodes = 0;
    if (this.#inList > MAX_ENTRIES) return;
    this.#rest += this.#text.slice(this.#pieceStart, this.#at) + ENTRY;
    this.#pieceStart = this.#at;
    requirePiece(this.#rest.length);
  }

  #close(): void {
    if (this.#depth === LIST_DEPTH + 1 && this.#isInList) {
      const end = this.#at + 1;
      if (this.#inList <= MAX_ENTRIES)
        this.#entries.push(this.#decodeEntry(parsePiece(this.#text.slice(this.#pieceStart, end))));
      this.#pieceStart = end;
      this.#nodes = 0;
    } else if (this.#depth === LIST_DEPTH && this.#isInList) {
      this.#surplus.push(Math.max(0, this.#inList - MAX_ENTRIES));
      this.#inList = 0;
    }
    this.#depth -= 1;
  }

  #count(): void {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES && this.#inList <= MAX_ENTRIES)
      throw new ShapeError(`expected entries of at most ${MAX_NODES} objects, lists and members`);
  }
}

function parsePiece(text: string): unknown {
  requirePiece(text.length);
  return JSON.parse(text);
}

function requirePiece(length: number): void {
  if (length > MAX_PIECE) throw new ShapeError(`expected entries of at most ${MAX_PIECE} characters`);
}
