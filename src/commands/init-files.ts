import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { CommandFailure } from './command-line.ts';

/** A file to write; its path is displayed unchanged. */
export interface NewFile {
  readonly path: string;
  readonly text: string;
}

/** Readable only by the owner. */
const PRIVATE = 0o600;

/**
 * Writes files that only their owner can read: all of them, or none if one can't be created. Each appears at its path only when
 * complete, and replaces an existing file only with `replaces`. Throws a CommandFailure.
 */
export function writePrivately(files: readonly NewFile[], replaces: boolean): void {
  const unplaced = new Map<string, NewFile>();
  const placed: NewFile[] = [];
  try {
    for (const file of files) {
      const draft = `${file.path}.${randomUUID()}.tmp`;
      attempting(file, () => writeDraft(draft, file.text, () => unplaced.set(draft, file)));
    }
    for (const [draft, file] of unplaced) {
      attempting(file, () => place(draft, file.path, replaces));
      placed.push(file);
      unplaced.delete(draft);
    }
  } catch (error) {
    for (const draft of unplaced.keys()) rmSync(draft, { force: true });
    if (!replaces) for (const { path } of placed) rmSync(path, { force: true });
    throw error;
  }
}

/** Throws a CommandFailure if the directory of one of the files doesn't exist. */
export function requireDirectories(paths: readonly string[]): void {
  for (const path of paths) {
    attempting({ path }, () => {
      if (!statSync(dirname(path)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    });
  }
}

/** Makes an existing file readable only by its owner if all users can read it; throws a CommandFailure. */
export function makePrivate(path: string): void {
  attempting({ path }, () => {
    if (isReadableByAll(statSync(path).mode)) chmodSync(path, PRIVATE);
  });
}

/** Whether a file of this mode is readable by users other than its owner and its group, such as a service's. */
export function isReadableByAll(mode: number): boolean {
  // On Windows, the mode doesn't tell who may read a file.
  return process.platform !== 'win32' && (mode & constants.S_IROTH) !== 0;
}

function writeDraft(draft: string, text: string, onCreated: () => void): void {
  // No other user can ever read it, not even while it is being written.
  const descriptor = openSync(draft, 'wx', PRIVATE);
  onCreated();
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function place(draft: string, path: string, replaces: boolean): void {
  if (replaces) {
    renameSync(draft, path);
    return;
  }
  // Unlike a rename, a link fails if the file was created meanwhile, as does the copy on file systems without links.
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!WITHOUT_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    copyFileSync(draft, path, constants.COPYFILE_EXCL);
  }
  rmSync(draft);
}

const WITHOUT_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']);

function attempting({ path }: Pick<NewFile, 'path'>, work: () => void): void {
  try {
    work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new CommandFailure(existsWords([path]), { cause: error });
    const reason = code === undefined ? 'unknown error' : (REASONS[code] ?? code);
    throw new CommandFailure(`${path} can't be written: ${reason}`, { cause: error });
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
export function existsWords(paths: readonly string[]): string {
  const what = paths.length === 1 ? 'already exists' : 'already exist';
  const them = paths.length === 1 ? 'it' : 'them';
  return `${paths.join(' and ')} ${what}: add --force to overwrite ${them}, or name other files with --config and --save-key-to`;
}
