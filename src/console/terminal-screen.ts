import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { NOTE_PREFIX, type Screen } from './screen.ts';

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
