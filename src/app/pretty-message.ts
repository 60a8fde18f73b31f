// A log line for people: its message, followed by the fields that the message omits.

import { INVISIBLE } from '../text/printable.ts';

/** Fields that messages omit but people need. */
const SHOWN = ['cause', 'client', 'path', 'code'];

/** A log line for people: its message and the fields that the message omits, on one line. */
export function prettyMessage(line: Readonly<Record<string, unknown>>, messageKey: string): string {
  const { [messageKey]: text, panel } = line;
  const message = typeof text === 'string' ? text : '';
  const isOfPanel = typeof panel === 'string' && !message.includes(`panel ${panel}`);
  const fields = [...(isOfPanel ? ['panel'] : []), ...SHOWN].flatMap((name) => {
    const value = line[name];
    return typeof value === 'string' ? [`${name}=${value}`] : [];
  });
  return onOneLine([message, ...fields, errorText(line['err'])].filter((part) => part !== '').join(' '));
}

/** An error as pino serializes it, with its stack if it has one. */
function errorText(err: unknown): string {
  if (typeof err !== 'object' || err === null) return '';
  const { message, stack } = err as { readonly message?: unknown; readonly stack?: unknown };
  return `err="${String(stack ?? message)}"`;
}

const INVISIBLE_RUNS = new RegExp(`${INVISIBLE}+\\s*`, 'gv');

/**
 * Removes every character that could end the line, control the terminal, or be invisible, from any
 * source.
 */
function onOneLine(text: string): string {
  return text.replaceAll(INVISIBLE_RUNS, ' ');
}
