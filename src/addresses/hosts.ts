// Hosts with ports, as people and panels write them.

import { isIP, isIPv6 } from 'node:net';

/** A host, as in a URL but without brackets, and a port if known. */
export interface Endpoint {
  readonly host: string;
  readonly port?: number;
}

export const MAX_PORT = 65_535;

/** The longest name in the DNS. */
const MAX_HOST = 253;

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const HOST_NAME = new RegExp(String.raw`^(?:${LABEL}\.)*${LABEL}$`, 'i');

/** A name whose last label is a number: resolvers read it as an IPv4 address in an old notation. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i;

const PARTS = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/;

/**
 * Parses `host`, `host:port` and `:port` (with an empty host), with IPv6 in brackets; undefined for
 * any other text.
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

/**
 * Is the value a host name, or an IP address without brackets and without a zone, which is
 * meaningful only on one machine?
 */
export function isHost(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_HOST) return false;
  if (isIP(value) !== 0) return !value.includes('%');
  return HOST_NAME.test(value) && !ENDS_IN_NUMBER.test(value);
}

/** Is the value the number of a port? */
export function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_PORT;
}
