import type { Cancel, Clock } from '../domain/clock.ts';

/** Concurrent queries, across all panels. */
export const QUERY_SEATS = 32;

/** Seats for servers that didn't answer their last query: unresponsive servers must never delay the others. */
export const SILENT_SEATS = QUERY_SEATS / 4;

/** A server that doesn't answer is queried less and less often, down to once in this time. */
export const LONGEST_BACKOFF_MS = 5 * 60_000;

/**
 * While others wait for a seat, a query keeps its own for at least this long, and for a multiple of the time that the last answer
 * took.
 */
const SHORTEST_PATIENCE_MS = 1_000;
const PATIENCE_FACTOR = 4;

/** Spreads slots evenly, however many there are: multiples of the golden ratio are never close to each other. */
const SPREAD = 0.618_034;

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

/** A task's stage between its slots. */
type Stage = 'resting' | 'waiting' | 'asking';

/** A task and its scheduling state. */
class Entry {
  readonly task: QueryTask;
  /** Its place in the interval, from 0 to 1. */
  readonly phase: number;
  stage: Stage = 'resting';
  run: number | undefined;
  failures = 0;
  /** The last query had no answer or held others up, so the task shares the seats for silent servers. */
  isSilent = false;
  restsUntil = Number.NEGATIVE_INFINITY;
  askedAt = 0;
  /** How long the last answer took, in milliseconds. */
  tookMs = 0;
  /** Set while the query is under way. */
  controller: AbortController | undefined;
  isOverdue = false;
  cancelSlot: Cancel = () => {};
  cancelPatience: Cancel = () => {};

  constructor(task: QueryTask, phase: number) {
    this.task = task;
    this.phase = phase;
  }

  get patienceMs(): number {
    return Math.max(SHORTEST_PATIENCE_MS, this.tookMs * PATIENCE_FACTOR);
  }
}

/**
 * Gives each task one slot per interval, so that the queries of many servers are spread evenly. A server that doesn't answer is
 * queried less often and waits for one of the few seats for silent servers. While others wait, a query that takes much longer
 * than the server's last answer gives up its seat, even if the server has answered every query so far, and is repeated in one of
 * those seats.
 */
export class QueryScheduler {
  readonly #clock: Pick<Clock, 'now' | 'schedule'>;
  readonly #entries = new Map<QueryTask, Entry>();
  readonly #asking = new Set<Entry>();
  /** In the order in which they became due. */
  readonly #waiting = new Set<Entry>();
  readonly #silentWaiting = new Set<Entry>();
  #added = 0;

  constructor(clock: Pick<Clock, 'now' | 'schedule'>) {
    this.#clock = clock;
  }

  add(task: QueryTask): void {
    if (this.#entries.has(task)) return;
    this.#added += 1;
    const entry = new Entry(task, (this.#added * SPREAD) % 1);
    this.#entries.set(task, entry);
    this.#awaitSlot(entry, this.#clock.now());
  }

  /** Removes the task; a query under way is withdrawn. */
  remove(task: QueryTask): void {
    const entry = this.#entries.get(task);
    if (entry === undefined) return;
    this.#entries.delete(task);
    entry.cancelSlot();
    this.#withdraw(entry);
    this.#fillSeats();
  }

  /** Waits for the task's first slot after a monotonic instant. */
  #awaitSlot(entry: Entry, from: number): void {
    const now = this.#clock.now();
    const { intervalMs } = entry.task;
    const start = entry.phase * intervalMs;
    const at = start + Math.ceil((from - start) / intervalMs) * intervalMs;
    entry.cancelSlot = this.#clock.schedule(at - now, () => {
      // A timer can fire slightly early, and the same slot must not come twice.
      this.#awaitSlot(entry, this.#clock.now() + intervalMs / 2);
      this.#slotCame(entry);
    });
  }

