// The accepted connections of a port, which end when the port is closed.

import { once } from 'node:events';
import type { Server, Socket } from 'node:net';

/** The connections of a listening server. */
export class AcceptedConnections {
  readonly #open = new Set<Socket>();

  /**
   * Ignores the client's errors, because it may disconnect at any moment, even during a stalled
   * upgrade.
   */
  add(socket: Socket): void {
    this.#open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#open.delete(socket));
  }

  /** Closes the server's port and destroys every connection. Resolves when both are closed. */
  async close(server: Server): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#open) socket.destroy();
    await closed;
  }
}
