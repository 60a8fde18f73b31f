/** One way in which a server may answer: a protocol and a port. */
export interface Attempt {
  readonly protocol: string;
  readonly port: number;
}

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
  /** Ports of the address that belong to other servers: nothing is sent there. */
  readonly takenPorts?: readonly number[];
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

/** Why an attempt failed. The message is in the exporter's own words: nothing that the server sent. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  readonly failure: QueryFailure;

  constructor(failure: QueryFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

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

/** What is read of a server's answer to one attempt. A player list of several hundred names needs a quarter of it. */
export const MAX_ANSWER_BYTES = 64 * 1024;

/** The time for all attempts to query a server. */
export const QUERY_DEADLINE_MS = 5_000;

/** Queries game servers for their number of players. */
export interface QueryClient {
  /** Rejects only if queries are impossible. An abort ends it at once with a meaningless outcome. */
  query(target: QueryTarget, signal: AbortSignal): Promise<QueryOutcome>;
}
