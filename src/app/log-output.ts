import fs from 'node:fs';
import { MIB } from '../domain/server.ts';

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
