// The tunnel of a console socket through a proxy to its node.

import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, checkServerIdentity, connect as connectTls } from 'node:tls';
import { proxyFor } from '../panel/proxy.ts';
import { type ProxyOptions, ProxyPool } from '../panel/proxy-pool.ts';

/** Connects to a node through a proxy, with TLS if the address requires it. */
export type OpenTunnel = (node: ConnectionOptions, signal: AbortSignal) => Promise<Duplex>;

/**
 * The tunnel to a socket's node through the proxy for its address; undefined if there is none.
 * Throws if the proxy is invalid.
 */
export function tunnelFor(
  url: string,
  proxyUrl: string | undefined,
  options: ProxyOptions,
): OpenTunnel | undefined {
  const { href, hostname, protocol } = new URL(url.replace(/^ws/i, 'http'));
  const proxy = proxyFor(href, proxyUrl);
  if (proxy === undefined) return undefined;
  return async (node, signal) => {
    const { host = '', port, path: _, ...tls } = node;
    const target = { path: `${hostname}:${port}`, headers: proxy.headers, signal };
    const { socket } = await new ProxyPool(proxy, options).connect(target);
    if (protocol === 'http:') return socket;
    // Otherwise, Node.js would check the certificate of a node with an IP address for the name
    // `localhost`.
    const checkNode: typeof checkServerIdentity = (_name, cert) => checkServerIdentity(host, cert);
    return connectTls({ servername: isIP(host) ? '' : host, ...tls, checkServerIdentity: checkNode, socket });
  };
}
