import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** One port: it can be closed with all its connections, and opened again where it was. */
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

  /** Takes the port; rejects with Node's own error (`code`, `port`) where it can't be had. */
  async open(onRequest?: RequestListener, onUpgrade?: UpgradeListener): Promise<void> {
    if (onRequest !== undefined) this.#server.on('request', onRequest);
    if (onUpgrade !== undefined) this.#server.on('upgrade', onUpgrade);
    this.#server.on('connection', (socket: Socket) => this.#track(socket));
    if (this.#secure) this.#server.on('secureConnection', (socket: Socket) => this.#track(socket));
    await this.reopen();
  }

  /** Takes the same port again. */
  async reopen(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, this.#host);
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Gives the port back and destroys every connection. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  /** `host:port`, as it stands in a URL. */
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
    // A client may vanish at any moment, a hung upgrade's too; there is nothing to do about it.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#connections.delete(socket));
  }
}
