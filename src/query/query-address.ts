// The address at which a server is queried, from its configuration or its default allocation.

import { type Endpoint, parseEndpoint } from '../addresses/hosts.ts';
import type { Problem } from '../domain/problems.ts';
import type { ServerTarget } from '../domain/server.ts';

/** An address at which a server is queried. */
export interface QueryAddress extends Required<Endpoint> {
  /**
   * Whether the port was configured as the query port, which is then the only one queried.
   * Otherwise it is the players' port; ports derived from it with the game's rule, and the server's
   * other ports, are queried as well.
   */
  readonly isQueryPort: boolean;
}

/**
 * The address at which a server is queried, from its configuration and its default allocation, or
 * why there is none.
 */
export function queryAddress({
  query,
  address,
  allocation = address,
}: Pick<ServerTarget, 'query' | 'address' | 'allocation'>): QueryAddress | Problem {
  const configured = query?.address === undefined ? undefined : parseEndpoint(query.address);
  const listed = allocation === undefined ? undefined : parseEndpoint(allocation);
  const host = configured?.host ?? listed?.host ?? '';
  const port = configured?.port ?? listed?.port;
  if (host !== '' && port !== undefined) return { host, port, isQueryPort: configured?.port !== undefined };
  return { cause: 'query_address_missing', detail: missingAddress(configured, listed) };
}

function missingAddress(configured: Endpoint | undefined, listed: Endpoint | undefined): string {
  if (configured !== undefined)
    return 'query.address has no port, and the server list has no default allocation';
  if (listed === undefined) return 'the server list has no default allocation';
  return 'the default allocation is 0.0.0.0 or ::, without an alias, and the server list has no address of the node';
}
