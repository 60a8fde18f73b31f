import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { callbackify } from 'node:util';
import { OWN_CODES } from '../diagnosis/transport.ts';
import type { Clock } from '../domain/clock.ts';
import { untilAborted } from '../domain/until-aborted.ts';
import { type Addresses, type LookUp, NameLookups, type ResolveName } from './name-lookups.ts';

/** Uses the system's resolver, and keeps its order. Like Node's own connections, it asks only for usable address families. */
export const systemLookUp: LookUp = (name) =>
  new Promise((resolve, reject) => {
    dns.lookup(name, { all: true, hints: dns.ADDRCONFIG }, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(error);
    });
  });

/** Where a service is, by its SRV record; undefined if there is none. Rejects only with the signal's reason. */
export type FindService = (
  name: string,
  signal: AbortSignal,
) => Promise<{ readonly host: string; readonly port: number } | undefined>;

/** The name servers are asked directly, so this uses none of the threads for lookups. */
const SERVICE_RESOLVER = new dns.promises.Resolver({ timeout: 2_000, tries: 1 });

export const systemService = serviceFinder(SERVICE_RESOLVER);

/** Looks up services with this resolver. */
export function serviceFinder(resolver: Pick<dns.promises.Resolver, 'resolveSrv'>): FindService {
  return async (name, signal) => {
    const records = await untilAborted(
      resolver.resolveSrv(name).catch(() => []),
      signal,
    );
    const [first] = records.toSorted((a, b) => a.priority - b.priority);
    return first && { host: first.name, port: first.port };
  };
}

/** The size of libuv's thread pool unless `UV_THREADPOOL_SIZE` is set, and its limits. */
const DEFAULT_POOL = 4;
const LARGEST_POOL = 1_024;

/** How many lookups the system can run at once: libuv uses half of its threads for them. */
export function lookupThreads({ UV_THREADPOOL_SIZE: given }: NodeJS.ProcessEnv): number {
  const size = given === undefined ? DEFAULT_POOL : Number.parseInt(given, 10) || 1;
  return Math.ceil(Math.min(Math.max(size, 1), LARGEST_POOL) / 2);
}

/** The lookups of this process. */
export function systemNames(clock: Clock, lookUp: LookUp = systemLookUp): NameLookups {
  return new NameLookups({ lookUp, clock, threads: lookupThreads(process.env) });
}

/** A name that wasn't resolved in time. */
class LookupTimeout extends Error {
  readonly code = OWN_CODES.lookupTimeout;
  readonly hostname: string;

  constructor(hostname: string) {
    super(`"${hostname}" was not resolved in time`);
    this.hostname = hostname;
  }
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** The form of `dns.lookup`, as connections take it. */
export type NodeLookup = (hostname: string, options: LookupOptions, callback: LookupCallback) => void;

/**
 * Resolves names for connections. The timeout must be shorter than the connection's, so that the name is identified as the
 * cause.
 */
export function nodeLookup(
  resolve: ResolveName,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): NodeLookup {
  const find = callbackify((hostname: string): Promise<Addresses> => {
    const scope = new AbortController();
    const cancel = clock.schedule(timeoutMs, () => scope.abort(new LookupTimeout(hostname)));
    return resolve(hostname, scope.signal).finally(cancel);
  });
  return (hostname, options, callback) =>
    find(hostname, (error: Error | null, addresses) => {
      const [first] = error === null ? addresses : [];
      if (error !== null || first === undefined) callback(error, []);
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
}
