import { type Clock, SystemClock } from '../domain/clock.ts';

/** What is queried. */
export interface QueryTarget {
  /** One of `QUERY_TYPES`. */
  readonly type: string;
  /** The address as a literal: the caller has resolved and checked it. Nothing is sent anywhere else. */
  readonly ip: string;
  /** The name that resolved to the address. Minecraft proxies and web servers distinguish servers by it. */
  readonly hostname?: string | undefined;
  readonly port: number;
  /**
   * The port was given as the one that answers queries, so only this port is queried. Otherwise it is the port that players
   * connect to, and the ports derived from it by the game's own rule are queried as well.
   */
  readonly isQueryPort: boolean;
}

/** Why a query failed: the codes of its causes. */
export type QueryFailure =
  /** Nothing was received. */
  | 'query_no_answer'
  /** Nothing listens on the port. */
  | 'query_refused'
  /** The answer isn't in the game's protocol, or makes no sense. */
  | 'query_wrong_protocol'
  /** An answer began but wasn't complete in time. */
  | 'query_timed_out';

export type QueryOutcome =
  | {
      readonly ok: true;
      readonly players: number;
      /** Undefined if the server reports no limit. */
      readonly maxPlayers: number | undefined;
      readonly durationSeconds: number;
    }
  | {
      readonly ok: false;
      readonly failure: QueryFailure;
      /** On one line, in the exporter's own words: nothing that the server sent. */
      readonly detail: string;
      readonly durationSeconds: number;
    };

/** No query takes longer, whatever the server does. */
export const QUERY_DEADLINE_MS = 5_000;

/** Queries game servers for their number of players. */
export interface QueryClient {
  /** Never rejects, and ends within `QUERY_DEADLINE_MS`. An abort ends it at once with a meaningless outcome. */
  query(target: QueryTarget, signal: AbortSignal): Promise<QueryOutcome>;
}

/**
 * Loads the query protocols, which only this function does: a program that queries no server needs neither their code nor their
 * memory.
 */
export async function loadQueryClient(clock: Clock = new SystemClock()): Promise<QueryClient> {
  const { GameQueryClient } = await import('./game-query-client.ts');
  return new GameQueryClient(clock);
}
