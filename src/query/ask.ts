import { readTransportError } from '../diagnosis/transport.ts';
import type { Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';
import type { ServerTarget } from '../domain/server.ts';
import { bounded, untilAborted } from '../domain/until-aborted.ts';
import type { ResolveName } from '../names/name-lookups.ts';
import { type Asked, inSeconds, QUERY_DEADLINE_MS, type QueryClient, type QueryTarget } from './client.ts';
import { allowedAddresses, type QueryPolicy, queryPlace } from './place.ts';
import type { FindService } from './services.ts';
import { serviceOf } from './types.ts';

/** The limit for a query including the name lookup; the client's own deadline is shorter. */
export const QUERY_CUT_MS = QUERY_DEADLINE_MS + 500;

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
}

/** Queries a server's game once for its players; never rejects, and ends in time. After an abort, the result is meaningless. */
export async function askPlayers(
  target: ServerTarget,
  options: AskOptions,
  signal: AbortSignal,
): Promise<Asked> {
  const { clock } = options;
  const startedAt = clock.now();
  const failed = (problem: Problem): Asked => ({
    problem,
    durationSeconds: inSeconds(clock.now() - startedAt),
  });
  const late = () => new Error('the deadline passed');
  return bounded({ clock, signal }, QUERY_CUT_MS, late, async (scope) => {
    try {
      const queried = await targetOf(target, options, scope);
      if ('cause' in queried) return failed(queried);
      return await untilAborted(options.client.query(queried, scope), scope);
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
  { policy, resolve, isTaken, findService }: AskOptions,
  signal: AbortSignal,
): Promise<QueryTarget | Problem> {
  const place = queryPlace(server);
  if ('cause' in place) return place;
  const addressesOf = (host: string) =>
    allowedAddresses(host, policy, async (name) =>
      (await resolve(name, signal)).map(({ address }) => address),
    );
  const type = server.query?.type ?? '';
  let { host, port } = place;
  let addresses = await addressesOf(host);
  // As players' clients do it. A name that wasn't resolved in time leaves no time for this.
  const isUnknown = 'cause' in addresses && addresses.cause === 'query_dns' && !signal.aborted;
  const service = isUnknown ? serviceOf(type) : undefined;
  const found = service === undefined ? undefined : await findService?.(`${service}.${host}`, signal);
  if (found !== undefined) {
    ({ host, port } = found);
    addresses = await addressesOf(host);
  }
  if ('cause' in addresses) return addresses;
  const [ip = '', ...otherIps] = addresses;
  const { isQueryPort } = place;
  return {
    type,
    ip,
    ...(otherIps.length > 0 && { otherIps }),
    hostname: place.host,
    port,
    isQueryPort,
    ...(!isQueryPort && { isTaken: (candidate) => isTaken?.(server, candidate) ?? false }),
    // The server list's ports are those of the server list's address.
    ...(found === undefined &&
      !isQueryPort && { namedPort: server.namedPort, otherPorts: server.otherPorts }),
  };
}
