import fs from 'node:fs';
import { type Logger, pino } from 'pino';
import type { LogConfig } from '../config/config.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
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
export async function openLog({ level, format }: LogConfig): Promise<ProgramLog> {
  const output = new LogOutput(STANDARD_ERROR);
  const options = {
    level,
    base: null,
    redact: SECRET_FIELDS,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: (line: string) => KNOWN_SECRETS.redact(line) },
  };
  const droppedLines = () => output.dropped;
  if (format === 'json' || (format === 'auto' && !process.stderr.isTTY)) {
    return { log: pino(options, output), droppedLines };
  }
  // Loaded only if a person reads the log: a service starts faster without it.
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    colorize: process.stderr.isTTY,
    hideObject: true,
    messageFormat: (line, messageKey) => prettyMessage(line, messageKey),
  });
  return { log: pino(options, { write: (line) => output.write(pretty(line)) }), droppedLines };
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

/** Removes every character that could end the line or control the terminal, whatever its origin. */
function onOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+\s*/gu, ' ');
}

/** The maximum backlog for a reader that is slower than the log; anything beyond it is dropped. */
const MAX_BACKLOG_BYTES = MIB;

/** Delay before writing to a full pipe again. */
const RETRY_MS = 50;

/** How long the program waits for a slow reader when it ends. */
const LAST_WRITE_MS = 500;
const LAST_WRITE_PAUSE_MS = 10;

/** Errors of a pipe whose reader is alive, but slower than the log. */
const BUSY = new Set(['EAGAIN', 'EBUSY']);

const NEW_LINE = 0x0a;

/**
 * Writes log lines to a file descriptor immediately and in order. A line that can't be written because the disk is full or the
 * reader of the pipe is gone is dropped and counted: a log must not stop the program.
 */
export class LogOutput {
  readonly #fd: number;
  #dropped = 0;
  /** Lines, or the rest of one, that wait until the pipe accepts them. */
  #backlog: Buffer[] = [];
  #backlogBytes = 0;
  #retry: NodeJS.Timeout | undefined;
  /** Only part of the last line was written, so the next one has to begin on a new line. */
  #isTorn = false;

  constructor(fd: number) {
    this.#fd = fd;
    process.once('exit', () => this.#writeLast());
  }

  /** Lines dropped so far. */
  get dropped(): number {
    return this.#dropped;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#backlog.length > 0) this.#keep(bytes);
    else this.#put(bytes);
  }

  #keep(bytes: Buffer): void {
    if (this.#backlogBytes + bytes.length > MAX_BACKLOG_BYTES) {
      this.#dropped += 1;
      return;
    }
    this.#backlog.push(bytes);
    this.#backlogBytes += bytes.length;
    this.#retry ??= setTimeout(() => this.#writeBacklog(), RETRY_MS).unref();
  }

  #writeBacklog(): void {
    this.#retry = undefined;
    const waiting = this.#backlog;
    this.#backlog = [];
    this.#backlogBytes = 0;
    for (const bytes of waiting) {
      if (this.#backlog.length > 0) this.#keep(bytes);
      else this.#put(bytes);
    }
  }

  /** Writes one line, or the rest of it. */
  #put(line: Buffer): void {
    let rest = this.#isTorn ? Buffer.concat([Buffer.of(NEW_LINE), line]) : line;
    this.#isTorn = false;
    const { length } = rest;
    try {
      while (rest.length > 0) rest = rest.subarray(fs.writeSync(this.#fd, rest));
    } catch (error) {
      if (BUSY.has((error as NodeJS.ErrnoException).code ?? '')) {
        this.#keep(rest);
        return;
      }
      this.#dropped += 1;
      this.#isTorn = rest.length < length;
    }
  }

  /** The program is ending, so there is no later attempt. */
  #writeLast(): void {
    clearTimeout(this.#retry);
    const pause = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    for (let waitedMs = 0; this.#backlog.length > 0; waitedMs += LAST_WRITE_PAUSE_MS) {
      if (waitedMs >= LAST_WRITE_MS) return;
      this.#writeBacklog();
      if (this.#backlog.length > 0) Atomics.wait(pause, 0, 0, LAST_WRITE_PAUSE_MS);
    }
  }
}
