// The exporter's log.

import { type Logger, pino } from 'pino';
import type { Config } from '../config/config.ts';
import { KNOWN_SECRETS } from '../text/redaction.ts';
import { openOutput } from './log-output.ts';
import { prettyMessage } from './pretty-message.ts';

// Nothing should log these fields. If it happens by mistake, they are redacted.
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
  // Loaded only for the pretty format: a service starts faster without it.
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    colorize: process.stderr.isTTY,
    hideObject: true,
    messageFormat: (line, messageKey) => prettyMessage(line, messageKey),
  });
  return { log: pino(options, { write: (line) => write(pretty(line)) }), droppedLines };
}
