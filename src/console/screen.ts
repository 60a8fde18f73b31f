import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** Where a console shows what it has to show, and reads what is typed. */
export interface Screen {
  /** May lines hold colours? */
  readonly colour: boolean;
  /** Shows lines of the server's; they must be clean. */
  lines(lines: readonly string[]): void;
  /** Shows a line of the program's own. */
  note(text: string): void;
  /** What is typed or piped in, line by line; absent where nothing is read. */
  readonly input: AsyncIterable<string> | undefined;
  /** Gives the terminal and the input back. */
  close(): void;
}

/** Marks the program's own lines. */
export const NOTE_PREFIX = '-- ';

/** A reader of ours who is this many bytes behind misses lines: what a server prints has no bounds. */
const SLOW_READER_BYTES = 4 * 1_048_576;

export interface PipeScreenOptions {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly colour: boolean;
  /** Where commands are read from; absent where nothing is read. */
  readonly stdin?: Readable;
}

/** A screen for pipes and files: the server's lines on stdout and nothing else, the program's own on stderr. */
export class PipeScreen implements Screen {
  readonly colour: boolean;
  readonly input: AsyncIterable<string> | undefined;
  readonly #options: PipeScreenOptions;
  #missed = 0;
  #reader: Interface | undefined;

  constructor(options: PipeScreenOptions) {
    const { stdin, colour } = options;
    this.#options = options;
    this.colour = colour;
    this.input = stdin === undefined ? undefined : { [Symbol.asyncIterator]: () => this.#read(stdin) };
  }

  lines(lines: readonly string[]): void {
    const { stdout } = this.#options;
    if (stdout.writableLength > SLOW_READER_BYTES) {
      this.#missed += lines.length;
      return;
    }
    if (this.#missed > 0) this.note(`${this.#missed} lines were left out: the output was read too slowly`);
    this.#missed = 0;
    stdout.write(lines.map((line) => `${line}\n`).join(''));
  }

  note(text: string): void {
    this.#options.stderr.write(`${NOTE_PREFIX}${text}\n`);
  }

  close(): void {
    const { stdin } = this.#options;
    if (stdin === undefined) return;
    this.#reader?.close();
    stdin.pause();
    // A pipe that stays open at its other end must not keep the program; a file has no such thing.
    const { unref } = stdin as { readonly unref?: () => void };
    unref?.call(stdin);
  }

  // Nothing is read before somebody wants the first line.
  #read(stdin: Readable): AsyncIterator<string> {
    this.#reader = createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY });
    return this.#reader[Symbol.asyncIterator]();
  }
}
