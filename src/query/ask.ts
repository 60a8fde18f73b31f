import { isIP } from 'node:net';
import { readTransportError } from '../diagnosis/transport.ts';
import type { Clock } from '../domain/clock.ts';
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
import { bounded, untilAborted } from '../domain/until-aborted.ts';
import type { ResolveName } from '../names/name-lookups.ts';
import {
  type Asked,
  inSeconds,
  QUERY_DEADLINE_MS,
  type QueryClient,
  type QueryTarget,
  type Way,
} from './client.ts';
import type { FindService } from './services.ts';
import { serviceOf } from './types.ts';

/** The limit for a query including the name lookup; the client's own deadline is shorter. */
const QUERY_CUT_MS = QUERY_DEADLINE_MS + 500;

/** Which addresses may be queried for a panel's servers. */
export interface QueryPolicy {
  readonly panelUrl: string;
  /** Hosts that may be queried whatever address they resolve to. */
  readonly queryHosts?: readonly string[] | undefined;
}

/** What queries depend on. */
export interface AskOptions {
  readonly clock: Clock;
  readonly client: QueryClient;
  readonly policy: QueryPolicy;
  /** Does a port of the server's address belong to another server? */
  readonly isTaken?: (server: ServerTarget, port: number) => boolean;
  readonly resolve: ResolveName;
  /** Looks up where a service is; undefined if no services are looked up. */
  readonly findService?: FindService;
  /** The earliest way that has led to a response in this run of the server. */
  readonly earliest?: Way | undefined;
}

/** Queries a server's game once for its players; never rejects, and ends in time. After an abort, the result is meaningless. */
export async function askPlayers(
  server: ServerTarget,
  options: AskOptions,
  signal: AbortSignal,
): Promise<Asked> {
  const { clock, client } = options;
  const startedAt = clock.now();
  const failed = (problem: Problem) => ({ problem, durationSeconds: inSeconds(clock.now() - startedAt) });
  const late = () => new Error('the deadline passed');
  return bounded({ clock, signal }, QUERY_CUT_MS, late, async (scope) => {
    try {
      const target = await targetOf(server, options, scope);
      return 'cause' in target ? failed(target) : await untilAborted(client.query(target, scope), scope);
    } catch (error) {
      return failed(
        scope.aborted
          ? { cause: 'query_timed_out', detail: `no response within ${QUERY_DEADLINE_MS / 1_000} s` }
          : { cause: 'unexpected', detail: readTransportError(error).message },
      );
    }
  });
}

/** What to query, or why nothing can be queried. */
async function targetOf(
  server: ServerTarget,
  { policy, resolve, isTaken, findService, earliest }: AskOptions,
  signal: AbortSignal,
): Promise<QueryTarget | Problem> {
  const place = queryPlace(server);
  if ('cause' in place) return place;
  const { host: hostname, isQueryPort } = place;
  const addressesOf = (host: string) =>
    allowedAddresses(host, policy, async (name) =>
      (await resolve(name, signal)).map(({ address }) => address),
    );
  const type = server.query?.type ?? '';
  let { port } = place;
  let addresses = await addressesOf(hostname);
  // As players' clients do it. A name that wasn't resolved in time leaves no time for this.
  const isUnknown = 'cause' in addresses && addresses.cause === 'query_dns' && !signal.aborted;
  const service = isUnknown ? serviceOf(type) : undefined;
  const found = service === undefined ? undefined : await findService?.(`${service}.${hostname}`, signal);
  if (found !== undefined) {
    port = found.port;
    addresses = await addressesOf(found.host);
  }
  if ('cause' in addresses) return addresses;
  const [ip = '', ...otherIps] = addresses;
  return {
    type,
    ip,
    hostname,
    port,
    isQueryPort,
    earliest,
    ...(otherIps.length > 0 && { otherIps }),
    ...(!isQueryPort && { isTaken: (candidate) => isTaken?.(server, candidate) ?? false }),
    // The server list's ports are those of the server list's address.
    ...(found === undefined &&
      !isQueryPort && { namedPort: server.namedPort, otherPorts: server.otherPorts }),
  };
}

/** Where a server is queried. */
interface QueryPlace extends Required<Endpoint> {
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
  if (host !== '' && port !== undefined) return { host, port, isQueryPort: configured?.port !== undefined };
  return { cause: 'query_address_missing', detail: missingWords(configured, listed) };
}

function missingWords(configured: Endpoint | undefined, listed: Endpoint | undefined): string {
  if (configured !== undefined)
    return 'query.address has no port, and the server list has no default allocation';
  if (listed === undefined) return 'the server list has no default allocation';
  return 'the default allocation is 0.0.0.0 or ::, without an alias, and the server list has no address of the node';
}

/** A name may have addresses of both families, of which a game often uses only one. */
const MAX_ADDRESSES = 4;

/**
 * The IP addresses to query for a host, or why there is none. A name is resolved once, and the result is both checked and used, so
 * a later change of the name doesn't matter.
 */
export async function allowedAddresses(
  host: string,
  policy: QueryPolicy,
  resolve: (name: string) => Promise<readonly string[]>,
): Promise<readonly string[] | Problem> {
  const dns = (words: string): Problem => ({ cause: 'query_dns', detail: `"${printable(host)}"${words}` });
  const isNamed = (one: string) =>
    policy.queryHosts?.some((named) => canonicalHost(named) === canonicalHost(one)) === true;
  let addresses: readonly string[] = [host];
  try {
    if (isIP(host) === 0) addresses = await resolve(host);
  } catch (error) {
    const { code } = readTransportError(error);
    // Without a code, waiting for the resolver was given up.
    return dns(`: ${code === 'unknown' ? 'not resolved in time' : code}`);
  }
  if (addresses.length === 0) return dns(' has no address');
  for (const address of isNamed(host) ? [] : addresses) {
    const words = isNamed(address) ? undefined : refusal(address, policy);
    if (words === undefined) continue;
    const shown = address === host ? address : `"${printable(host)}" resolves to ${address}`;
    return { cause: 'query_address_not_allowed', detail: `${shown}: ${words}` };
  }
  return addresses.slice(0, MAX_ADDRESSES);
}

function refusal(address: string, { panelUrl }: QueryPolicy): string | undefined {
  const panelHost = new URL(panelUrl).hostname;
  if (isMetadataAddress(address) && canonicalHost(address) !== canonicalHost(panelHost))
    return 'a cloud metadata address';
  if (isLocalAddress(address) && !isLocalHost(panelHost))
    return 'a loopback or link-local address, but the panel is on another machine';
  return isManyAddress(address) ? 'a multicast or reserved address' : undefined;
}
