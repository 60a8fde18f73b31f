// The HTTP server, which passes requests of admitted clients to the routes.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { getRequestListener } from '@hono/node-server';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/logger.ts';
import type { CauseCode } from '../domain/problems.ts';
import { ClientConnections } from './connections.ts';
import { guarded, type Routes } from './guarded-routes.ts';
import { formatListenAddress, type ListenAddress, ListenError } from './listen-address.ts';
import { BcryptThread, Passwords } from './passwords.ts';
import { type TlsSettings, UNRESTRICTED, type WebSettingsSource } from './web-settings.ts';

/**
 * Limits for clients; times are in milliseconds. `held-bodies.ts` limits the bytes of responses,
 * `passwords.ts` wrong passwords, and `status-page/data/viewers.ts` streams of the page.
 */
const LIMITS = {
  /** Concurrent connections: many more than a few Prometheus servers and people need. */
  connections: 256,
  /** The time for a client's TLS handshake, and for its headers. */
  headersMs: 10_000,
  /** The time for a client's whole request. */
  requestMs: 30_000,
  /** How often these two are checked. */
  checkMs: 5_000,
  /** A client that reads nothing for this long is disconnected, to free its body. */
  stalledMs: 30_000,
  /**
   * How long an idle connection stays open: longer than the usual scrape interval, so that
   * Prometheus keeps its connection.
   */
  keepAliveMs: 75_000,
};

export type HttpServerLimits = Readonly<typeof LIMITS>;

/** The time for requests in flight when the server stops. */
const STOP_GRACE_MS = 2_000;

/** The same after a change of authentication settings: Prometheus' default scrape timeout. */
const CHANGE_GRACE_MS = 10_000;

interface HttpServerOptions {
  /** One address or several. */
  readonly listen: ListenAddress | readonly ListenAddress[];
  readonly routes: Routes;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Overrides of the default limits, which all addresses share. */
  readonly limits?: Partial<HttpServerLimits>;
  /**
   * Authentication and TLS settings; by default, plain HTTP without authentication. Whether TLS is
   * used can't change after the start.
   */
  readonly settings?: WebSettingsSource | undefined;
}

/** The first address, and the URLs of all addresses, for a browser on this machine. */
interface Listening {
  readonly port: number;
  readonly url: string;
  readonly urls: readonly string[];
}

