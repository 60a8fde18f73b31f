// The connections of a server under test.
import { once } from 'node:events';
import type { Server, Socket } from 'node:net';

/** Tracks connections, so that the server can be closed at any time. */
export class OpenSockets {
  readonly #open = new Set<Socket>();

  #total = 0;

  /** The number of connections so far. */
  get total(): number {
    return this.#total;
  }

  /** The number of open connections. */
  get size(): number {
    return this.#open.size;
  }

  keep(socket: Socket): void {
    if (!this.#open.has(socket)) this.#total += 1;
    this.#open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#open.delete(socket));
  }

  /** Forwards bytes in both directions until one side closes. */
  join(one: Socket, other: Socket): void {
    for (const socket of [one, other]) this.keep(socket);
    one.once('close', () => other.destroy());
    other.once('close', () => one.destroy());
    one.pipe(other).pipe(one);
  }

  async close(server: Server): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#open) socket.destroy();
    await closed;
  }
}
