import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** One port: it can be closed with all its connections, and reopened at the same number. */
export class Listener {
  readonly #server: Server;
  readonly #secure: boolean;
  readonly #host: string;
  readonly #connections = new Set<Socket>();
  #port: number;

  constructor(
    place: { readonly host: string; readonly port: number },
    tls?: { readonly cert: string; readonly key: string },
  ) {
    this.#host = place.host;
    this.#port = place.port;
    this.#secure = tls !== undefined;
    this.#server = tls === undefined ? createServer() : createTlsServer(tls);
  }

  /** Opens the port; rejects with Node's own error (`code`, `port`) if it is unavailable. */
  async open(onRequest?: RequestListener, onUpgrade?: UpgradeListener): Promise<void> {
    if (onRequest !== undefined) this.#server.on('request', onRequest);
    if (onUpgrade !== undefined) this.#server.on('upgrade', onUpgrade);
    this.#server.on('connection', (socket: Socket) => this.#track(socket));
    if (this.#secure) this.#server.on('secureConnection', (socket: Socket) => this.#track(socket));
    await this.reopen();
  }

  /** Opens the same port again. */
  async reopen(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, this.#host);
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Releases the port and destroys every connection. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  /** `host:port`, as in a URL. */
  get authority(): string {
    return `${this.#host.includes(':') ? `[${this.#host}]` : this.#host}:${this.#port}`;
  }

  get url(): string {
    return `${this.#secure ? 'https' : 'http'}://${this.authority}`;
  }

  get socketUrl(): string {
    return `${this.#secure ? 'wss' : 'ws'}://${this.authority}`;
  }

  #track(socket: Socket): void {
    this.#connections.add(socket);
    // A client may disconnect at any moment, even during a stalled upgrade; there is nothing to handle.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#connections.delete(socket));
  }
}
