import type { Problem } from '../domain/problem.ts';
import type { QueryReading } from '../domain/reading.ts';

/** What is queried. */
export interface QueryTarget {
  /** One of `QUERY_TYPES`. */
  readonly type: string;
  /** The address as a literal: the caller has resolved and checked it. Nothing is sent anywhere else. */
  readonly ip: string;
  /** Further addresses of the same name, which are queried if this one doesn't respond. */
  readonly otherIps?: readonly string[];
  /** The name that resolved to the address. Minecraft proxies and web servers distinguish servers by it. */
  readonly hostname?: string | undefined;
  readonly port: number;
  /**
   * The port was given as the one that responds to queries, so only this port is queried. Otherwise it is the port that players
   * connect to, and the ports derived from it by the game's own rule and the server's other ports are queried as well.
   */
  readonly isQueryPort: boolean;
  /** The one of the server's other ports that a variable contains as the query port. */
  readonly namedPort?: number | undefined;
  readonly otherPorts?: readonly number[] | undefined;
  /** Does this port of the address belong to another server? Nothing is sent there. */
  readonly isTaken?: ((port: number) => boolean) | undefined;
}

/** The causes of failed queries, the most informative first. */
export const QUERY_FAILURES = [
  /** A response began but wasn't complete in time. */
  'query_timed_out',
  /** The response isn't in the game's protocol, or makes no sense. */
  'query_wrong_protocol',
  /** Nothing was received: over UDP, something may listen nevertheless. */
  'query_no_answer',
  /** Nothing listens on the port. */
  'query_refused',
] as const;

/** Why a query failed. The detail is on one line, in the exporter's own words: nothing that the server sent. */
export type QueryFailure = Problem & { readonly cause: (typeof QUERY_FAILURES)[number] };

/** What a game responded. */
export type Players = Pick<QueryReading, 'players' | 'bots' | 'playersMax' | 'answeredAt'>;

/** The result of one query. */
export type Asked = Omit<QueryReading, 'staleAt'>;

/** A duration to the microsecond: finer digits are noise. */
export function inSeconds(ms: number): number {
  return Math.round(ms * 1_000) / 1e6;
}

/** The time for all attempts to query a server. */
export const QUERY_DEADLINE_MS = 5_000;

/** Queries game servers for their number of players. */
export interface QueryClient {
  /** Rejects only if queries are impossible. An abort ends it at once with a meaningless result. */
  query(target: QueryTarget, signal: AbortSignal): Promise<Asked>;
  /** Ends its queries, and what it needs for them. */
  stop?(): Promise<void>;
}
