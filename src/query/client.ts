import { type Clock, SystemClock } from '../domain/clock.ts';

/** What is queried. */
export interface QueryTarget {
  /** One of `QUERY_TYPES`. */
  readonly type: string;
  /** The address, as a literal: whoever asks has resolved and judged it. Nothing is sent anywhere else. */
  readonly ip: string;
  /** The name that led to the address. Minecraft proxies and web servers tell servers apart by it. */
  readonly hostname?: string | undefined;
  readonly port: number;
  /**
   * Somebody gave this as the port that answers queries: only this one is asked. Otherwise it is the port that players connect to, and
   * the ports that follow from it by the game's own rule are asked as well.
   */
  readonly isQueryPort: boolean;
}

/** Why a query failed: the codes of its causes. */
export type QueryFailure =
  /** Nothing came back. */
  | 'query_no_answer'
  /** Nothing listens on the port. */
  | 'query_refused'
  /** What answers doesn't speak the game's protocol, or says nothing that makes sense. */
  | 'query_wrong_protocol'
  /** An answer began, and wasn't complete in time. */
  | 'query_timed_out';

export type QueryOutcome =
  | {
      readonly ok: true;
      readonly players: number;
      /** Undefined where the server names no limit. */
      readonly maxPlayers: number | undefined;
      readonly durationSeconds: number;
    }
  | {
      readonly ok: false;
      readonly failure: QueryFailure;
      /** On one line, in our own words: nothing that the server sent. */
      readonly detail: string;
      readonly durationSeconds: number;
    };

/** No query takes longer, whatever the server does. */
export const QUERY_DEADLINE_MS = 5_000;

/** Asks game servers how many players they have. */
export interface QueryClient {
  /** Never rejects, and ends within `QUERY_DEADLINE_MS`. An abort ends it at once, with an outcome that means nothing. */
  query(target: QueryTarget, signal: AbortSignal): Promise<QueryOutcome>;
}

/** Loads the query protocols, which nothing else does: a program that queries no server does without their code and memory. */
export async function loadQueryClient(clock: Clock = new SystemClock()): Promise<QueryClient> {
  const { GameQueryClient } = await import('./game-query-client.ts');
  return new GameQueryClient(clock);
}
