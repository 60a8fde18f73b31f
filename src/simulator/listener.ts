// The addresses on which a panel, a node or the control endpoint listens.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AcceptedConnections } from './accepted-connections.ts';

type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/**
 * The address for clients: every address of the machine without `host`, and any free port if `port`
 * is 0.
 */
export interface PortAddress {
  readonly host?: string | undefined;
  readonly port: number;
}

/** PEM certificate and key, with which ports use https and wss. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Whether a port on this host is open at every address of the machine. */
function isEverywhere(host: string | undefined): boolean {
  return host === undefined || host === '0.0.0.0' || host === '::';
}

/** Several addresses that serve the same, and can be closed and opened again. */
export class Listener {
  readonly #addresses: readonly PortAddress[];
  readonly #ports: readonly Port[];
  readonly #isSecure: boolean;

  constructor(addresses: readonly PortAddress[], tls?: TlsFiles) {
    this.#addresses = addresses;
    this.#isSecure = tls !== undefined;
    this.#ports = addresses.map((address) => new Port(address, tls));
  }

  /** Opens the ports. Rejects with Node's own error (`code`, `port`) if one is unavailable. */
  async open(onRequest?: RequestListener, onUpgrade?: UpgradeListener): Promise<void> {
    for (const port of this.#ports) await port.open(onRequest, onUpgrade);
  }

  /** Opens the same ports again. */
  async reopen(): Promise<void> {
    for (const port of this.#ports) await port.reopen();
  }

  /** Releases the ports and destroys every connection. */
  async close(): Promise<void> {
    await Promise.all(this.#ports.map((port) => port.close()));
  }

  /** Whether clients may use more than one address. */
  get hasManyAddresses(): boolean {
    return this.#addresses.length > 1 || isEverywhere(this.#addresses[0]?.host);
  }

  /** `host:port` of its first address, as in a URL. */
  get authority(): string {
    const host = this.#addresses[0]?.host;
    return this.authorityAt(host === undefined || isEverywhere(host) ? 'localhost' : host);
  }

  /** `host:port` for a client that uses this host of the machine. */
  authorityAt(host: string): string {
    return `${isIPv6(host) ? `[${host}]` : host}:${this.#ports[0]?.number ?? 0}`;
  }

  get url(): string {
    return `${this.#isSecure ? 'https' : 'http'}://${this.authority}`;
  }

  /** The base URL of WebSockets at `host:port`; its own by default. */
  socketUrl(authority = this.authority): string {
    return `${this.#isSecure ? 'wss' : 'ws'}://${authority}`;
  }
}

/** One port. It can be closed with all its connections, and reopened with the same number. */
class Port {
  readonly #server: Server;
  readonly #isSecure: boolean;
  readonly #address: PortAddress;
  readonly #connections = new AcceptedConnections();
  #number: number;

  constructor(address: PortAddress, tls: TlsFiles | undefined) {
    this.#address = address;
    this.#number = address.port;
    this.#isSecure = tls !== undefined;
    this.#server = tls === undefined ? createServer() : createTlsServer(tls);
  }

  get number(): number {
    return this.#number;
  }

  async open(onRequest?: RequestListener, onUpgrade?: UpgradeListener): Promise<void> {
    if (onRequest !== undefined) this.#server.on('request', onRequest);
    if (onUpgrade !== undefined) this.#server.on('upgrade', onUpgrade);
    this.#server.on('connection', (socket: Socket) => this.#connections.add(socket));
    if (this.#isSecure)
      this.#server.on('secureConnection', (socket: Socket) => this.#connections.add(socket));
    await this.reopen();
  }

  async reopen(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen({ host: this.#address.host, port: this.#number });
    await once(this.#server, 'listening');
    this.#number = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    await this.#connections.close(this.#server);
  }
}
