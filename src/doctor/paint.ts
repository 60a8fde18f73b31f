// Text in columns and colors for a terminal.
import { styleText } from 'node:util';
import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import type { FoundProblem, ServerReport } from './report.ts';

/** The maximum width of the output in columns: the default width of terminals. */
const WIDTH = 80;

/** Lays out texts for a terminal or a file. */
export class Printout {
  readonly #colors: boolean;
  readonly #width: number;

  constructor(colors: boolean, width = WIDTH) {
    this.#colors = colors;
    this.#width = width;
  }

  /** A page as wide as the terminal, with colors if the terminal supports them. */
  static for(
    stream: { readonly isTTY?: boolean; readonly columns?: number },
    env: NodeJS.ProcessEnv,
  ): Printout {
    // A terminal that doesn't report its size has 0 columns.
    return new Printout(wantsColors(stream, env), Math.min(WIDTH, stream.columns || WIDTH));
  }

  /** Colors a text, or returns it unchanged. */
  paint(format: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string): string {
    // The caller has already checked the stream.
    return this.#colors ? styleText(format, text, { validateStream: false }) : text;
  }

  /**
   * Wraps a text to the width, including the prefixes `first` and `others`. Words that are too long
   * are broken, and color codes take no columns.
   */
  wrapped(text: string, first = '', others = ' '.repeat(stringWidth(first))): string {
    const columns = Math.max(1, this.#width - Math.max(stringWidth(first), stringWidth(others)));
    const [head = '', ...rest] = wrapAnsi(text, columns, { hard: true, trim: true }).split('\n');
    return [first + head, ...rest.map((line) => others + line)].map((line) => line.trimEnd()).join('\n');
  }
}

/**
 * Whether output to this stream should be colored: only in a terminal that supports colors, unless
 * NO_COLOR is set.
 */
export function wantsColors(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  const refuses = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  return stream.isTTY === true && !refuses && env['TERM'] !== 'dumb';
}

/** A result in a table. */
export type Shown = ServerReport['result'] | FoundProblem['result'];

const SHOWN: Readonly<Record<Shown, readonly [Parameters<Printout['paint']>[0], string]>> = {
  ok: ['green', 'ok'],
  warning: ['yellow', 'warning'],
  failed: ['red', 'failed'],
  untested: ['dim', '-'],
};

/** A result as a colored word for a table. */
export function paintResult(result: Shown, page: Printout): string {
  const [format, word] = SHOWN[result];
  return page.paint(format, word);
}

/** Pads the text with spaces to a number of columns. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)));
}
