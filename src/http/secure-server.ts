import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { createServer, Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Logger } from '../domain/log.ts';
import { certificateProblem } from './client-certificate.ts';
import type { Connections } from './connections.ts';
import type { TlsSettings, WebSettingsSource } from './web-settings.ts';

/** What answers a request. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

interface SecureServerOptions {
  readonly timeouts: ServerOptions;
  /** How long a client may take over its handshake, in milliseconds. */
  readonly handshakeMs: number;
  /** With TLS; its rules for clients are read at every handshake. */
  readonly settings: WebSettingsSource;
  readonly connections: Connections;
  readonly logger: Logger;
  readonly handle: RequestHandler;
}

/** A server over TLS that drops clients whose certificate the settings don't accept. */
export function createSecureServer(options: SecureServerOptions): Server {
  const { timeouts, handshakeMs, settings, connections, logger, handle } = options;
  const { tls } = settings.current;
  const accepted = new WeakSet<Socket>();
  const server = createServer(
    {
      ...timeouts,
      ...tls?.context,
      handshakeTimeout: handshakeMs,
      requestCert: tls !== undefined && tls.clients.asked !== 'no',
      // Decided below, since the rules may change while this server lives.
      rejectUnauthorized: false,
    },
    (request, response) => {
      // A refused client's first request may have come with its handshake, and is still read.
      if (accepted.has(request.socket)) handle(request, response);
      else request.socket.destroy();
    },
  );
  // Ahead of the listener that reads requests, so that none is read before this is decided.
  server.prependListener('secureConnection', (socket) => {
    const problem = clientProblem(settings, socket);
    if (problem === undefined) {
      accepted.add(socket);
      connections.admit(socket);
      return;
    }
    logger.debug({ client: socket.remoteAddress }, `refused: ${problem}`);
    socket.destroy();
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, { remoteAddress: client }) => {
    logger.debug({ client, code: error.code }, 'TLS handshake failed');
  });
  return server;
}

/** Uses other TLS settings for the connections to come. */
export function secureWith(server: Server, { context }: TlsSettings): void {
  if (server instanceof HttpsServer) server.setSecureContext(context);
}

function clientProblem({ current }: WebSettingsSource, socket: TLSSocket): string | undefined {
  if (current.tls === undefined) return 'TLS without settings for it';
  const { authorized } = socket;
  return certificateProblem(current.tls.clients, {
    certificate: socket.getPeerX509Certificate(),
    authorized,
  });
}
