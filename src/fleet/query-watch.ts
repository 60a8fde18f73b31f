import PQueue from 'p-queue';
import { withRemedy } from '../diagnosis/causes.ts';
import type { Problem } from '../domain/problems.ts';
import { VALID_INTERVALS } from '../domain/reading.ts';
import type { QuerySettings, ServerTarget } from '../domain/server.ts';
import { type Logger, subjectOf } from '../domain/telemetry.ts';
import type { Clock } from '../domain/time.ts';
import { bounded, sleep } from '../domain/time.ts';
import { type AskOptions, askPlayers, queryPlace } from '../query/ask.ts';
import { QUERY_FAILURES, type Way } from '../query/ways.ts';
import type { ServerRecord } from './server-record.ts';

/** Concurrent queries of a panel. */
export const QUERY_SEATS = 32;

/** Seats for servers that didn't respond to their last query: unresponsive servers must never delay the others. */
export const SILENT_SEATS = QUERY_SEATS / 4;

/** A server that doesn't respond is queried less and less often, down to once in this time. */
export const LONGEST_BACKOFF_MS = 5 * 60_000;

/** A game may load for minutes: at the beginning of a run, it is queried at least once in this time. */
export const LOADING_MS = 20 * 60_000;
const LONGEST_LOADING_BACKOFF_MS = 60_000;

/** A query that takes longer than this, and than a multiple of the last response's time, is repeated in a seat for silent servers. */
const SHORTEST_PATIENCE_MS = 1_000;
const PATIENCE_FACTOR = 4;

/** The outcome of a query for the scheduler. */
type QueryEnd = 'answered' | 'failed';

/** One server that is queried repeatedly. */
export interface QueryTask {
  readonly intervalMs: number;
  /**
   * The run of the server that may be queried now; undefined while it isn't running. A new run starts without the history of the
   * last.
   */
  run(): number | undefined;
  /** Queries the server once. Aborting withdraws the query: its result doesn't count. */
  query(signal: AbortSignal, history: RunHistory): Promise<QueryEnd>;
}

/** What the queries of one run of a server have shown. */
interface RunHistory {
  readonly run: number;
  /** When the run was first seen. */
  readonly since: number;
  /** Consecutive queries without a response. */
  failures: number;
  /** Intervals without a query that are left. */
  rests: number;
  /** How long the last response took, in milliseconds. */
  tookMs: number;
  /** The earliest way that has led to a response. */
  earliest?: Way | undefined;
}

