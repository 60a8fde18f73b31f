import { type ClientRequest, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { isIP, isIPv6, type Socket } from 'node:net';
import type { Clock } from '../domain/clock.ts';
import type { NodeLookup } from '../names/system.ts';
import {
  type Proxy,
  ProxyError,
  type ProxyTrust,
  proxyRefused,
  proxyTls,
  proxyUnreachable,
} from './proxy.ts';

/** A proxy's response to CONNECT is a few lines; a longer one is an attack or a fault. */
export const MAX_TUNNEL_ANSWER_BYTES = 16_384;

/** How a tunnel is opened. */
export interface TunnelOptions {
  readonly clock: Clock;
  /** The timeout, counted from the first lookup of the proxy's name. */
  readonly timeoutMs: number;
  /** Aborts when the tunnel is no longer needed. */
  readonly signal: AbortSignal;
  readonly trust?: ProxyTrust | undefined;
  /** Resolves the name of the proxy; `dns.lookup` by default. */
  readonly lookup?: NodeLookup | undefined;
}

/** The far end of a tunnel. */
export interface TunnelTarget {
  readonly host: string;
  readonly port: number;
}

/** Opens a connection to `target` through a proxy, with CONNECT. Rejects with a ProxyError that identifies the proxy. */
export async function openTunnel(
  proxy: Proxy,
  target: TunnelTarget,
  options: TunnelOptions,
): Promise<Socket> {
  const { clock, timeoutMs, signal } = options;
  const address = `${isIPv6(target.host) ? `[${target.host}]` : target.host}:${target.port}`;
  const request = connectRequest(proxy, address, options);
  const abandon = () => request.destroy(new Error('the tunnel is no longer needed'));
  const cancel = clock.schedule(timeoutMs, () =>
    request.destroy(new TunnelError('ETIMEDOUT', 'the tunnel was not opened in time')),
  );
  signal.addEventListener('abort', abandon, { once: true });
  if (signal.aborted) abandon();
  try {
    const { status, socket } = await answerTo(request);
    if (status === 200) return socket;
    socket.destroy();
    throw proxyRefused(proxy, address, status);
  } catch (error) {
    throw error instanceof ProxyError ? error : proxyUnreachable(proxy, error);
  } finally {
    cancel();
    signal.removeEventListener('abort', abandon);
  }
}

/** Why a proxy provided no tunnel, if the exporter itself detects it. */
class TunnelError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

function connectRequest(
  { url, authorization }: Proxy,
  address: string,
  { trust, lookup }: TunnelOptions,
): ClientRequest {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isSecure = url.protocol === 'https:';
  const request = (isSecure ? requestSecure : requestPlain)({
    host,
    port: url.port === '' ? (isSecure ? 443 : 80) : url.port,
    method: 'CONNECT',
    path: address,
    headers: {
      Host: address,
      'Proxy-Connection': 'close',
      ...(authorization !== undefined && { 'Proxy-Authorization': authorization }),
    },
    agent: false,
    maxHeaderSize: MAX_TUNNEL_ANSWER_BYTES,
    // Node would use the far end's name as the proxy's, and TLS allows no IP address as a server name.
    servername: isIP(host) === 0 ? host : '',
    ...proxyTls(trust),
    ...(lookup && { lookup }),
  });
  // Some proxies apply a Connection header to the tunnel.
  request.removeHeader('Connection');
  return request;
}

function answerTo(request: ClientRequest): Promise<{ readonly status: number; readonly socket: Socket }> {
  return new Promise((resolve, reject) => {
    let received = 0;
    // Node's parser counts only what it keeps; a proxy could send what it skips, such as blanks, forever.
    const count = (chunk: Buffer) => {
      received += chunk.length;
      if (received >= MAX_TUNNEL_ANSWER_BYTES)
        request.destroy(new TunnelError('HPE_HEADER_OVERFLOW', 'the response to CONNECT is too long'));
    };
    request.once('socket', (socket) => socket.on('data', count));
    request.once('connect', (answer, socket, head) => {
      socket.off('data', count);
      if (head.length > 0) socket.unshift(head);
      resolve({ status: answer.statusCode ?? 0, socket });
    });
    request.on('error', reject);
    // Closed without a response and without an error.
    request.once('close', () =>
      reject(new TunnelError('ECONNRESET', 'the connection ended before the response')),
    );
    request.end();
  });
}
