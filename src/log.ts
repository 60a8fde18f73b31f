import { type Logger, pino } from 'pino';

/** What is logged and in which form; `auto` is pretty in a terminal and JSON elsewhere. */
export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly format: 'json' | 'pretty' | 'auto';
}

// Nothing logs these; should something ever do so by mistake, they still don't get out.
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

/** The program's log, on standard error: standard output is for what a command is asked for. */
export async function createLogger({ level, format }: LogOptions): Promise<Logger> {
  const options = { level, base: null, redact: SECRET_FIELDS, timestamp: pino.stdTimeFunctions.isoTime };
  if (format === 'json' || (format === 'auto' && !process.stderr.isTTY)) {
    return pino(options, pino.destination({ dest: 2, sync: true }));
  }
  // Loaded where a person looks on: a service starts the sooner without it.
  const { default: pretty } = await import('pino-pretty');
  return pino(
    options,
    pretty({ destination: 2, sync: true, colorize: process.stderr.isTTY, ignore: 'pid,hostname' }),
  );
}
