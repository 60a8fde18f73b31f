// An HTTP server that can be closed with all its connections, and opened again.

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** PEM certificate and key. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

/**
 * The maximum number of connections that wait to be accepted. A whole fleet connects within a
 * second.
 */
const BACKLOG = 4_096;

export class Listener {
  readonly server: Server;
  readonly #isSecure: boolean;
  readonly #connections = new Set<Socket>();
  #port = 0;

  constructor(tls: Tls | undefined, onRequest: RequestListener) {
    this.#isSecure = tls !== undefined;
    this.server = tls === undefined ? createServer(onRequest) : createSecureServer(tls, onRequest);
    this.server.keepAliveTimeout = 0;
    this.server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => this.#connections.delete(socket));
    });
    this.server.on('secureConnection', (socket: Socket) => socket.on('error', () => socket.destroy()));
  }

  /** Listens on the same port as before. */
  async open(): Promise<void> {
    this.server.listen({ port: this.#port, host: '127.0.0.1', backlog: BACKLOG });
    await once(this.server, 'listening');
    this.#port = (this.server.address() as AddressInfo).port;
  }

  /** Closes the port and all connections. */
  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  /** The base URL for this scheme, `http` or `ws`. */
  url(scheme: 'http' | 'ws'): string {
    return `${scheme}${this.#isSecure ? 's' : ''}://127.0.0.1:${this.#port}`;
  }
}
