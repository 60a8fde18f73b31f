import { CAUSES, withRemedy } from '../diagnosis/causes.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import { printable } from '../domain/printable.ts';
import type { Problem } from '../domain/problem.ts';
import type { ServerMessage } from '../panel/dialect.ts';
import { withoutConcealment } from './colors.ts';

/** A node's message as the console shows it. */
export type Narration =
  /** Output, unmodified. */
  | { readonly kind: 'output'; readonly text: string }
  /** A note, without control characters. `failed` if a request was not carried out. */
  | { readonly kind: 'note'; readonly text: string; readonly failed: boolean }
  /** The server no longer exists. */
  | { readonly kind: 'gone'; readonly text: string };

/** What to show for a message; undefined if it is irrelevant to a person or reported in another way. */
export function narrate({ event, args }: ServerMessage): Narration | undefined {
  const [first = ''] = args;
  const said = printable(first);
  switch (event) {
    case 'console output':
    case 'install output':
    case 'transfer logs':
      return { kind: 'output', text: first };
    case 'daemon message':
      return note(`message from the node: ${said}`);
    case 'daemon error':
      return failure(`error from the node: ${said}`);
    case 'throttled':
      return failure(`the node dropped a "${said}" message: too many messages at once`);
    case 'install started':
      return note('installation started');
    case 'install completed':
      return note('installation completed');
    case 'transfer status':
      return note(`transfer to another node: ${said}`);
    case 'backup completed':
      return note('backup finished');
    case 'backup restore completed':
      return note('backup restored');
    case 'deleted':
      return { kind: 'gone', text: 'the server was deleted' };
    default:
      return undefined;
  }
}

function note(text: string): Narration {
  return { kind: 'note', text, failed: false };
}

function failure(text: string): Narration {
  return { kind: 'note', text, failed: true };
}

/**
 * A problem with the connection and what to do about it; shows the source of the API key if the key or its account is the reason.
 */
export function explainProblem(problem: Problem, keySource: string): string {
  const { scope, lasting, severity } = CAUSES[problem.cause];
  // A suspended server is suspended for every API key.
  const isOfAccount = scope === 'key' || (scope === 'server' && lasting && severity !== 'fact');
  return `${withRemedy(problem)}${isOfAccount ? ` The API key is from ${keySource}.` : ''}`;
}

/** The maximum length of a displayed line, in UTF-16 units. */
export const MAX_LINE_LENGTH = 4_000;

/** The maximum number of lines shown per frame; a node sends one at a time. */
const MAX_LINES = 100;

const RESET = '\u001b[0m';

// Each alternative matches a whole sequence, so that no "[2J" remains, and every escape character is matched by one of them.
const UNPRINTABLE = new RegExp(
  [
    // CSI: parameters, intermediate bytes, the final byte; 7 and 8 bit.
    String.raw`(?:\u001b\[|\u009b)(?<parameters>[0-?]*)(?<intermediate>[ -/]*)(?<final>[@-~]?)`,
    // Strings for the terminal (OSC, DCS, SOS, PM, APC) up to their terminator; an unterminated one ends with its line.
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
 * Untrusted text as lines that can't control a terminal: printable characters and tabs, plus colors (SGR sequences) if `color`
 * is true, reset at the end of each line; secrets are removed. A carriage return breaks the line, so that nothing is overwritten;
 * the length and number of lines are bounded.
 */
export function cleanLines(text: string, color: boolean): readonly string[] {
  const printed = text.replaceAll(UNPRINTABLE, (...match) => replacement(match.at(-1) as Parts, color));
  const lines = KNOWN_SECRETS.redact(printed).replace(/\n+$/, '').split('\n');
  const rest = lines.length - MAX_LINES;
  const shown = lines.slice(0, MAX_LINES).map((line) => bounded(withoutConcealment(line)));
  return rest > 0 ? [...shown, `… (${rest} more lines)`] : shown;
}

function replacement(parts: Parts, color: boolean): string {
  const { parameters = '', final, intermediate, lineBreak, separator, surrogate } = parts;
  if (final === 'm' && intermediate === '' && color && /^[\d;:]{0,64}$/.test(parameters)) {
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

/** The incomplete sequence or character that a cut may leave. */
const PARTIAL_END = new RegExp(String.raw`(?:\u001b(?:\[[\d;:]*)?|[\ud800-\udbff])$`);
