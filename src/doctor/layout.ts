import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

/** Columns of what is printed: those of a terminal that nobody resized. */
const WIDTH = 80;

/** What stands before a text's lines. */
export interface Margins {
  readonly first: string;
  /** Before all other lines; as many spaces as `first` is wide where absent. */
  readonly others?: string;
}

/** A text as lines of at most `width` columns, margins included; words that are too long are broken. Colors take no columns. */
export function wrapped(text: string, { first, others }: Margins, width = WIDTH): string {
  const indent = others ?? ' '.repeat(stringWidth(first));
  const columns = Math.max(1, width - Math.max(stringWidth(first), stringWidth(indent)));
  const [head = '', ...rest] = wrapAnsi(text, columns, { hard: true, trim: true }).split('\n');
  return [first + head, ...rest.map((line) => indent + line)].map((line) => line.trimEnd()).join('\n');
}

/** The text with spaces behind it, up to so many columns. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)));
}

/** Columns that a text takes in a terminal. */
export function widthOf(text: string): number {
  return stringWidth(text);
}
