// Writes files that only their owner can read, all of them or none.

import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CommandFailure } from './command-failure.ts';
import { isReadableByAll } from './file-modes.ts';

/** A file to write; its path is displayed unchanged. */
interface NewFile {
  readonly path: string;
  readonly text: string;
}

/** Readable only by the owner. */
const PRIVATE = 0o600;

/**
 * Writes files that only their owner can read: all of them, or none if one can't be created.
 * Existing files are replaced only if `replaces` is set. Throws a CommandFailure.
 */
export function writePrivately(files: readonly NewFile[], replaces: boolean): void {
  const drafts = files.map((file) => ({ ...file, draft: `${file.path}.${randomUUID()}.tmp` }));
  const placed: string[] = [];
  try {
    // No other user can ever read it, not even while it is being written.
    for (const { path, draft, text } of drafts)
      attempting(path, () => writeFileSync(draft, text, { flag: 'wx', mode: PRIVATE, flush: true }));
    for (const { path, draft } of drafts) {
      attempting(path, () => {
        if (replaces) renameSync(draft, path);
        // Fails if the file was created meanwhile.
        else copyFileSync(draft, path, constants.COPYFILE_EXCL);
      });
      placed.push(path);
    }
  } catch (error) {
    if (!replaces) for (const path of placed) rmSync(path, { force: true });
    throw error;
  } finally {
    for (const { draft } of drafts) rmSync(draft, { force: true });
  }
}

/** Throws a CommandFailure if the directory of a file doesn't exist. */
export function requireDirectories(paths: readonly string[]): void {
  for (const path of paths) {
    attempting(path, () => {
      if (!statSync(dirname(path)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    });
  }
}

/**
 * Makes an existing file readable only by its owner if all users can read it. Throws a
 * CommandFailure if that fails.
 */
export function makePrivate(path: string): void {
  attempting(path, () => {
    if (isReadableByAll(statSync(path).mode)) chmodSync(path, PRIVATE);
  });
}

function attempting(path: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new CommandFailure(existsMessage([path]), { cause: error });
    throw new CommandFailure(`${path} can't be written: ${REASONS[code] ?? code}`, { cause: error });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such directory',
  ENOTDIR: 'no such directory',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** The message that existing files would have to be overwritten. */
export function existsMessage(paths: readonly string[]): string {
  const what = paths.length === 1 ? 'already exists' : 'already exist';
  const them = paths.length === 1 ? 'it' : 'them';
  return `${paths.join(' and ')} ${what}: add --force to overwrite ${them}, or name other files with --config and --save-key-to`;
}

/** The absolute path without symbolic links, whether or not the file exists. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(resolve(path));
    return folder === resolve(path) ? folder : join(realPath(folder), basename(path));
  }
}
