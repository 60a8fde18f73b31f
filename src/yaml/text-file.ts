// Reads text files that a user named.

import { constants, open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { errorCode } from '../text/error-code.ts';
import { KNOWN_SECRETS } from '../text/redaction.ts';

/** The expected content of a file, and its maximum size. */
export interface FileKind {
  readonly maxKibibytes: number;
  /** Completes "expected ". */
  readonly content: string;
}

/** A file with a panel's API key. */
export const API_KEY_FILE: FileKind = { maxKibibytes: 4, content: 'only the API key in it' };

/** Certificates or a private key: four times the size of a system's whole bundle of authorities. */
export const TLS_FILE: FileKind = {
  maxKibibytes: 1_024,
  content: 'only certificates or a private key in it, in PEM',
};

/**
 * The configuration or the web configuration: several times the size for a hundred thousand
 * servers.
 */
export const CONFIGURATION_FILE: FileKind = { maxKibibytes: 16_384, content: 'only settings in YAML in it' };

/**
 * A file's content, or why there is none, as the end of a message that begins with the file's name.
 */
export type FileResult =
  | { readonly ok: true; readonly content: string }
  | { readonly ok: false; readonly problem: string };

/**
 * The text of a file, or why it can't be read. A pipe is read to its end, for at most 5 s. An
 * endless device is read up to the limit.
 */
export function readTextFile(file: string, kind: FileKind): Promise<FileResult> {
  return readText(readPieces(file), kind);
}

/** The text of a stream, with the same limit and errors as a file. */
export async function readText(
  pieces: AsyncIterable<Uint8Array | string>,
  { maxKibibytes, content }: FileKind,
): Promise<FileResult> {
  try {
    const read: Buffer[] = [];
    let rest = maxKibibytes * 1_024;
    for await (const piece of pieces) {
      // A copy, because the next piece may overwrite this one.
      read.push(Buffer.from(piece));
      rest -= read.at(-1)?.length ?? 0;
      const size = maxKibibytes < 1_024 ? `${maxKibibytes} KiB` : `${maxKibibytes / 1_024} MiB`;
      if (rest < 0) return unreadable(`larger than ${size}, expected ${content}`);
    }
    // Otherwise, text that is not UTF-8 would get replacement characters, and a key would be wrong
    // without a visible reason.
    return { ok: true, content: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(read)) };
  } catch (error) {
    const code = errorCode(error);
    return unreadable(PROBLEMS[code] ?? code);
  }
}

function unreadable(why: string) {
  return { ok: false, problem: `can't be read: ${why}` } as const;
}

/** How long to wait for a pipe, and how often to read it in that time, in milliseconds. */
const PIPE_WAIT_MS = 5_000;
const PIPE_EVERY_MS = 20;

async function* readPieces(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  // Otherwise, opening a named pipe would wait for a writer, in a thread that can't be interrupted.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.allocUnsafe(64 * 1_024);
    const deadline = performance.now() + PIPE_WAIT_MS;
    for (;;) {
      try {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
      } catch (error) {
        if (errorCode(error) !== 'EAGAIN' || performance.now() > deadline) throw error;
        await setTimeout(PIPE_EVERY_MS);
      }
    }
  } finally {
    await handle.close();
  }
}

const NO_SUCH_FILE = 'no such file';
const DENIED = 'permission denied; let the user that runs this program read it';

/** The reasons for the error codes of Node.js. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: NO_SUCH_FILE,
  ENOTDIR: NO_SUCH_FILE,
  EISDIR: 'it is a directory',
  EACCES: DENIED,
  EPERM: DENIED,
  EAGAIN: `its data doesn't end within ${PIPE_WAIT_MS / 1_000} s; close the other end of the pipe, or name an ordinary file`,
  ERR_ENCODING_INVALID_ENCODED_DATA: 'not UTF-8 text; save it as UTF-8',
};

/**
 * Reads and parses a configuration file. Also returns the files that it names, which `parse` reads.
 */
export async function loadSettings<Parsed>(
  file: string,
  parse: (
    text: string,
    read: (name: string, kind: FileKind) => Promise<FileResult | undefined>,
  ) => Promise<Parsed>,
  /**
   * `advice` is what to do if the file doesn't exist, as the end of the message. Files of the kind
   * `skipped` aren't read.
   */
  { advice, skipped }: { readonly advice: string; readonly skipped?: FileKind | undefined },
) {
  const text = await readTextFile(file, CONFIGURATION_FILE);
  if (!text.ok) {
    const message = `${text.problem}${text.problem.endsWith(NO_SUCH_FILE) ? `; ${advice}` : ''}`;
    return { issues: [{ file: KNOWN_SECRETS.redact(file), path: '', message }], files: [file] };
  }
  const files = new Set([file]);
  const parsed = await parse(text.content, async (name, kind) => {
    const path = pathFrom(file, name);
    files.add(path);
    return kind === skipped ? undefined : readTextFile(path, kind);
  });
  return { parsed, files: [...files] };
}

/** A file's path in a configuration, relative to the configuration's directory. */
export function pathFrom(file: string, name: string): string {
  // A user that the system doesn't know, such as in a container, may have no home directory.
  // Looking it up would throw.
  return name.startsWith('~/') ? join(homedir(), name.slice(2)) : resolve(dirname(file), name);
}
