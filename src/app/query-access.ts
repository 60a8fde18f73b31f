import type { Clock } from '../domain/clock.ts';
import { type QueryAccess, QueryScheduler } from '../fleet/query-watch.ts';
import { systemService } from '../names/system.ts';
import type { QueryClient } from '../query/client.ts';

/** What the queries of all panels share. */
export type SharedQueryAccess = Omit<QueryAccess, 'resolve'>;

/** The queries of all panels rotate, and go through one client. */
export function queryAccess(clock: Clock, random: () => number, client: QueryClient): SharedQueryAccess {
  return { scheduler: new QueryScheduler(clock, random), client, findService: systemService };
}
