// Queries the games of a panel's running servers for their players.

import PQueue from 'p-queue';
import type { Clock } from '../domain/clock.ts';
import { INTERNAL_ERRORS } from '../domain/internal-errors.ts';
import type { Logger } from '../domain/logger.ts';
import type { Problem } from '../domain/problems.ts';
import type { QuerySettings } from '../domain/server.ts';
import { VALID_INTERVALS } from '../domain/snapshot.ts';
import { bounded, sleep } from '../domain/waits.ts';
import type { QueryPolicy } from '../query/allowed-addresses.ts';
import { type AskOptions, askPlayers } from '../query/ask-players.ts';
import { queryAddress } from '../query/query-address.ts';
import { QUERY_FAILURES, type Way } from '../query/query-model.ts';
import { QueryLog } from './query-log.ts';
import { patienceMs, QUERY_SEATS, restsAfter, SILENT_SEATS } from './query-pace.ts';
import type { ServerRecord } from './server-record.ts';

/** The outcome of a query. It is skipped if the server stopped before it got a seat. */
type QueryEnd = 'answered' | 'failed' | 'overdue' | 'skipped';

/** The query results of one run of a server. */
interface RunHistory {
  readonly run: number;
  /** When the run was first seen. */
  readonly since: number;
  /** The number of consecutive queries without a response. */
  failures: number;
  /** The remaining number of intervals without a query. */
  rests: number;
  /** The duration of the last response, in milliseconds. */
  tookMs: number;
  /** The first way in the list that has led to a response. */
  earliest?: Way | undefined;
}

/** The dependencies of a panel's queries. */
export type QueryAccess = Omit<AskOptions, 'clock' | 'policy' | 'earliest'> & Pick<QueryPolicy, 'panelUrl'>;

export interface QueryWatchOptions extends QueryAccess {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Is the server list, which contains the default allocations, still unread? */
  readonly isListingPending: () => boolean;
}

/** The part of a record that queries use. */
export type QueriedServer = Pick<ServerRecord, 'target' | 'node' | 'state' | 'runAt' | 'query'>;

/** The queries of a server. They continue as long as their settings, as one text, stay the same. */
interface Queries {
  readonly server: QueriedServer;
  readonly settings: QuerySettings;
  readonly policy: QueryPolicy;
  readonly terms: string;
  readonly scope: AbortController;
}

/**
 * Queries the servers of a panel while they are running or have been starting for long, and stores
 * the responses in their records. Each is queried once per interval, from a random point within it;
 * silent ones less often.
 */
export class QueryWatch {
  readonly #options: QueryWatchOptions;
  readonly #seats = new PQueue({ concurrency: QUERY_SEATS });
  /** The queue in which silent servers wait before they wait for a seat. */
  readonly #silent = new PQueue({ concurrency: SILENT_SEATS });
  readonly #watched = new Map<QueriedServer, Queries>();
  readonly #log: QueryLog;
  /** Servers that have responded at least once. */
  readonly #answered = new WeakSet<QueriedServer>();

  constructor(options: QueryWatchOptions) {
    this.#options = options;
    this.#log = new QueryLog(options.log);
  }

  /** Withdraws all queries. Resolves when the client has ended. */
  async stop(): Promise<void> {
    this.follow([]);
    await this.#options.client.stop?.();
  }

  /**
   * Sets the servers to query. Unchanged ones are not touched. `queryHosts` may be queried at any
   * address.
   */
  follow(servers: readonly QueriedServer[], queryHosts?: readonly string[]): void {
    const left = new Set(this.#watched.keys());
    for (const server of servers) {
      const { query: settings, address, allocation, namedPort, otherPorts } = server.target;
      if (settings === undefined) continue;
      left.delete(server);
      const terms = JSON.stringify([settings, address, allocation, namedPort, otherPorts, queryHosts]);
      if (this.#watched.get(server)?.terms === terms) continue;
      this.#leave(server);
      const policy = { panelUrl: this.#options.panelUrl, queryHosts };
      const queries = { server, settings, policy, terms, scope: new AbortController() };
      this.#watched.set(server, queries);
      // Ends when the server is no longer queried.
      void this.#repeat(queries).catch((error: unknown) => {
        if (!queries.scope.signal.aborted) INTERNAL_ERRORS.report(error);
      });
    }
    for (const server of left) this.#leave(server);
  }

  /** Withdraws a query in progress. */
  #leave(server: QueriedServer): void {
    const watched = this.#watched.get(server);
    if (watched === undefined) return;
    this.#watched.delete(server);
    server.query = undefined;
    watched.scope.abort(new Error('the query was withdrawn'));
  }

