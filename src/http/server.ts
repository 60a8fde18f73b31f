import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import { formatListenAddress, type ListenAddress, ListenError } from './listen-address.ts';

/** What clients may take of the server: connections, and milliseconds. */
export interface HttpServerLimits {
  /** Connections at once; beyond them the one that has asked for nothing for longest makes room. */
  readonly connections: number;
  /** How long a client may take over its headers. */
  readonly headersMs: number;
  /** How long a client may take over its whole request. */
  readonly requestMs: number;
  /** How often these two are looked at. */
  readonly checkMs: number;
  /** A reader that takes nothing for this long is dropped, and what it held with it. */
  readonly stalledMs: number;
  /** How long a connection is kept between two requests. */
  readonly keepAliveMs: number;
}

const LIMITS: HttpServerLimits = {
  // Many times what a few Prometheus servers and people need.
  connections: 256,
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 5_000,
  stalledMs: 30_000,
  // Longer than the usual scrape interval of a minute, so that Prometheus keeps its connection.
  keepAliveMs: 75_000,
};

/** How long requests in flight may take to end at a stop. */
const STOP_GRACE_MS = 2_000;

interface HttpServerOptions {
  readonly listen: ListenAddress;
  readonly routes: Routes;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Other limits than the usual ones. */
  readonly limits?: Partial<HttpServerLimits>;
}

interface Routes {
  fetch(request: Request, served: Pick<HttpBindings, 'outgoing'>): Response | Promise<Response>;
}

/** Where a server listens. */
export interface Listening {
  readonly address: string;
  readonly port: number;
  /** An address for a browser on this machine. */
  readonly url: string;
}

/** Serves the routes over HTTP. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #limits: HttpServerLimits;
  #server: Server | undefined;
  /** Every open connection with the response under way on it; those that asked for nothing for longest come first. */
  readonly #connections = new Map<Socket, ServerResponse | undefined>();
  #stopping: Promise<void> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  /** Starts to listen; throws a ListenError where that can't be. */
  async start(): Promise<Listening> {
    const { listen, logger } = this.#options;
    const server = this.#createServer();
    server.on('connection', (socket) => this.#admit(socket));
    server.listen(listen);
    try {
      await once(server, 'listening');
    } catch (error) {
      throw new ListenError(listen, error as NodeJS.ErrnoException);
    }
    // An accept that fails, as for want of file descriptors, is no reason to end.
    server.on('error', (err) => logger.warn({ err }, 'a connection could not be accepted'));
    this.#server = server;
    return listening(server, listen);
  }

  #createServer(): Server {
    const { routes } = this.#options;
    const { headersMs, requestMs, checkMs, stalledMs, keepAliveMs } = this.#limits;
    const respond = getRequestListener(
      (request, { outgoing }) => routes.fetch(request, { outgoing: outgoing as ServerResponse }),
      {
        hostname: 'localhost', // for requests without a Host header, which HTTP/1.0 allows
        overrideGlobalObjects: false,
      },
    );
    const server = createServer(
      {
        headersTimeout: headersMs,
        requestTimeout: requestMs,
        connectionsCheckingInterval: checkMs,
        keepAliveTimeout: keepAliveMs,
      },
      (request, response) => {
        this.#track(request, response);
        void respond(request, response);
      },
    );
    server.timeout = stalledMs;
    return server;
  }

  /** Takes no new connections, lets requests in flight end, and resolves when every connection is closed. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const closed = new Promise((resolve) => {
      server.close(resolve);
    });
    for (const [socket, response] of this.#connections) {
      if (response === undefined) socket.destroy();
      else if (!response.headersSent) response.setHeader('Connection', 'close');
    }
    const cancel = this.#options.clock.schedule(STOP_GRACE_MS, () => {
      for (const socket of this.#connections.keys()) socket.destroy();
    });
    await closed;
    cancel();
  }

  #admit(socket: Socket): void {
    this.#connections.set(socket, undefined);
    socket.once('close', () => this.#connections.delete(socket));
    if (this.#connections.size > this.#limits.connections) this.#dropOldest();
  }

  // Turning the new one away instead would let idle or half-open connections keep every scraper out.
  #dropOldest(): void {
    const [oldest] = this.#connections.keys();
    if (oldest === undefined) return;
    this.#connections.delete(oldest);
    oldest.destroy();
  }

  #track({ socket }: IncomingMessage, response: ServerResponse): void {
    if (this.#stopping !== undefined) response.setHeader('Connection', 'close');
    // Taken out first, so that it goes to the end.
    this.#connections.delete(socket);
    this.#connections.set(socket, response);
    response.once('close', () => {
      if (this.#connections.get(socket) !== response) return;
      this.#connections.set(socket, undefined);
      if (this.#stopping !== undefined) socket.destroySoon();
    });
  }
}

function listening(server: Server, listen: ListenAddress): Listening {
  const { address, port } = server.address() as AddressInfo;
  const everywhere = listen.host === undefined || address === '::' || address === '0.0.0.0';
  const host = everywhere ? 'localhost' : address;
  return { address, port, url: `http://${formatListenAddress({ host, port })}` };
}
