// TLS sessions of nodes. Resuming one saves the next connection the check of the node's
// certificate.

import type { TLSSocket } from 'node:tls';

/** The maximum number of nodes, which is more than any panel has. */
const MAX_NODES = 1_000;

/**
 * The method behind the option `session` of `tls.connect`, which is missing in Node's types. With
 * the option, a session is decoded twice, which takes longer than the rest of the resumption
 * (bench/connect).
 */
interface Resuming {
  setSession?(session: Buffer): void;
}

/** One session for each node of a panel, as long as the panel's TLS settings are the same. */
export class TlsSessions {
  readonly #sessions = new Map<string, Buffer>();

  /**
   * Resumes the node's session on this socket, before its handshake, or stores the session that the
   * node will grant.
   */
  use(socket: TLSSocket & Resuming, node: string): void {
    const session = this.#sessions.get(node);
    if (session === undefined) {
      socket.on('session', (granted) => this.#keep(node, granted));
      return;
    }
    socket.setSession?.(session);
    socket.once('secureConnect', () => {
      // It has expired, or the node lost its key. The next connection stores another one.
      if (!socket.isSessionReused() && this.#sessions.get(node) === session) this.#sessions.delete(node);
    });
  }

  #keep(node: string, session: Buffer): void {
    if (this.#sessions.size >= MAX_NODES && !this.#sessions.has(node)) this.#sessions.clear();
    this.#sessions.set(node, session);
  }
}
