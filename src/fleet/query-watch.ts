import { withRemedy } from '../diagnosis/causes.ts';
import type { Clock } from '../domain/clock.ts';
import { type Logger, subjectOf } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { QuerySettings } from '../domain/query.ts';
import { VALID_INTERVALS } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ResolveName } from '../names/name-lookups.ts';
import type { FindService } from '../names/system.ts';
import { type AskOptions, askPlayers, QUERY_CUT_MS } from '../query/ask.ts';
import type { QueryClient } from '../query/client.ts';
import { queryPlace } from '../query/place.ts';
import type { QueryEnd, QueryScheduler, QueryTask } from './query-scheduler.ts';
import type { ServerRecord } from './server-record.ts';

/** What queries need: all but the resolver is shared by all panels. */
export interface QueryAccess {
  readonly scheduler: QueryScheduler;
  readonly resolve: ResolveName;
  readonly findService?: FindService;
  readonly client: QueryClient;
}

export interface QueryWatchOptions extends QueryAccess {
  readonly clock: Clock;
  readonly log: Logger;
  readonly panelUrl: string;
  /** The current servers. */
  readonly records: () => readonly ServerRecord[];
  /** Does a port of the server's address belong to another server, according to the server list? */
  readonly isTaken: (server: ServerTarget, port: number) => boolean;
  /** Is the server list, which contains the default allocations, still unread? */
  readonly isListingPending: () => boolean;
}

/** A server that is queried. */
interface Watched {
  /** The settings of the queries as one text: the task is kept while it stays the same. */
  readonly terms: string;
  readonly task: QueryTask;
}

/** Queries the servers of a panel that should be queried, while they are running, and stores the responses in their records. */
export class QueryWatch {
  readonly #options: QueryWatchOptions;
  readonly #watched = new Map<ServerRecord, Watched>();
  /** Servers whose failure was logged and that haven't responded since. */
  readonly #reported = new WeakSet<ServerRecord>();
  #queryHosts: readonly string[] | undefined;
  #isRunning = false;

  constructor(options: QueryWatchOptions) {
    this.#options = options;
  }

  /** Sets the hosts that may be queried whatever address they resolve to; takes effect with `follow`. */
  configure(queryHosts: readonly string[] | undefined): void {
    this.#queryHosts = queryHosts;
  }

  start(): void {
    this.#isRunning = true;
    this.follow();
  }

  /** Withdraws every query. */
  stop(): void {
    this.#isRunning = false;
    for (const record of this.#watched.keys()) this.#leave(record);
  }

  /** Updates the tasks to the current servers and their targets; unchanged servers are not touched. */
  follow(): void {
    if (!this.#isRunning) return;
    const left = new Set(this.#watched.keys());
    for (const record of this.#options.records()) {
      const { query } = record.target;
      if (query === undefined) continue;
      const terms = termsOf(record.target, this.#queryHosts);
      left.delete(record);
      if (this.#watched.get(record)?.terms !== terms) this.#watch(record, query, terms);
    }
    for (const record of left) this.#leave(record);
  }

  #watch(record: ServerRecord, settings: QuerySettings, terms: string): void {
    this.#leave(record);
    const task: QueryTask = {
      intervalMs: settings.intervalMs,
      run: () => this.#runOf(record),
      query: (signal) => this.#query(record, settings, signal),
    };
    this.#watched.set(record, { terms, task });
    this.#options.scheduler.add(task);
  }

  #leave(record: ServerRecord): void {
    const watched = this.#watched.get(record);
    if (watched === undefined) return;
    this.#watched.delete(record);
    record.dropQuery();
    this.#options.scheduler.remove(watched.task);
  }

  #runOf(record: ServerRecord): number | undefined {
    const { clock, isListingPending } = this.#options;
    const run = record.runAt(clock.now());
    if (run === undefined) {
      record.dropQuery();
      return undefined;
    }
    return 'cause' in queryPlace(record.target) && isListingPending() ? undefined : run;
  }

  async #query(record: ServerRecord, { intervalMs }: QuerySettings, signal: AbortSignal): Promise<QueryEnd> {
    const { clock, client, resolve, findService, panelUrl, isTaken } = this.#options;
    const run = record.starts;
    const options: AskOptions = {
      clock,
      client,
      policy: { panelUrl, queryHosts: this.#queryHosts },
      isTaken,
      resolve,
      ...(findService !== undefined && { findService }),
    };
    const asked = await askPlayers(record.target, options, signal);
    if (signal.aborted) return 'failed';
    const { problem } = asked;
    // A failure stays valid until the next query, and those come less and less often.
    const lifeMs =
      problem === undefined ? intervalMs * VALID_INTERVALS + QUERY_CUT_MS : Number.POSITIVE_INFINITY;
    record.queried(run, { ...asked, staleAt: clock.now() + lifeMs });
    this.#report(record, problem);
    return problem === undefined ? 'answered' : 'failed';
  }

  /** Logs the first failure, and the first response after it. */
  #report(record: ServerRecord, problem: Problem | undefined): void {
    const { log } = this.#options;
    const { name } = record.target;
    const subject = subjectOf(record.target, record.node);
    if (problem === undefined) {
      if (!this.#reported.delete(record)) return;
      log.info({ ...subject, event: 'query_answered' }, `server ${name} responds to queries again`);
      return;
    }
    const { cause, detail } = problem;
    const fields = { ...subject, event: 'query_failed', cause, detail };
    const level = this.#reported.has(record) ? 'debug' : 'warn';
    this.#reported.add(record);
    log[level](fields, `server ${name} is running, but can't be queried: ${withRemedy(problem)}`);
  }
}

/** The settings of a server's queries as one text. */
function termsOf(
  { query, address, allocation, namedPort, otherPorts }: ServerTarget,
  queryHosts: readonly string[] | undefined,
): string {
  return JSON.stringify([query, address, allocation, namedPort, otherPorts, queryHosts]);
}
