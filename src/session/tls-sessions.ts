// TLS sessions that nodes granted: resuming one spares the next connection the check of the node's
// certificate.

import type { TLSSocket } from 'node:tls';

/** More nodes than any panel has. */
const MAX_NODES = 1_000;

/**
 * The method behind the option `session` of `tls.connect`, which the types of Node.js lack. With
 * the option, a session is decoded twice, which takes longer than anything else in resuming it
 * (bench/connect).
 */
interface Resuming {
  setSession?(session: Buffer): void;
}

/** A session of each node of one panel, for as long as its settings for TLS are the same. */
export class TlsSessions {
  readonly #sessions = new Map<string, Buffer>();

  /**
   * Resumes the node's session on this socket, whose handshake hasn't begun, or keeps the session
   * that the node will grant.
   */
  use(socket: TLSSocket & Resuming, node: string): void {
    const session = this.#sessions.get(node);
    if (session === undefined) {
      socket.on('session', (granted) => this.#keep(node, granted));
      return;
    }
    socket.setSession?.(session);
    socket.once('secureConnect', () => {
      // It has expired, or the node lost its key: the next connection keeps another one.
      if (!socket.isSessionReused() && this.#sessions.get(node) === session) this.#sessions.delete(node);
    });
  }

  #keep(node: string, session: Buffer): void {
    if (this.#sessions.size >= MAX_NODES && !this.#sessions.has(node)) this.#sessions.clear();
    this.#sessions.set(node, session);
  }
}
