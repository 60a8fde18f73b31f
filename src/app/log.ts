// The exporter's log.

import { type Logger, pino } from 'pino';
import type { Config } from '../config/config.ts';
import { INVISIBLE, KNOWN_SECRETS } from '../domain/secrets.ts';
import { MIB } from '../domain/server.ts';

// Nothing should log these; if it happens by mistake, they are still redacted.
const SECRET_FIELDS = [
  'apiKey',
  'api_key',
  'token',
  'authorization',
  'password',
  '*.apiKey',
  '*.token',
  '*.authorization',
];

const STANDARD_ERROR = 2;

/** The program's log, and how many of its lines could not be written. */
export interface ProgramLog {
  readonly log: Logger;
  readonly droppedLines: () => number;
}

/** Opens the program's log on standard error: standard output is for the output of commands. */
export async function openLog({ level, format }: Config['log']): Promise<ProgramLog> {
  const { write, droppedLines } = openOutput();
  const options = {
    level,
    base: null,
    redact: SECRET_FIELDS,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: (line: string) => KNOWN_SECRETS.redact(line) },
  };
  if (format === 'json' || (format === 'auto' && !process.stderr.isTTY)) {
    return { log: pino(options, { write }), droppedLines };
  }
  // Loaded only if a person reads the log: a service starts faster without it.
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    colorize: process.stderr.isTTY,
    hideObject: true,
    messageFormat: (line, messageKey) => prettyMessage(line, messageKey),
  });
  return { log: pino(options, { write: (line) => write(pretty(line)) }), droppedLines };
}

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
 * Removes every character that could end the line or control the terminal, or isn't seen, whatever
 * its origin.
 */
function onOneLine(text: string): string {
  return text.replaceAll(INVISIBLE_RUNS, ' ');
}

/** The maximum backlog for a slow reader or a full disk; anything beyond it is dropped. */
const MAX_BACKLOG_BYTES = MIB;

/** How often a backlog is written again while nothing is logged. */
const RETRY_MS = 1_000;

interface LogOutput {
  readonly write: (line: string) => void;
  readonly droppedLines: () => number;
}

/** Writes lines at once and in order; a line that can't be written never stops the program. */
function openOutput(): LogOutput {
  let dropped = 0;
  let hasReader = true;
  const destination = pino.destination({
    dest: STANDARD_ERROR,
    sync: true,
    maxLength: MAX_BACKLOG_BYTES,
    // Without a minimum, nothing is written periodically. Every line is longer.
    minLength: 1,
    periodicFlush: RETRY_MS,
    // Trying again at once would block the program until the reader has caught up.
    retryEAGAIN: () => false,
  });
  destination.on('drop', () => {
    dropped += 1;
  });
  // pino gives up a pipe that nobody reads, and keeps the line after any other error.
  destination.on('error', ({ code }: NodeJS.ErrnoException) => {
    hasReader &&= code !== 'EPIPE';
  });
  return {
    write: (line) => {
      if (hasReader) destination.write(line);
      if (!hasReader) dropped += 1;
    },
    droppedLines: () => dropped,
  };
}
