import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { MIB } from '../domain/server.ts';

/** The output and input of a console. */
export interface Screen {
  /** Whether lines may contain colors. */
  readonly color: boolean;
  /** Shows lines from the server; they must be clean. */
  lines(lines: readonly string[]): void;
  /** Shows a message from the program itself. */
  note(text: string): void;
  /** The lines that are typed or piped in; absent if nothing is read. */
  readonly input: AsyncIterable<string> | undefined;
  /** Releases the terminal and the input. */
  close(): void;
}

/** Marks the program's own lines. */
export const NOTE_PREFIX = '-- ';

/** A reader that is this many bytes behind misses lines, because a server's output is unbounded. */
const SLOW_READER_BYTES = 4 * MIB;

export interface PipeScreenOptions {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly color: boolean;
  /** The source of commands; absent if nothing is read. */
  readonly stdin?: Readable;
}

/** A screen for pipes and files: only the server's lines on stdout, the program's own on stderr. */
export class PipeScreen implements Screen {
  readonly color: boolean;
  readonly input: AsyncIterable<string> | undefined;
  readonly #options: PipeScreenOptions;
  #missed = 0;
  #reader: Interface | undefined;

  constructor(options: PipeScreenOptions) {
    const { stdin, color } = options;
    this.#options = options;
    this.color = color;
    this.input = stdin === undefined ? undefined : { [Symbol.asyncIterator]: () => this.#read(stdin) };
  }

  lines(lines: readonly string[]): void {
    const { stdout } = this.#options;
    if (stdout.writableLength > SLOW_READER_BYTES) {
      this.#missed += lines.length;
      return;
    }
    if (this.#missed > 0) this.note(`${this.#missed} lines were dropped: the output is read too slowly`);
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
    // A pipe whose other end stays open must not keep the program running; files have no `unref`.
    const { unref } = stdin as { readonly unref?: () => void };
    unref?.call(stdin);
  }

  // Nothing is read until the first line is requested.
  #read(stdin: Readable): AsyncIterator<string> {
    this.#reader = createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY });
    return this.#reader[Symbol.asyncIterator]();
  }
}

export interface TerminalScreenOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly color: boolean;
  /** Shown before the input line; clean. */
  readonly prompt: string;
  /** Ctrl-C was pressed on an empty line. */
  readonly onInterrupt: () => void;
}

/** Moves to the start of the line and erases everything after it. */
const CLEAR = '\r\u001b[J';

/** The number of typed lines in the history. */
const HISTORY = 500;

/** A screen for a person at a terminal: output appears above the line that is being typed. */
export class TerminalScreen implements Screen {
  readonly color: boolean;
  readonly input: AsyncIterable<string>;
  readonly #stdout: Writable;
  readonly #readline: Interface;
  #closed = false;

  constructor({ stdin, stdout, color, prompt, onInterrupt }: TerminalScreenOptions) {
    this.color = color;
    this.#stdout = stdout;
    this.#readline = createInterface({
      input: stdin,
      output: stdout,
      terminal: true,
      prompt,
      historySize: HISTORY,
    });
    // Created immediately, because lines without a listener are lost.
    const lines = this.#readline[Symbol.asyncIterator]();
    this.input = { [Symbol.asyncIterator]: () => lines };
    this.#readline.on('close', () => {
      this.#closed = true;
    });
    this.#readline.on('SIGINT', () => {
      if (this.#readline.line === '') onInterrupt();
      else this.#discardLine();
    });
    this.#readline.prompt();
  }

  lines(lines: readonly string[]): void {
    this.#print(lines.join('\n'));
  }

  note(text: string): void {
    const line = `${NOTE_PREFIX}${text}`;
    this.#print(this.color ? `\u001b[2m${line}\u001b[0m` : line);
  }

  close(): void {
    if (this.#closed) return;
    this.#stdout.write('\n');
    this.#readline.close();
  }

  #print(text: string): void {
    if (this.#closed) {
      this.#stdout.write(`${text}\n`);
      return;
    }
    // A long input line spans several rows. readline moves up by that many before it redraws, so they are added below.
    const { rows } = this.#readline.getCursorPos();
    const up = rows > 0 ? `\u001b[${rows}A` : '';
    this.#stdout.write(`${up}${CLEAR}${text}\n${'\n'.repeat(rows)}`);
    this.#readline.prompt(true);
  }

  // Sends Ctrl-E and Ctrl-U.
  #discardLine(): void {
    this.#readline.write(null, { ctrl: true, name: 'e' });
    this.#readline.write(null, { ctrl: true, name: 'u' });
  }
}
