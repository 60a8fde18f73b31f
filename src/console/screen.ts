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

export interface TerminalScreenOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly colour: boolean;
  /** Stands before what is typed; clean. */
  readonly prompt: string;
  /** Ctrl-C was pressed on an empty line. */
  readonly onInterrupt: () => void;
}

/** To the line's start, and away with all from there. */
const CLEAR = '\r\u001b[J';

/** How many typed lines can be called back. */
const HISTORY = 500;

/** A screen for a person at a terminal: lines appear above the one that is being typed. */
export class TerminalScreen implements Screen {
  readonly colour: boolean;
  readonly input: AsyncIterable<string>;
  readonly #stdout: Writable;
  readonly #readline: Interface;
  #closed = false;

  constructor({ stdin, stdout, colour, prompt, onInterrupt }: TerminalScreenOptions) {
    this.colour = colour;
    this.#stdout = stdout;
    this.#readline = createInterface({
      input: stdin,
      output: stdout,
      terminal: true,
      prompt,
      historySize: HISTORY,
    });
    // At once, since a line that nobody listens for is lost.
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
    this.#print(this.colour ? `\u001b[2m${line}\u001b[0m` : line);
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
    // A long typed line fills several rows. readline goes up as many before it draws anew: they are given to it below.
    const { rows } = this.#readline.getCursorPos();
    const up = rows > 0 ? `\u001b[${rows}A` : '';
    this.#stdout.write(`${up}${CLEAR}${text}\n${'\n'.repeat(rows)}`);
    this.#readline.prompt(true);
  }

  // Ctrl-E and Ctrl-U, as a person would.
  #discardLine(): void {
    this.#readline.write(null, { ctrl: true, name: 'e' });
    this.#readline.write(null, { ctrl: true, name: 'u' });
  }
}
