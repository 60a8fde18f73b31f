// The output and input of a console, in a terminal or not.
import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { KNOWN_SECRETS } from '../text/redaction.ts';
import { cleanLines } from './messages.ts';

interface ScreenOptions {
  readonly stdin?: Readable | undefined;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether lines may contain colors. */
  readonly color: boolean;
  /** The prompt before the line that a person types in a terminal; absent for pipes and files. */
  readonly prompt?: string | undefined;
  /** Called when Ctrl-C is pressed in a terminal. */
  readonly onInterrupt: () => void;
}

/**
 * The output and input of a console: pipes and files, or a terminal that shows output above the
 * line being typed.
 */
export class Screen {
  /** The lines that are typed or piped in; absent if nothing is read. */
  readonly input: AsyncIterable<string> | undefined;
  readonly #options: ScreenOptions;
  readonly #reader: Interface | undefined;
  #isTyping = false;

  constructor(options: ScreenOptions) {
    const { stdin: input, stdout: output, prompt, onInterrupt } = options;
    this.#options = options;
    if (input === undefined) return;
    this.#isTyping = prompt !== undefined;
    this.#reader = createInterface(this.#isTyping ? { input, output, prompt, terminal: true } : { input });
    // Created immediately, because lines without a listener are lost.
    const lines = this.#reader[Symbol.asyncIterator]();
    this.input = { [Symbol.asyncIterator]: () => lines };
    this.#reader.on('SIGINT', onInterrupt).on('close', () => {
      this.#isTyping = false;
    });
    if (this.#isTyping) this.#reader.prompt();
  }

  /** Shows text from the server. */
  print(text: string): void {
    const { stdout, color } = this.#options;
    this.#write(cleanLines(text, color).join('\n'), stdout);
  }

  /** Shows a message from the program itself, separate from piped output. */
  note(text: string): void {
    const { stdout, stderr, prompt } = this.#options;
    this.#write(`-- ${KNOWN_SECRETS.redact(text)}`, prompt === undefined ? stderr : stdout);
  }

  /** Releases the terminal and the input, because an open pipe would keep the program running. */
  close(): void {
    if (this.#isTyping) this.#options.stdout.write('\n');
    this.#reader?.close();
    this.#options.stdin?.destroy();
  }

  #write(text: string, stream: Writable): void {
    // A long input line spans several rows. readline moves up by as many rows before it redraws, so
    // they are added below.
    const rows = this.#isTyping ? (this.#reader?.getCursorPos().rows ?? 0) : 0;
    if (this.#isTyping) {
      moveCursor(stream, 0, -rows);
      cursorTo(stream, 0);
      clearScreenDown(stream);
    }
    stream.write(`${text}\n${'\n'.repeat(rows)}`);
    if (this.#isTyping) this.#reader?.prompt(true);
  }
}
