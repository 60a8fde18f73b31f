import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { createServer, Server as HttpsServer } from 'node:https';
import { isIPv6, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Logger } from '../domain/log.ts';
import type { Connections } from './connections.ts';
import type { ClientCertificates, TlsSettings, WebSettingsSource } from './web-settings.ts';

/** Handles requests. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

interface SecureServerOptions {
  readonly timeouts: ServerOptions;
  /** How long a client's TLS handshake may take, in milliseconds. */
  readonly handshakeMs: number;
  /** Must include TLS settings; the rules for client certificates are read at every handshake. */
  readonly settings: WebSettingsSource;
  readonly connections: Connections;
  readonly logger: Logger;
  readonly handle: RequestHandler;
}

/** A TLS server that disconnects clients whose certificate the settings don't accept. */
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
      // Decided below, because the rules may change while this server is running.
      rejectUnauthorized: false,
    },
    (request, response) => {
      // A refused client may have sent its first request together with the handshake, and that request is still read.
      if (accepted.has(request.socket)) handle(request, response);
      else request.socket.destroy();
    },
  );
  // Runs before the listener that reads requests, so that no request is read before this is decided.
  server.prependListener('secureConnection', (socket) => {
    const problem = clientProblem(settings, socket);
    if (problem === undefined) {
      accepted.add(socket);
      connections.admit(socket);
      return;
    }
    logger.debug({ client: socket.remoteAddress }, `client rejected: ${problem}`);
    socket.destroy();
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, { remoteAddress: client }) => {
    logger.debug({ client, code: error.code }, 'TLS handshake failed');
  });
  return server;
}

/** Uses other TLS settings for future connections. */
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

/** What a finished handshake reveals about the client. */
interface ClientIdentity {
  readonly certificate: Pick<X509Certificate, 'subjectAltName'> | undefined;
  /** Whether the certificate was signed by an accepted authority. */
  readonly authorized: boolean;
}

/** Why a client is refused; undefined if it is accepted. */
export function certificateProblem(
  { asked, verified, allowedSans }: ClientCertificates,
  { certificate, authorized }: ClientIdentity,
): string | undefined {
  if (asked === 'no') return undefined;
  if (certificate === undefined) {
    // A list of names admits only clients with one of those names, so a certificate is required.
    return asked === 'required' || allowedSans !== undefined ? 'no client certificate' : undefined;
  }
  if (verified && !authorized) return 'client certificate not signed by an accepted CA';
  if (allowedSans === undefined) return undefined;
  const names = alternativeNames(certificate.subjectAltName ?? '');
  return names.some((name) => allowedSans.includes(name))
    ? undefined
    : 'client certificate without an allowed name';
}

const NAME = /(?:^|, )(?<kind>DNS|IP Address|URI|email):(?<name>"(?:[^"\\]|\\.)*"|[^,]*)/gy;
const OTHER = /(?:^|, )[^:,]+:(?:"(?:[^"\\]|\\.)*"|[^,]*)/y;

/**
 * The DNS names, IP and mail addresses and URIs in a subject alternative name as printed by Node. Since CVE-2021-44532,
 * ambiguous names are printed as JSON strings, so a comma in a name doesn't start another one.
 */
export function alternativeNames(printed: string): readonly string[] {
  const names: string[] = [];
  let at = 0;
  while (at < printed.length) {
    NAME.lastIndex = at;
    OTHER.lastIndex = at;
    const known = NAME.exec(printed);
    if (known?.groups !== undefined) {
      const { kind, name = '' } = known.groups;
      const text = unquoted(name);
      if (text !== undefined) names.push(kind === 'IP Address' ? shortAddress(text) : text);
      at = NAME.lastIndex;
    } else if (OTHER.test(printed)) {
      at = OTHER.lastIndex;
    } else {
      return names;
    }
  }
  return names;
}

function unquoted(text: string): string | undefined {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** `0:0:0:0:0:0:0:1` in its usual notation, `::1`. */
function shortAddress(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}
