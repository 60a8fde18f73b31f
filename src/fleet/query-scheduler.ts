import PQueue from 'p-queue';
import { type Clock, sleep } from '../domain/clock.ts';
import { bounded } from '../domain/until-aborted.ts';

/** Concurrent queries, across all panels. */
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
export type QueryEnd = 'answered' | 'failed';

/** One server that is queried repeatedly. */
export interface QueryTask {
  readonly intervalMs: number;
  /**
   * The run of the server that may be queried now; undefined while it isn't running. A new run starts without the history of the
   * last.
   */
  run(): number | undefined;
  /** Queries the server once. Aborting withdraws the query: its result doesn't count. */
  query(signal: AbortSignal): Promise<QueryEnd>;
}

/** What is known about one run of a server. */
interface History {
  readonly run: number | undefined;
  /** When the run was first seen. */
  readonly since: number;
  /** Consecutive queries without a response. */
  failures: number;
  /** Intervals without a query that are left. */
  rests: number;
  /** How long the last response took, in milliseconds. */
  tookMs: number;
}

/** Queries each server once per interval, beginning at a random point within it, and servers that don't respond less often. */
export class QueryScheduler {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #seats = new PQueue({ concurrency: QUERY_SEATS });
  /** Silent servers wait here before they wait for a seat. */
  readonly #silent = new PQueue({ concurrency: SILENT_SEATS });
  readonly #tasks = new Map<QueryTask, AbortController>();

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  add(task: QueryTask): void {
    if (this.#tasks.has(task)) return;
    const controller = new AbortController();
    this.#tasks.set(task, controller);
    // Ends when the task is removed.
    void this.#repeat(task, controller.signal).catch(() => undefined);
  }

  /** Removes the task; a query under way is withdrawn. */
  remove(task: QueryTask): void {
    this.#tasks.get(task)?.abort(new Error('the query was withdrawn'));
    this.#tasks.delete(task);
  }

  async #repeat(task: QueryTask, signal: AbortSignal): Promise<never> {
    const { intervalMs } = task;
    let history = newHistory(undefined, this.#clock.now());
    let dueAt = this.#clock.now() + this.#random() * intervalMs;
    for (;;) {
      await sleep(this.#clock, dueAt - this.#clock.now(), signal);
      const run = task.run();
      if (run !== history.run) history = newHistory(run, this.#clock.now());
      if (history.rests > 0) history.rests -= 1;
      else if (run !== undefined) await this.#query(task, history, signal);
      // A query that waited for long skips intervals; a timer can fire slightly early.
      const passed = Math.floor((this.#clock.now() - dueAt) / intervalMs);
      dueAt += Math.max(1, passed + 1) * intervalMs;
    }
  }

  /** Queries the server, and once more in a seat for silent servers if the response takes unusually long. */
  async #query(task: QueryTask, history: History, signal: AbortSignal): Promise<void> {
    const patienceMs = Math.max(SHORTEST_PATIENCE_MS, history.tookMs * PATIENCE_FACTOR);
    let end: SeatQueryEnd = 'overdue';
    if (history.failures === 0) end = await this.#inSeat({ task, history, patienceMs, signal });
    if (end === 'overdue')
      end = await this.#silent.add(() => this.#inSeat({ task, history, signal }), { signal });
    if (end === 'answered') history.failures = 0;
    if (end !== 'failed') return;
    history.failures += 1;
    const isLoading = this.#clock.now() - history.since < LOADING_MS;
    const longestMs = isLoading ? LONGEST_LOADING_BACKOFF_MS : LONGEST_BACKOFF_MS;
    history.rests = restsAfter(history.failures, task.intervalMs, longestMs);
  }

  #inSeat(query: SeatQuery): Promise<SeatQueryEnd> {
    return this.#seats.add(() => this.#attempt(query), { signal: query.signal });
  }

  async #attempt({ task, history, patienceMs, signal }: SeatQuery): Promise<SeatQueryEnd> {
    if (task.run() !== history.run) return 'skipped';
    const clock = this.#clock;
    const startedAt = clock.now();
    const query = async (scope: AbortSignal): Promise<SeatQueryEnd> => {
      const end = await task.query(scope);
      if (scope.aborted) return 'overdue';
      if (end === 'answered') history.tookMs = clock.now() - startedAt;
      return end;
    };
    const late = () => new Error('the query takes too long');
    return patienceMs === undefined ? query(signal) : bounded({ clock, signal }, patienceMs, late, query);
  }
}

/** One query of a server, which waits for a seat. */
interface SeatQuery {
  readonly task: QueryTask;
  readonly history: History;
  /** Undefined if the response is awaited as long as the query lasts. */
  readonly patienceMs?: number;
  readonly signal: AbortSignal;
}

/** `skipped` if the server stopped while it waited for a seat. */
type SeatQueryEnd = QueryEnd | 'overdue' | 'skipped';

function newHistory(run: number | undefined, since: number): History {
  return { run, since, failures: 0, rests: 0, tookMs: 0 };
}

/** How many intervals pass without a query after this many consecutive queries without a response. */
export function restsAfter(failures: number, intervalMs: number, longestMs: number): number {
  const most = Math.max(1, Math.floor(longestMs / intervalMs));
  return Math.min(2 ** (failures - 1), most) - 1;
}
