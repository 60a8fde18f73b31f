import type { QueryClient, QueryOutcome } from './client.ts';

/** Asks game servers by the protocols of gamedig. */
export class GameQueryClient implements QueryClient {
  query(): Promise<QueryOutcome> {
    return Promise.reject(new Error('no protocols yet'));
  }
}
