import type { Clock } from '../domain/clock.ts';
import { NameLookups } from '../fleet/name-lookups.ts';
import { QueryScheduler } from '../fleet/query-scheduler.ts';
import type { QueryAccess } from '../fleet/query-watch.ts';
import { loadQueryClient, type QueryClient } from '../query/client.ts';
import { resolveName } from '../query/place.ts';

/**
 * What the queries of all panels share. The protocols are loaded with the first query, so that they cost nothing unless a server
 * is queried.
 */
export function queryAccess(
  clock: Clock,
  load: () => Promise<QueryClient> = () => loadQueryClient(clock),
): QueryAccess {
  let client: Promise<QueryClient> | undefined;
  return {
    scheduler: new QueryScheduler(clock),
    lookups: new NameLookups(resolveName),
    client: () => (client ??= load()),
  };
}
