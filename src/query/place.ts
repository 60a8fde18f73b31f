import { isIP } from 'node:net';
import { readTransportError } from '../diagnosis/transport.ts';
import { type Endpoint, parseEndpoint } from '../domain/endpoint.ts';
import { printable } from '../domain/printable.ts';
import type { Problem } from '../domain/problem.ts';
import type { ServerTarget } from '../domain/server.ts';
import {
  canonicalHost,
  isLocalAddress,
  isLocalHost,
  isManyAddress,
  isMetadataAddress,
} from '../domain/special-addresses.ts';

/** Which addresses may be queried for a panel's servers. */
export interface QueryPolicy {
  readonly panelUrl: string;
  /** Hosts that may be queried whatever address they resolve to. */
  readonly queryHosts?: readonly string[] | undefined;
}

/** Where a server is queried. */
export interface QueryPlace extends Required<Endpoint> {
  /** The port was configured as the one that responds to queries; otherwise it is the one that players connect to. */
  readonly isQueryPort: boolean;
}

/** Where a server is queried, from its configuration and its default allocation; or why it can't be. */
export function queryPlace({
  query,
  address,
  allocation = address,
}: Pick<ServerTarget, 'query' | 'address' | 'allocation'>): QueryPlace | Problem {
  const configured = query?.address === undefined ? undefined : parseEndpoint(query.address);
  const listed = allocation === undefined ? undefined : parseEndpoint(allocation);
  const host = configured?.host ?? listed?.host ?? '';
  const port = configured?.port ?? listed?.port;
  if (host !== '' && port !== undefined) {
    return { host, port, isQueryPort: configured?.port !== undefined };
  }
  return { cause: 'query_address_missing', detail: missingWords(configured, listed) };
}

function missingWords(configured: Endpoint | undefined, listed: Endpoint | undefined): string {
  if (configured !== undefined)
    return 'query.address has no port, and the server list has no default allocation';
  if (listed === undefined) return 'the server list has no default allocation';
  return 'the default allocation is 0.0.0.0 or ::, without an alias, and the server list has no address of the node';
}

/** Resolves a name to its IP addresses. */
type Resolve = (name: string) => Promise<readonly string[]>;

/** A name may have addresses of both families, of which a game often uses only one. */
const MAX_ADDRESSES = 4;

/**
 * The IP addresses to query for a host, or why there is none. A name is resolved once, and the result is both checked and used, so
 * a later change of the name doesn't matter.
 */
export async function allowedAddresses(
  host: string,
  policy: QueryPolicy,
  resolve: Resolve,
): Promise<readonly string[] | Problem> {
  const addresses = isIP(host) === 0 ? await resolved(host, resolve) : [host];
  if ('cause' in addresses) return addresses;
  for (const address of isNamed(host, policy) ? [] : addresses) {
    const words = isNamed(address, policy) ? undefined : refusal(address, policy);
    if (words === undefined) continue;
    const shown = address === host ? address : `"${printable(host)}" resolves to ${address}`;
    return { cause: 'query_address_not_allowed', detail: `${shown}: ${words}` };
  }
  return addresses.slice(0, MAX_ADDRESSES);
}

async function resolved(name: string, resolve: Resolve): Promise<readonly string[] | Problem> {
  try {
    const addresses = await resolve(name);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    const { code } = readTransportError(error);
    // Without a code, waiting for the resolver was given up.
    const words = code === 'unknown' ? 'not resolved in time' : code;
    return { cause: 'query_dns', detail: `"${printable(name)}": ${words}` };
  }
  return { cause: 'query_dns', detail: `"${printable(name)}" has no address` };
}

function refusal(address: string, { panelUrl }: QueryPolicy): string | undefined {
  const panelHost = new URL(panelUrl).hostname;
  if (isMetadataAddress(address) && !isSameHost(address, panelHost)) {
    return 'a cloud metadata address';
  }
  if (isLocalAddress(address) && !isLocalHost(panelHost)) {
    return 'a loopback or link-local address, but the panel is on another machine';
  }
  return isManyAddress(address) ? 'a multicast or reserved address' : undefined;
}

function isNamed(host: string, { queryHosts = [] }: QueryPolicy): boolean {
  return queryHosts.some((named) => isSameHost(named, host));
}

function isSameHost(one: string, other: string): boolean {
  return canonicalHost(one) === canonicalHost(other);
}