/** Serves the routes over HTTP, or over HTTPS if the settings require it. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #limits: HttpServerLimits;
  readonly #settings: WebSettingsSource;
  readonly #connections: ClientConnections;
  readonly #bcrypt = new BcryptThread();
  readonly #passwords: Passwords;
  readonly #servers: Server[] = [];
  #forgetSettings: () => void = () => undefined;
  #cancelCut: () => void = () => undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#settings = options.settings ?? UNRESTRICTED;
    this.#connections = new ClientConnections(this.#limits.connections);
    this.#passwords = new Passwords(options.clock, (comparison) => this.#bcrypt.compare(comparison));
  }

  /**
   * Listens on every address. Throws a ListenError if one is unavailable, and then listens on none.
   */
  async start(): Promise<Listening> {
    const handle = this.#requestHandler();
    const started: Omit<Listening, 'urls'>[] = [];
    try {
      for (const listen of [this.#options.listen].flat()) started.push(await this.#listen(listen, handle));
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#forgetSettings = this.#settings.onChange(() => this.#apply());
    const [first] = started;
    if (first === undefined) throw new Error('no address to listen on');
    return { ...first, urls: started.map(({ url }) => url) };
  }

  async #listen(listen: ListenAddress, handle: RequestListener): Promise<Omit<Listening, 'urls'>> {
    const { logger } = this.#options;
    const { tls } = this.#settings.current;
    const { headersMs, requestMs, checkMs, stalledMs, keepAliveMs } = this.#limits;
    const options = {
      headersTimeout: headersMs,
      handshakeTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout: keepAliveMs,
      ...tls?.context,
      requestCert: tls !== undefined && tls.clientCertificate !== 'no',
      // Checked at each request, because the settings may change while the server is running.
      rejectUnauthorized: false,
    };
    const server = tls === undefined ? createServer(options, handle) : createSecureServer(options, handle);
    server.timeout = stalledMs;
    server.on('connection', (socket) => this.#connections.admit(socket));
    server.on('tlsClientError', ({ code }: NodeJS.ErrnoException, { remoteAddress: client }: Socket) =>
      logger.debug({ client, code }, 'TLS handshake failed'),
    );
    server.listen(listen);
    try {
      await once(server, 'listening');
    } catch (error) {
      throw new ListenError(listen, error as NodeJS.ErrnoException);
    }
    // If a connection can't be accepted, such as for lack of file descriptors, the exporter
    // continues.
    server.on('error', (err) =>
      logger.warn({ err, cause: acceptCause(err) }, 'accepting a connection failed'),
    );
    this.#servers.push(server);
    const { address, port } = server.address() as AddressInfo;
    const isEverywhere = listen.host === undefined || address === '::' || address === '0.0.0.0';
    const host = isEverywhere ? 'localhost' : address;
    const scheme = tls === undefined ? 'http' : 'https';
    return { port, url: `${scheme}://${formatListenAddress({ host, port })}` };
  }

  #requestHandler(): RequestListener {
    const { routes, logger } = this.#options;
    const settings = this.#settings;
    const guard = guarded(routes, settings, this.#passwords, logger);
    const respond = getRequestListener(
      async (request, served) => {
        const outgoing = served.outgoing as ServerResponse;
        try {
          return await guard.fetch(request, { outgoing });
        } finally {
          this.#connections.answered(outgoing);
        }
      },
      {
        hostname: 'localhost', // for requests without a Host header, which HTTP/1.0 allows
        overrideGlobalObjects: false,
      },
    );
    return (request, response) => {
      const { socket } = request;
      if (!isAccepted(socket, settings.current.tls)) {
        logger.debug({ client: socket.remoteAddress }, 'client without an accepted certificate rejected');
        cut(socket);
        return;
      }
      const begin = () => {
        // With two Host headers, a proxy may have used the one that Node ignores (RFC 9112, 3.2).
        if ((request.headersDistinct['host']?.length ?? 0) > 1) {
          response.writeHead(400, { 'Content-Type': 'text/plain; charset=UTF-8', Connection: 'close' });
          response.end('Bad request: more than one Host header.\n');
        } else void respond(request, response);
      };
      if (!this.#connections.enqueue(socket, response, begin)) cut(socket);
    };
  }

  /** Applies new settings to every connection: open ones are closed after their response. */
  #apply(): void {
    const { tls } = this.#settings.current;
    for (const server of this.#servers) {
      if (tls !== undefined && server instanceof SecureServer) server.setSecureContext(tls.context);
    }
    this.#endConnections(CHANGE_GRACE_MS);
  }

  #endConnections(graceMs: number): void {
    this.#cancelCut();
    this.#cancelCut = this.#options.clock.schedule(graceMs, this.#connections.end());
  }

  /**
   * Accepts no new connections, and lets requests in flight finish. Resolves when every connection
   * is closed.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#forgetSettings();
    const closed = this.#servers.map((server) => once(server.close(), 'close'));
    this.#endConnections(STOP_GRACE_MS);
    await Promise.all(closed);
    this.#cancelCut();
    await this.#bcrypt.stop();
  }
}

/** A return value that stops Node.js' parser after the headers of a request, as for an upgrade. */
const STOP_PARSING = 2;

/**
 * Disconnects a client and stops parsing its input. Without the latter, Node.js would create
 * objects for thousands of requests received at once; it has no public API for that.
 */
function cut(socket: Socket & { readonly parser?: { onIncoming?: () => number } | null }): void {
  socket.destroy();
  if (socket.parser) socket.parser.onIncoming = () => STOP_PARSING;
}

/** Whether the settings accept the client's certificate, or its lack of one. */
function isAccepted(socket: Socket, tls: TlsSettings | undefined): boolean {
  if (tls === undefined || tls.clientCertificate === 'no') return true;
  if (!(socket instanceof TLSSocket)) return false;
  const hasNone = socket.getPeerX509Certificate() === undefined;
  return hasNone ? tls.clientCertificate === 'optional' : !tls.isVerified || socket.authorized;
}

/**
 * Why a connection couldn't be accepted, as a cause that problems with panels and nodes have, too.
 */
function acceptCause({ code }: NodeJS.ErrnoException): CauseCode {
  return code === 'EMFILE' || code === 'ENFILE' ? 'descriptors' : 'unexpected';
}
