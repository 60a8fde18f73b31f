// TLS sessions that nodes granted: resuming one spares the next connection the check of the node's certificate.

import type { TLSSocket } from 'node:tls';

/** More than any panel has. */
const MAX_NODES = 1_000;

/** A session of each node of one panel, for as long as its settings for TLS are the same. */
export class TlsSessions {
  readonly #sessions = new Map<string, Buffer>();

  /** The session to resume, as the option of `tls.connect`; undefined if the node hasn't granted one. */
  of(node: string): Buffer | undefined {
    return this.#sessions.get(node);
  }

  /** Takes note of how the node treats the session on this socket, which was opened with the result of `of`. */
  watch(socket: TLSSocket, node: string): void {
    const session = this.of(node);
    if (session === undefined) {
      socket.on('session', (granted) => this.#keep(node, granted));
      return;
    }
    socket.once('secureConnect', () => {
      // It has expired, or the node lost its key: the next connection keeps another one.
      if (!socket.isSessionReused() && this.of(node) === session) this.#sessions.delete(node);
    });
  }

  #keep(node: string, session: Buffer): void {
    if (this.#sessions.size >= MAX_NODES && !this.#sessions.has(node)) this.#sessions.clear();
    this.#sessions.set(node, session);
  }
}
