import dns from 'node:dns';
import { untilAborted } from '../domain/until-aborted.ts';

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
