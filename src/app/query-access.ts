import type { Clock } from '../domain/clock.ts';
import { QueryScheduler } from '../fleet/query-scheduler.ts';
import type { QueryAccess } from '../fleet/query-watch.ts';
import { loadQueryClient, type QueryClient } from '../query/client.ts';

/** What the queries of all panels share. */
export type SharedQueryAccess = Omit<QueryAccess, 'resolve'>;

/** The protocols are loaded with the first query, so that they cost nothing unless a server is queried. */
export function queryAccess(
  clock: Clock,
  load: () => Promise<QueryClient> = () => loadQueryClient(clock),
): SharedQueryAccess {
  let client: Promise<QueryClient> | undefined;
  return {
    scheduler: new QueryScheduler(clock),
    client: () => (client ??= load()),
  };
}
