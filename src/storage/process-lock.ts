// A lock that ends with its process, so that only one exporter writes to a folder.

import { createHash } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { relative, resolve } from 'node:path';

/**
 * The maximum length of a socket's path. Longer ones would be truncated without an error: the
 * system's limit is 107 bytes, 103 on macOS.
 */
const MAX_SOCKET_PATH = 103;

/** How often an abandoned socket is replaced before another process is assumed to be faster. */
const ATTEMPTS = 3;

/**
 * Prevents other processes on this machine, in any container, from locking the same path, which is
 * a socket. Processes on other machines with the same network file system don't see it.
 */
export class ProcessLock {
  readonly #path: string;
  #server: Server | undefined;
  #inode: bigint | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Takes the lock, or checks that nobody has replaced the socket. Returns false if another process
   * holds the lock.
   *
   * @throws Error if the file system doesn't support sockets, the path is too long for one, or the
   * socket belongs to another user
   */
  async hold(): Promise<boolean> {
    const address = socketAddress(this.#path);
    if (this.#server !== undefined) {
      if (await this.#isOwn()) return true;
      if (await hasListener(address)) return false;
      await close(this.#server);
      this.#server = undefined;
    }
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      this.#server = await listen(address);
      if (this.#server !== undefined) {
        // Two processes that replace the same abandoned socket at once may both succeed. The next
        // check shows whose socket is left.
        this.#inode = await readInode(this.#path);
        return true;
      }
      if (await hasListener(address)) return false;
      // The socket of a process that was killed.
      await rm(this.#path, { force: true });
    }
    return false;
  }

  /** Releases the lock. Otherwise, it ends with the process. */
  async release(): Promise<void> {
    // This also removes the socket's path.
    if (this.#server !== undefined && (await this.#isOwn())) await close(this.#server);
    this.#server = undefined;
  }

  async #isOwn(): Promise<boolean> {
    return (await readInode(this.#path)) === this.#inode;
  }
}

/** The inode; undefined without a file. A named pipe on Windows has none. */
async function readInode(path: string): Promise<bigint | undefined> {
  return (await stat(path, { bigint: true }).catch(() => undefined))?.ino;
}

function close(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
  });
}

function socketAddress(path: string): string {
  const absolute = resolve(path);
  // A named pipe also ends with its process.
  if (process.platform === 'win32')
    return `\\\\.\\pipe\\gameserver-exporter-${createHash('sha256').update(absolute).digest('hex')}`;
  const near = relative('', absolute);
  const shortest = near.length < absolute.length ? near : absolute;
  if (Buffer.byteLength(shortest) <= MAX_SOCKET_PATH) return shortest;
  throw Object.assign(new Error('path too long for a socket'), { code: 'ENAMETOOLONG' });
}

/** Undefined if the address is in use. */
function listen(address: string): Promise<Server | undefined> {
  return new Promise((done, fail) => {
    // A successful connection shows that the lock is held. Nothing is sent over it.
    const server = createServer((connection) => connection.destroy());
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? done(undefined) : fail(error),
    );
    server.listen(address, () => done(server.unref()));
  });
}

function hasListener(address: string): Promise<boolean> {
  return new Promise((done, fail) => {
    const connection = connect(address);
    connection.once('connect', () => {
      connection.destroy();
      done(true);
    });
    connection.once('error', (error: NodeJS.ErrnoException) => {
      const { code } = error;
      if (code === 'EACCES') fail(error);
      // Any other error, such as too many waiting connections, shows that a process listens.
      else done(code !== 'ECONNREFUSED' && code !== 'ENOENT');
    });
  });
}