  #slotCame(entry: Entry): void {
    const run = entry.task.run();
    if (run !== entry.run) this.#beginRun(entry, run);
    const isDue = run !== undefined && this.#clock.now() >= entry.restsUntil;
    if (entry.stage !== 'resting' || !isDue) return;
    this.#queue(entry);
    this.#fillSeats();
  }

  #beginRun(entry: Entry, run: number | undefined): void {
    this.#withdraw(entry);
    entry.run = run;
    entry.failures = 0;
    entry.isSilent = false;
    entry.restsUntil = Number.NEGATIVE_INFINITY;
    entry.tookMs = 0;
  }

  #queue(entry: Entry): void {
    entry.stage = 'waiting';
    (entry.isSilent ? this.#silentWaiting : this.#waiting).add(entry);
  }

  #fillSeats(): void {
    for (const entry of this.#waiting) {
      if (this.#asking.size >= QUERY_SEATS && !this.#vacateSeat()) break;
      this.#ask(entry);
    }
    for (const entry of this.#silentWaiting) {
      if (this.#asking.size >= QUERY_SEATS || this.#silentAsking >= SILENT_SEATS) break;
      this.#ask(entry);
    }
  }

  get #silentAsking(): number {
    let count = 0;
    for (const { isSilent } of this.#asking) if (isSilent) count += 1;
    return count;
  }

  /** Frees the seat of an overdue query, if there is one. */
  #vacateSeat(): boolean {
    for (const entry of this.#asking) {
      if (!entry.isOverdue) continue;
      this.#withdraw(entry);
      entry.isSilent = true;
      this.#queue(entry);
      return true;
    }
    return false;
  }

  #withdraw(entry: Entry): void {
    this.#waiting.delete(entry);
    this.#silentWaiting.delete(entry);
    this.#leaveSeat(entry)?.abort(new Error('the query was withdrawn'));
  }

  #leaveSeat(entry: Entry): AbortController | undefined {
    const { controller } = entry;
    entry.stage = 'resting';
    entry.isOverdue = false;
    entry.controller = undefined;
    entry.cancelPatience();
    this.#asking.delete(entry);
    return controller;
  }

  #ask(entry: Entry): void {
    this.#waiting.delete(entry);
    this.#silentWaiting.delete(entry);
    if (entry.task.run() !== entry.run) {
      // The server stopped while it waited; its next slot continues from here.
      entry.stage = 'resting';
      return;
    }
    const controller = new AbortController();
    entry.stage = 'asking';
    entry.controller = controller;
    entry.askedAt = this.#clock.now();
    this.#asking.add(entry);
    if (!entry.isSilent)
      entry.cancelPatience = this.#clock.schedule(entry.patienceMs, () => this.#overdue(entry));
    void this.#hear(entry, controller);
  }

  async #hear(entry: Entry, controller: AbortController): Promise<void> {
    const end = await entry.task.query(controller.signal);
    if (entry.controller === controller) this.#ended(entry, end);
  }

  #overdue(entry: Entry): void {
    entry.isOverdue = true;
    if (this.#waiting.size > 0) this.#fillSeats();
  }

  #ended(entry: Entry, end: QueryEnd): void {
    const now = this.#clock.now();
    this.#leaveSeat(entry);
    entry.isSilent = end === 'failed';
    if (end === 'answered') {
      entry.failures = 0;
      entry.tookMs = now - entry.askedAt;
    } else {
      entry.failures += 1;
      entry.restsUntil = now + restMs(entry.failures, entry.task.intervalMs);
    }
    this.#fillSeats();
  }
}

/**
 * How long, in milliseconds, a server rests after `failures` consecutive queries without an answer; it is then queried at its
 * next slot.
 */
export function restMs(failures: number, intervalMs: number): number {
  const intervals = 2 ** Math.min(failures - 1, 16);
  // Slots come round once per interval, so the rest covers the time up to the last slot before the query.
  return Math.min(intervals * intervalMs, LONGEST_BACKOFF_MS) - intervalMs;
}
