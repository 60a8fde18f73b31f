// Hosts with ports, as people and panels write them.

import { isIPv6 } from 'node:net';

/** A host, as in a URL but without brackets, and a port if known. */
export interface Endpoint {
  readonly host: string;
  readonly port?: number;
}

export const MAX_PORT = 65_535;

const PARTS = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/;

/**
 * Parses `host`, `host:port` and `:port` (then the host is empty), with IPv6 in brackets; undefined
 * for any other text.
 */
export function parseEndpoint(text: string): Endpoint | undefined {
  const [, host = '', digits] = PARTS.exec(text) ?? [];
  if (digits === undefined) return host === '' ? undefined : { host: unbracketed(host) };
  const port = Number(digits);
  return port >= 1 && port <= MAX_PORT ? { host: unbracketed(host), port } : undefined;
}

/** The endpoint in the form that `parseEndpoint` reads. */
export function formatEndpoint({ host, port }: Endpoint): string {
  const bracketed = host.includes(':') ? `[${host}]` : host;
  return port === undefined ? bracketed : `${bracketed}:${port}`;
}

/** An IPv6 address without the brackets that surround it in a URL; any other host unchanged. */
export function unbracketed(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/** A host in the canonical form that URLs use: `2852039166` is `169.254.169.254`. */
export function canonicalHost(host: string): string {
  const bare = unbracketed(host);
  const url = `http://${isIPv6(bare) ? `[${bare}]` : bare}`;
  return URL.canParse(url) ? unbracketed(new URL(url).hostname) : bare;
}
