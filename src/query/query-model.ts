// A query as data: question, answer, failures and deadline.

import type { CauseCode } from '../domain/problems.ts';
import type { QueryReading } from '../domain/snapshot.ts';

/** One way to query a server: a protocol and an address. */
export interface Way {
  readonly protocol: string;
  /** A literal IP address. Nothing is sent anywhere else. */
  readonly ip: string;
  readonly port: number;
  /** The port of the query interface, or the same port if there is no separate one. */
  readonly queryPort: number;
  /**
   * The name that resolved to the address. Minecraft proxies and web servers distinguish servers by
   * it.
   */
  readonly hostname: string;
}

/**
 * A question to a server: the ways in order, and how long each may take before the next one is also
 * tried.
 */
export interface Question {
  readonly ways: readonly Way[];
  readonly headStartMs: number;
}

/** The result of one query. A response includes its way. */
export type Answer = Omit<QueryReading, 'query_duration_seconds' | 'staleAt'> & { readonly way?: Way };

/** The total time for querying a server. */
export const DEADLINE_MS = 5_000;

/** The causes of failed queries, most informative first. */
export const QUERY_FAILURES = [
  'query_timed_out',
  'query_wrong_protocol',
  'query_no_answer',
  'query_refused',
] as const satisfies readonly CauseCode[];

/** The reason of a failed query. The message contains nothing from the server. */
export class QueryError extends Error {
  readonly failure: (typeof QUERY_FAILURES)[number];

  constructor(
    message = "the response can't be read",
    failure: QueryError['failure'] = 'query_wrong_protocol',
  ) {
    super(message);
    this.failure = failure;
  }
}
