import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import { formatListenAddress, type ListenAddress, ListenError } from './listen-address.ts';

/** Connections at once: many times what a few Prometheus servers and people need. */
const MAX_CONNECTIONS = 256;

/** How long a client may take over its headers, and over its whole request. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** A reader that takes nothing for this long is dropped, and what it held with it. */
const STALLED_TIMEOUT_MS = 30_000;

/** Longer than the usual scrape interval of a minute, so that Prometheus keeps its connection. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/** How long requests in flight may take to end at a stop. */
const STOP_GRACE_MS = 2_000;

interface HttpServerOptions {
  readonly listen: ListenAddress;
  readonly routes: { fetch(request: Request): Response | Promise<Response> };
  readonly clock: Clock;
  readonly logger: Logger;
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
  #server: Server | undefined;
  /** Every open connection, with the response that is under way on it. */
  readonly #connections = new Map<Socket, ServerResponse | undefined>();
  #stopping: Promise<void> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
  }

  /** Starts to listen; throws a ListenError where that can't be. */
  async start(): Promise<Listening> {
    const { listen, routes, logger } = this.#options;
    const respond = getRequestListener((request) => routes.fetch(request), {
      hostname: 'localhost', // for requests without a Host header, which HTTP/1.0 allows
      overrideGlobalObjects: false,
    });
    const server = createServer(
      {
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      },
      (request, response) => {
        this.#track(request, response);
        void respond(request, response);
      },
    );
    server.maxConnections = MAX_CONNECTIONS;
    server.timeout = STALLED_TIMEOUT_MS;
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
  }

  #track({ socket }: IncomingMessage, response: ServerResponse): void {
    if (this.#stopping !== undefined) response.setHeader('Connection', 'close');
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
