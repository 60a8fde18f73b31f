import { styleText } from 'node:util';
import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import type { FoundProblem, ServerReport } from './report.ts';

/** Colors a text, or returns it unchanged. */
export type Paint = (format: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string) => string;

/** Returns a function that colors texts, or one that leaves them unchanged. */
export function painter(colors: boolean): Paint {
  // The stream was already checked by the caller.
  return (format, text) => (colors ? styleText(format, text, { validateStream: false }) : text);
}

/** Whether output to this stream should be colored: only in a terminal that supports colors, unless NO_COLOR is set. */
export function wantsColors(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  const refuses = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  return stream.isTTY === true && !refuses && env['TERM'] !== 'dumb';
}

/** A result that a table shows. */
export type Shown = ServerReport['result'] | FoundProblem['result'];

const SHOWN: Readonly<Record<Shown, readonly [Parameters<Paint>[0], string]>> = {
  ok: ['green', 'ok'],
  warning: ['yellow', 'warning'],
  failed: ['red', 'failed'],
  untested: ['dim', '-'],
};

/** A result as shown in a table. */
export function paintResult(result: Shown, paint: Paint): string {
  const [format, word] = SHOWN[result];
  return paint(format, word);
}

/** The width of the output, in columns: that of a terminal with the default size. */
const WIDTH = 80;

/** The text before each line. */
interface Margins {
  readonly first: string;
  /** Before all other lines; defaults to as many spaces as `first` is wide. */
  readonly others?: string;
}

/** Wraps a text to at most `width` columns, including margins; words that are too long are broken. Colors take no columns. */
export function wrapped(text: string, { first, others }: Margins, width = WIDTH): string {
  const indent = others ?? ' '.repeat(stringWidth(first));
  const columns = Math.max(1, width - Math.max(stringWidth(first), stringWidth(indent)));
  const [head = '', ...rest] = wrapAnsi(text, columns, { hard: true, trim: true }).split('\n');
  return [first + head, ...rest.map((line) => indent + line)].map((line) => line.trimEnd()).join('\n');
}

/** Pads the text with spaces to this many columns. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)));
}

/** The number of terminal columns that a text takes. */
export function widthOf(text: string): number {
  return stringWidth(text);
}