/** Queries each server once per interval, beginning at a random point within it, and servers that don't respond less often. */
export class QueryScheduler {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #seats = new PQueue({ concurrency: QUERY_SEATS });
  /** Silent servers wait here before they wait for a seat. */
  readonly #silent = new PQueue({ concurrency: SILENT_SEATS });

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Queries the server until the signal aborts, which withdraws a query under way; rejects then. */
  async repeat(task: QueryTask, signal: AbortSignal): Promise<never> {
    const { intervalMs } = task;
    let history: RunHistory | undefined;
    let dueAt = this.#clock.now() + this.#random() * intervalMs;
    for (;;) {
      await sleep(this.#clock, dueAt - this.#clock.now(), signal);
      const run = task.run();
      const isNew = run !== undefined && run !== history?.run;
      if (isNew) history = { run, since: this.#clock.now(), failures: 0, rests: 0, tookMs: 0 };
      else if (run === undefined) history = undefined;
      if (history !== undefined && history.rests > 0) history.rests -= 1;
      else if (history !== undefined) await this.#query(task, history, signal);
      // A query that waited for long skips intervals; a timer can fire slightly early.
      const passed = Math.floor((this.#clock.now() - dueAt) / intervalMs);
      dueAt += Math.max(1, passed + 1) * intervalMs;
    }
  }

  /** Queries the server, and once more in a seat for silent servers if the response takes unusually long. */
  async #query(task: QueryTask, history: RunHistory, signal: AbortSignal): Promise<void> {
    const patienceMs = Math.max(SHORTEST_PATIENCE_MS, history.tookMs * PATIENCE_FACTOR);
    const inSeat = (longestMs: number) =>
      this.#seats.add(() => this.#attempt(task, history, longestMs, signal), { signal });
    let end = history.failures === 0 ? await inSeat(patienceMs) : 'overdue';
    if (end === 'overdue') end = await this.#silent.add(() => inSeat(Number.POSITIVE_INFINITY), { signal });
    if (end === 'answered') history.failures = 0;
    if (end !== 'failed') return;
    history.failures += 1;
    const isLoading = this.#clock.now() - history.since < LOADING_MS;
    const longestMs = isLoading ? LONGEST_LOADING_BACKOFF_MS : LONGEST_BACKOFF_MS;
    history.rests = restsAfter(history.failures, task.intervalMs, longestMs);
  }

  /** Queries the server for so long; `skipped` if it stopped while it waited for a seat. */
  async #attempt(
    task: QueryTask,
    history: RunHistory,
    longestMs: number,
    signal: AbortSignal,
  ): Promise<QueryEnd | 'overdue' | 'skipped'> {
    if (task.run() !== history.run) return 'skipped';
    const clock = this.#clock;
    const startedAt = clock.now();
    const late = () => new Error('the query takes too long');
    return bounded({ clock, signal }, longestMs, late, async (scope) => {
      const end = await task.query(scope, history);
      if (scope.aborted) return 'overdue';
      if (end === 'answered') history.tookMs = clock.now() - startedAt;
      return end;
    });
  }
}

/** How many intervals pass without a query after this many consecutive queries without a response. */
export function restsAfter(failures: number, intervalMs: number, longestMs: number): number {
  const most = Math.max(1, Math.floor(longestMs / intervalMs));
  return Math.min(2 ** (failures - 1), most) - 1;
}

/** What a panel's queries need. */
export type QueryAccess = Omit<AskOptions, 'clock' | 'policy' | 'earliest'>;

export interface QueryWatchOptions extends QueryAccess {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly panelUrl: string;
  /** The current servers. */
  readonly records: () => readonly ServerRecord[];
  /** Is the server list, which contains the default allocations, still unread? */
  readonly isListingPending: () => boolean;
}

/** Queries the servers of a panel that should be queried, while they are running, and stores the responses in their records. */
export class QueryWatch {
  readonly #options: QueryWatchOptions;
  readonly #scheduler: QueryScheduler;
  /** The queries of each server, which continue while their settings, as one text, stay the same. */
  readonly #watched = new Map<ServerRecord, { readonly terms: string; readonly scope: AbortController }>();
  /** Servers whose failure was logged and that haven't responded since. */
  readonly #reported = new WeakSet<ServerRecord>();
  /** Servers that have ever responded. */
  readonly #answered = new WeakSet<ServerRecord>();
  #queryHosts: readonly string[] | undefined;

  constructor(options: QueryWatchOptions) {
    this.#options = options;
    this.#scheduler = new QueryScheduler(options.clock, options.random);
  }

  /** Withdraws every query; resolves when the client has ended. */
  async stop(): Promise<void> {
    for (const record of this.#watched.keys()) this.#leave(record);
    await this.#options.client.stop?.();
  }

  /**
   * Updates the tasks to the current servers and their targets; unchanged servers are not touched. `queryHosts` may be queried whatever
   * address they resolve to.
   */
  follow(queryHosts?: readonly string[]): void {
    this.#queryHosts = queryHosts;
    const left = new Set(this.#watched.keys());
    for (const record of this.#options.records()) {
      const { query } = record.target;
      if (query === undefined) continue;
      const terms = termsOf(record.target, queryHosts);
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
      query: (signal, history) => this.#query(record, settings, history, signal),
    };
    const scope = new AbortController();
    this.#watched.set(record, { terms, scope });
    // Ends when the server is no longer queried.
    void this.#scheduler.repeat(task, scope.signal).catch(() => undefined);
  }

  #leave(record: ServerRecord): void {
    const watched = this.#watched.get(record);
    if (watched === undefined) return;
    this.#watched.delete(record);
    record.dropQuery();
    watched.scope.abort(new Error('the query was withdrawn'));
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

  async #query(
    record: ServerRecord,
    { intervalMs, isGuess }: QuerySettings,
    history: RunHistory,
    signal: AbortSignal,
  ): Promise<QueryEnd> {
    const { clock, panelUrl } = this.#options;
    const run = record.starts;
    const policy = { panelUrl, queryHosts: this.#queryHosts };
    const options: AskOptions = { ...this.#options, policy, earliest: history.earliest };
    const { way, query_problem: found, ...asked } = await askPlayers(record.target, options, signal);
    if (signal.aborted) return 'failed';
    if (found === undefined) {
      this.#answered.add(record);
      history.earliest = way;
    }
    const problem = isGuess && !this.#answered.has(record) ? whileGuessed(found) : found;
    // A failure stays valid until the next query, and those come less and less often.
    const lifeMs = problem === undefined ? intervalMs * VALID_INTERVALS : Number.POSITIVE_INFINITY;
    record.queried(run, {
      ...asked,
      query_problem: problem,
      staleAt: clock.now() + lifeMs,
    });
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
    const isQuiet = this.#reported.has(record) || cause === 'query_never_answered';
    const level = isQuiet ? 'debug' : 'warn';
    if (!isQuiet) this.#reported.add(record);
    log[level](fields, `server ${name} is running, but can't be queried: ${withRemedy(problem)}`);
  }
}

/** A guess that has never led to a response says nothing about the game. */
function whileGuessed(problem: Problem | undefined): Problem | undefined {
  const isSilent = QUERY_FAILURES.some((cause) => cause === problem?.cause);
  return problem && isSilent ? { ...problem, cause: 'query_never_answered' } : problem;
}

/** The settings of a server's queries as one text. */
function termsOf(
  { query, address, allocation, namedPort, otherPorts }: ServerTarget,
  queryHosts: readonly string[] | undefined,
): string {
  return JSON.stringify([query, address, allocation, namedPort, otherPorts, queryHosts]);
}
