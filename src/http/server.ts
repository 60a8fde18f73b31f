import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { CauseCode } from '../domain/problem.ts';
import { Connections } from './connections.ts';
import { Guard, type Routes } from './guard.ts';
import { formatListenAddress, type ListenAddress, ListenError } from './listen-address.ts';
import { BcryptThread, CHECK_LIMIT, Passwords } from './passwords.ts';
import { ClientBuckets } from './request-rates.ts';
import { createSecureServer, type RequestHandler, secureWith } from './secure-server.ts';
import { OPEN, type WebSettingsSource } from './web-settings.ts';

/** Limits on clients: a number of connections, and times in milliseconds. */
export interface HttpServerLimits {
  /**
   * Concurrent connections; above this, the least recently used connection of the client with the most connections and
   * spent password checks is closed.
   */
  readonly connections: number;
  /** How long a client may take to send its headers. */
  readonly headersMs: number;
  /** How long a client may take to send its whole request. */
  readonly requestMs: number;
  /** How often these two are checked. */
  readonly checkMs: number;
  /** A reader that takes nothing for this long is disconnected, and its body is freed. */
  readonly stalledMs: number;
  /** How long an idle connection is kept open. */
  readonly keepAliveMs: number;
}

const LIMITS: HttpServerLimits = {
  // Many times what a few Prometheus servers and people need.
  connections: 256,
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 5_000,
  stalledMs: 30_000,
  // Longer than the usual scrape interval of one minute, so that Prometheus keeps its connection.
  keepAliveMs: 75_000,
};

/** How long requests in flight may take when the server stops. */
const STOP_GRACE_MS = 2_000;

/** The same after authentication settings change: Prometheus' default scrape timeout. */
const CHANGE_GRACE_MS = 10_000;

interface HttpServerOptions {
  /** One address or several. */
  readonly listen: ListenAddress | readonly ListenAddress[];
  readonly routes: Routes;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Overrides of the default limits; all addresses share them. */
  readonly limits?: Partial<HttpServerLimits>;
  /**
   * Authentication and TLS settings; defaults to plain HTTP without authentication. Whether TLS is used is fixed at start.
   */
  readonly settings?: WebSettingsSource | undefined;
}

/** An address that the server listens on. */
export interface Listening {
  readonly address: string;
  readonly port: number;
  /** A URL for a browser on this machine. */
  readonly url: string;
}

/** The first address that the server listens on, and the base URLs of all. */
export interface Started extends Listening {
  readonly urls: readonly string[];
}

/** Serves the routes over HTTP, or over HTTPS if the settings require it. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #limits: HttpServerLimits;
  readonly #settings: WebSettingsSource;
  readonly #connections: Connections;
  readonly #passwords: Passwords;
  readonly #servers: Server[] = [];
  #forgetSettings: () => void = () => undefined;
  readonly #graces = new Set<Cancel>();
  #stopping: Promise<void> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#settings = options.settings ?? OPEN;
    const checks = new ClientBuckets(CHECK_LIMIT, options.clock);
    this.#connections = new Connections(this.#limits.connections, checks);
    this.#passwords = new Passwords(new BcryptThread(), checks);
  }

  /** Listens on every address; throws a ListenError if one is unavailable, and then listens on none. */
  async start(): Promise<Started> {
    const handle = this.#requestHandler();
    const places: Listening[] = [];
    try {
      for (const listen of [this.#options.listen].flat()) places.push(await this.#listen(listen, handle));
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#forgetSettings = this.#settings.onChange(() => this.#apply());
    const [first] = places;
    if (first === undefined) throw new Error('no address to listen on');
    return { ...first, urls: places.map(({ url }) => url) };
  }

  async #listen(listen: ListenAddress, handle: RequestHandler): Promise<Listening> {
    const { logger } = this.#options;
    const server = this.#createServer(handle);
    server.on('connection', (socket) => this.#connections.admit(socket));
    server.listen(listen);
    try {
      await once(server, 'listening');
    } catch (error) {
      throw new ListenError(listen, error as NodeJS.ErrnoException);
    }
    // A failed accept, such as for lack of file descriptors, is no reason to exit.
    server.on('error', (err) => logger.warn({ err, cause: causeOf(err) }, 'accepting a connection failed'));
    this.#servers.push(server);
    return listening(server, listen, this.#settings.current.tls === undefined ? 'http' : 'https');
  }

  #createServer(handle: RequestHandler): Server {
    const { headersMs, requestMs, checkMs, stalledMs, keepAliveMs } = this.#limits;
    const timeouts: ServerOptions = {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout: keepAliveMs,
    };
    const server =
      this.#settings.current.tls === undefined
        ? createServer(timeouts, handle)
        : createSecureServer({
            timeouts,
            handshakeMs: headersMs,
            settings: this.#settings,
            connections: this.#connections,
            logger: this.#options.logger,
            handle,
          });
    server.timeout = stalledMs;
    return server;
  }

  #requestHandler(): RequestHandler {
    const { routes, clock, logger } = this.#options;
    const guard = new Guard(routes, { settings: this.#settings, passwords: this.#passwords, clock, logger });
    const respond = getRequestListener(
      (request, { outgoing }) => guard.fetch(request, { outgoing: outgoing as ServerResponse }),
      {
        hostname: 'localhost', // for requests without a Host header, which HTTP/1.0 allows
        overrideGlobalObjects: false,
      },
    );
    return (request, response) => {
      this.#connections.track(request.socket, response);
      if (hasSeveralHosts(request)) refuse(response);
      else void respond(request, response);
    };
  }

  /** New settings apply to every connection: open ones are closed after their response. */
  #apply(): void {
    const { tls } = this.#settings.current;
    if (tls !== undefined) for (const server of this.#servers) secureWith(server, tls);
    const cut = this.#connections.end();
    const cancel = this.#options.clock.schedule(CHANGE_GRACE_MS, () => {
      this.#graces.delete(cancel);
      cut();
    });
    this.#graces.add(cancel);
  }

  /** Accepts no new connections, lets requests in flight finish, and resolves when every connection is closed. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#forgetSettings();
    for (const cancel of this.#graces) cancel();
    const closed = this.#servers.map(
      (server) =>
        new Promise((resolve) => {
          server.close(resolve);
        }),
    );
    const cut = this.#connections.endAll();
    const cancel = this.#options.clock.schedule(STOP_GRACE_MS, cut);
    await Promise.all(closed);
    cancel();
    await this.#passwords.stop();
  }
}

/** With two Host headers (RFC 9112, 3.2), a proxy may have used the one that Node drops. */
function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length > 1;
}

function refuse(response: ServerResponse): void {
  response.writeHead(400, { 'Content-Type': 'text/plain; charset=UTF-8', Connection: 'close' });
  response.end('Bad request: more than one Host header.\n');
}

function listening(server: Server, listen: ListenAddress, scheme: string): Listening {
  const { address, port } = server.address() as AddressInfo;
  const everywhere = listen.host === undefined || address === '::' || address === '0.0.0.0';
  const host = everywhere ? 'localhost' : address;
  return { address, port, url: `${scheme}://${formatListenAddress({ host, port })}` };
}

/** Why the system failed to open a connection; uses the same codes as problems with panels and nodes. */
function causeOf({ code }: NodeJS.ErrnoException): CauseCode {
  return code === 'EMFILE' || code === 'ENFILE' ? 'descriptors' : 'unexpected';
}
