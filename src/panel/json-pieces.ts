import { setImmediate as afterEvents } from 'node:timers/promises';
import { ShapeError } from './dialect.ts';

/**
 * The longest JSON, in UTF-16 units, that is parsed at once. A hostile text takes a hundred times as long as a usual one of the
 * same length, so this limits how long it blocks the event loop.
 */
export const MAX_PIECE = 256 * 1024;

/** More than a list may have. The others are only counted: they have the value 0. */
const MAX_ENTRIES = 1_000;

/**
 * More objects and lists than the entries of a real text contain: 250 allocations for each of 100 servers. Entries are kept until
 * the text is complete, and each of a million objects would be moved by the garbage collector, which blocks the event loop.
 */
const MAX_NESTED = 50_000;

/** What is read of a long text before the event loop has its turn. */
const SLICE = 64 * 1024;

/**
 * Parses JSON without blocking the event loop for long. In a long text, each entry of a list in the outermost object is parsed on
 * its own, and then the rest.
 *
 * @throws ShapeError if one of these pieces is too long, or if the entries contain too many objects
 * @throws SyntaxError if the text isn't JSON
 */
export async function parseJson(text: string): Promise<unknown> {
  if (text.length <= MAX_PIECE) return JSON.parse(text);
  const reader = new PieceReader(text);
  for (let end = SLICE; end < text.length + SLICE; end += SLICE) {
    reader.readTo(Math.min(end, text.length));
    await afterEvents();
  }
  return reader.whole();
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The depth of entries of a list in the outermost object. */
const ENTRY_DEPTH = 3;

/** Stands for an entry in what is left of the text. */
const ENTRY = 0;

class PieceReader {
  readonly #text: string;
  readonly #entries: unknown[] = [];
  /** The text without its entries, up to the start of an entry or of what follows one. */
  #rest = '';
  #at = 0;
  #pieceStart = 0;
  #depth = 0;
  /** The objects and lists inside entries that are kept. */
  #nested = 0;
  #isQuoted = false;
  #isInList = false;

  constructor(text: string) {
    this.#text = text;
  }

  readTo(end: number): void {
    for (; this.#at < end; this.#at += 1) {
      const unit = this.#text.charCodeAt(this.#at);
      if (this.#isQuoted) {
        if (unit === BACKSLASH) this.#at += 1;
        else if (unit === QUOTE) this.#isQuoted = false;
      } else if (unit === QUOTE) this.#isQuoted = true;
      else if (unit === OPEN_LIST || unit === OPEN_OBJECT) this.#open(unit === OPEN_LIST);
      else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) this.#close();
    }
  }

  whole(): unknown {
    this.#rest += this.#text.slice(this.#pieceStart);
    const value = parsePiece(this.#rest) as object | null;
    let next = 0;
    for (const list of Object.values(value ?? {})) {
      if (!Array.isArray(list)) continue;
      for (const [index, entry] of list.entries()) {
        if (entry !== ENTRY || next >= this.#entries.length) continue;
        list[index] = this.#entries[next];
        next += 1;
      }
    }
    return value;
  }

  #open(isList: boolean): void {
    this.#depth += 1;
    if (this.#depth === ENTRY_DEPTH - 1) this.#isInList = isList;
    if (this.#depth > ENTRY_DEPTH && this.#isInList && this.#entries.length < MAX_ENTRIES) this.#nested += 1;
    if (this.#nested > MAX_NESTED)
      throw new ShapeError(`expected at most ${MAX_NESTED} objects and lists in the entries`);
    if (this.#depth !== ENTRY_DEPTH || !this.#isInList) return;
    this.#rest += this.#text.slice(this.#pieceStart, this.#at) + ENTRY;
    this.#pieceStart = this.#at;
  }

  #close(): void {
    if (this.#depth === ENTRY_DEPTH && this.#isInList) {
      if (this.#entries.length < MAX_ENTRIES)
        this.#entries.push(parsePiece(this.#text.slice(this.#pieceStart, this.#at + 1)));
      this.#pieceStart = this.#at + 1;
    }
    this.#depth -= 1;
  }
}

function parsePiece(text: string): unknown {
  if (text.length > MAX_PIECE) throw new ShapeError(`expected entries of at most ${MAX_PIECE} characters`);
  return JSON.parse(text);
}