  /** Queries the server until its queries are withdrawn, then rejects. */
  async #repeat(queries: Queries): Promise<never> {
    const { clock, random } = this.#options;
    const { server, scope } = queries;
    const { intervalMs } = queries.settings;
    let history: RunHistory | undefined;
    let dueAt = clock.now() + random() * intervalMs;
    for (;;) {
      await sleep(clock, dueAt - clock.now(), scope.signal);
      const run = this.#queriedRun(server);
      if (run === undefined) history = undefined;
      // A new run starts without the history of the previous one.
      else if (run !== history?.run) history = { run, since: clock.now(), failures: 0, rests: 0, tookMs: 0 };
      if (history !== undefined && history.rests > 0) history.rests -= 1;
      else if (history !== undefined) await this.#query(queries, history);
      // A query that waited for long skips intervals. A timer can fire slightly early.
      const passed = Math.floor((clock.now() - dueAt) / intervalMs);
      dueAt += Math.max(1, passed + 1) * intervalMs;
    }
  }

  /** The run that may be queried now; undefined while the server isn't running. */
  #queriedRun(server: QueriedServer): number | undefined {
    const { clock, isListingPending } = this.#options;
    const run = server.runAt(clock.now());
    if (run === undefined) server.query = undefined;
    return 'cause' in queryAddress(server.target) && isListingPending() ? undefined : run;
  }

  /**
   * Queries the server. If the response takes unusually long, queries it again in a seat for silent
   * servers.
   */
  async #query(queries: Queries, history: RunHistory): Promise<void> {
    const { clock } = this.#options;
    const { signal } = queries.scope;
    const late = () => new Error('the query takes too long');
    const attempt = async (longestMs: number): Promise<QueryEnd> => {
      if (this.#queriedRun(queries.server) !== history.run) return 'skipped';
      return bounded({ clock, signal }, longestMs, late, (scope) => this.#ask(queries, history, scope));
    };
    const inSeat = (longestMs: number) => this.#seats.add(() => attempt(longestMs), { signal });
    let end = history.failures === 0 ? await inSeat(patienceMs(history.tookMs)) : 'overdue';
    if (end === 'overdue') end = await this.#silent.add(() => inSeat(Number.POSITIVE_INFINITY), { signal });
    if (end === 'answered') history.failures = 0;
    if (end !== 'failed') return;
    history.failures += 1;
    const { intervalMs } = queries.settings;
    history.rests = restsAfter(history.failures, intervalMs, clock.now() - history.since);
  }

  /** Queries the server once. An abort withdraws the query, and its result is ignored. */
  async #ask(
    { server, settings: { intervalMs, isGuess }, policy }: Queries,
    history: RunHistory,
    scope: AbortSignal,
  ): Promise<QueryEnd> {
    const { clock } = this.#options;
    const startedAt = clock.now();
    const options: AskOptions = { ...this.#options, policy, earliest: history.earliest };
    const { way, query_problem: found, ...asked } = await askPlayers(server.target, options, scope);
    if (scope.aborted) return 'overdue';
    if (found === undefined) {
      this.#answered.add(server);
      history.earliest = way;
      history.tookMs = clock.now() - startedAt;
    }
    // While a server starts, a failure means nothing.
    if (found !== undefined && server.state === 'starting') return 'failed';
    const problem = isGuess && !this.#answered.has(server) ? whileGuessed(found) : found;
    // A failure stays valid until the next query, because the intervals between those grow.
    const lifeMs = problem === undefined ? intervalMs * VALID_INTERVALS : Number.POSITIVE_INFINITY;
    server.query = { ...asked, query_problem: problem, staleAt: clock.now() + lifeMs, run: history.run };
    this.#log.queried(server, problem);
    return problem === undefined ? 'answered' : 'failed';
  }
}

/** While a derived query type has never had a response, its failures don't count as the game's. */
function whileGuessed(problem: Problem | undefined): Problem | undefined {
  const isSilent = QUERY_FAILURES.some((cause) => cause === problem?.cause);
  return problem && isSilent ? { ...problem, cause: 'query_never_answered' } : problem;
}
