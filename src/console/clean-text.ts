/** The longest line that is shown, in UTF-16 units. */
export const MAX_LINE_LENGTH = 4_000;

/** As many lines of one frame are shown: a node sends one at a time. */
const MAX_LINES = 100;

const RESET = '\u001b[0m';

// Each alternative takes a whole sequence, so that no "[2J" remains of it, and every escape character is taken by one of them.
const UNPRINTABLE = new RegExp(
  [
    // CSI: parameters, intermediate bytes, the final byte; 7 and 8 bit.
    String.raw`(?:\u001b\[|\u009b)(?<parameters>[0-?]*)(?<intermediate>[ -/]*)(?<final>[@-~]?)`,
    // Strings for the terminal (OSC, DCS, SOS, PM, APC) up to their terminator; an open one ends with its line.
    String.raw`(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?`,
    // Any other escape.
    String.raw`\u001b[ -/]*[0-~]?`,
    String.raw`(?<lineBreak>\r+\n?)`,
    String.raw`(?<separator>[\p{Zl}\p{Zp}])`,
    String.raw`(?<surrogate>\p{Cs})`,
    String.raw`(?![\t\n])[\p{Cc}\p{Cf}]`,
  ].join('|'),
  'gu',
);

interface Parts {
  readonly parameters?: string;
  readonly intermediate?: string;
  readonly final?: string;
  readonly lineBreak?: string;
  readonly separator?: string;
  readonly surrogate?: string;
}

/**
 * A stranger's text as lines that can't do anything to a terminal: printable characters and tabs, and colours (SGR sequences)
 * where `colour` is wanted, reset at each line's end. A carriage return breaks the line, so that nothing is written over; lines
 * are bounded in length and number.
 */
export function cleanLines(text: string, colour: boolean): readonly string[] {
  const lines = text
    .replaceAll(UNPRINTABLE, (...match) => replacement(match.at(-1) as Parts, colour))
    .replace(/\n+$/, '')
    .split('\n');
  const rest = lines.length - MAX_LINES;
  const shown = lines.slice(0, MAX_LINES).map(bounded);
  return rest > 0 ? [...shown, `… (${rest} more lines)`] : shown;
}

function replacement(parts: Parts, colour: boolean): string {
  const { parameters = '', final, intermediate, lineBreak, separator, surrogate } = parts;
  if (final === 'm' && intermediate === '' && colour && /^[\d;:]{0,64}$/.test(parameters)) {
    return `\u001b[${parameters}m`;
  }
  if (lineBreak !== undefined) return '\n';
  if (separator !== undefined) return ' ';
  return surrogate === undefined ? '' : '\ufffd';
}

function bounded(line: string): string {
  const shown =
    line.length <= MAX_LINE_LENGTH ? line : `${line.slice(0, MAX_LINE_LENGTH - 1).replace(PARTIAL_END, '')}…`;
  return shown.includes('\u001b') ? `${shown}${RESET}` : shown;
}

/** What a cut may leave of a sequence or of a character. */
const PARTIAL_END = new RegExp(String.raw`(?:\u001b(?:\[[\d;:]*)?|[\ud800-\udbff])$`);

/** The text with each secret struck out. */
export function withoutSecrets(text: string, secrets: Iterable<string>): string {
  let shown = text;
  for (const secret of secrets) {
    if (secret !== '') shown = shown.replaceAll(secret, '<secret>');
  }
  return shown;
}
