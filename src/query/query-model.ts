// A query as data: its question, its answer, its failures and its deadline.

import type { CauseCode } from '../domain/problems.ts';
import type { QueryReading } from '../domain/snapshot.ts';

/** One way in which a server may respond: a protocol and a place. */
export interface Way {
  readonly protocol: string;
  /** The address as a literal. Nothing is sent anywhere else. */
  readonly ip: string;
  readonly port: number;
  /** The port of the query interface, if it has one of its own, and otherwise the same. */
  readonly queryPort: number;
  /**
   * The name that resolved to the address: Minecraft proxies and web servers distinguish servers by
   * it.
   */
  readonly hostname: string;
}

/**
 * What is asked of a server: the ways in their order, and how long each may take before the next
 * one is tried as well.
 */
export interface Question {
  readonly ways: readonly Way[];
  readonly headStartMs: number;
}

/** The result of one query; the way is that of a response. */
export type Answer = Omit<QueryReading, 'query_duration_seconds' | 'staleAt'> & { readonly way?: Way };

/** The time for all attempts to query a server. */
export const DEADLINE_MS = 5_000;

/** The causes of failed queries, the most informative first. */
export const QUERY_FAILURES = [
  'query_timed_out',
  'query_wrong_protocol',
  'query_no_answer',
  'query_refused',
] as const satisfies readonly CauseCode[];

/** Why a query failed. The message contains nothing that the server sent. */
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
