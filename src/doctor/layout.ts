import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

/** The width of the output, in columns: that of a terminal with the default size. */
const WIDTH = 80;

/** The text before each line. */
export interface Margins {
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
