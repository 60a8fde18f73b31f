// The messages of a daemon, as a console shows them.
import { stripVTControlCharacters } from 'node:util';
import { CAUSES, withRemedy } from '../diagnosis/causes.ts';
import type { Problem } from '../domain/problems.ts';
import type { ServerMessage } from '../panel/socket-codec.ts';
import { INVISIBLE, printable } from '../text/printable.ts';
import { KNOWN_SECRETS } from '../text/redaction.ts';

const NOTES = new Map<string, (said: string) => string>([
  ['daemon message', (said) => `message from the node: ${said}`],
  ['daemon error', (said) => `error from the node: ${said}`],
  ['throttled', (said) => `the node dropped a "${said}" message: too many messages at once`],
  ['install started', () => 'installation started'],
  ['install completed', () => 'installation completed'],
  ['transfer status', (said) => `transfer to another node: ${said}`],
  ['backup completed', () => 'backup finished'],
  ['backup restore completed', () => 'backup restored'],
]);

/**
 * The text for a person about a message that isn't output; undefined if it is irrelevant or shown
 * elsewhere.
 */
export function describeMessage({ event, args: [first = ''] }: ServerMessage): string | undefined {
  return NOTES.get(event)?.(printable(first));
}

/**
 * A problem of the connection with its remedy, and with the source of the API key if the key or its
 * account is the reason.
 */
export function explainProblem(problem: Problem, keySource: string): string {
  const { scope, lasting, severity } = CAUSES[problem.cause];
  // A suspended server is suspended for every API key.
  const isOfAccount = scope === 'key' || (scope === 'server' && lasting && severity !== 'fact');
  return KNOWN_SECRETS.redact(
    `${withRemedy(problem)}${isOfAccount ? ` The API key is from ${keySource}.` : ''}`,
  );
}

/**
 * The maximum length of a displayed message, in UTF-16 units: finding escape sequences in longer
 * ones is expensive.
 */
export const MAX_LENGTH = 16_384;

/** Splits a text so that every second part is a color. */
// eslint-disable-next-line no-control-regex -- matches escape sequences
const COLOR = /(\u001b\[[\d;:]*m)/;

const UNPRINTABLE = new RegExp(String.raw`(?![\t\n])${INVISIBLE}`, 'gv');

/**
 * A node's text as lines that can't control a terminal: printable characters and tabs, without
 * secrets. If `color` is true, colors (SGR sequences) stay, and are reset at the end of each line.
 * A carriage return breaks the line, so that it can't overwrite text.
 */
export function cleanLines(text: string, color: boolean): readonly string[] {
  const isColored = color && text.length <= MAX_LENGTH;
  const plain = (part: string) => stripVTControlCharacters(part).replaceAll(UNPRINTABLE, '');
  const shown = KNOWN_SECRETS.shown(text, MAX_LENGTH, Number.POSITIVE_INFINITY, (whole) => {
    const parts = whole.replaceAll(/\r\n?/g, '\n').split(COLOR);
    return parts.map((part, index) => (isColored && index % 2 === 1 ? part : plain(part))).join('');
  });
  const lines = shown.replace(/\n$/, '').split('\n');
  return lines.map((line) => (line.includes('\u001b') ? `${line}\u001b[0m` : line));
}
