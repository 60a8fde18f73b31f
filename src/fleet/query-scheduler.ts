import type { Cancel, Clock } from '../domain/clock.ts';

/** Queries at once, of all panels together. */
export const QUERY_SEATS = 32;

/** Of those, so many for servers that didn't answer last: dead ones must never delay the others. */
export const SILENT_SEATS = QUERY_SEATS / 4;

/** A server that doesn't answer is asked less often, down to this. */
export const LONGEST_BACKOFF_MS = 5 * 60_000;

/** While others wait for a seat, a query keeps its own for this long at least, and for so many times what the last answer took. */
const SHORTEST_PATIENCE_MS = 1_000;
const PATIENCE_FACTOR = 4;

/** Spreads slots evenly, however many there are: the golden ratio's multiples are never close to each other. */
const SPREAD = 0.618_034;

/** How a query ended, for the scheduler. */
export type QueryEnd = 'answered' | 'failed';

/** One server that is queried again and again. */
export interface QueryTask {
  readonly intervalMs: number;
  /** Which run of the server may be queried now; undefined while it isn't running. In another run, nothing counts of the one before. */
  run(): number | undefined;
  /** Queries the server once. An abort withdraws the query: what comes of it doesn't count. */
  query(signal: AbortSignal): Promise<QueryEnd>;
}

/** Where a task stands between its slots. */
type Stage = 'resting' | 'waiting' | 'asking';

/** A task with what is known of it. */
class Entry {
  readonly task: QueryTask;
  /** Its place in the interval, from 0 to 1. */
  readonly phase: number;
  stage: Stage = 'resting';
  run: number | undefined;
  failures = 0;
  /** It didn't answer last, or holds others up: it shares the seats of the silent ones. */
  isSilent = false;
  restsUntil = Number.NEGATIVE_INFINITY;
  askedAt = 0;
  /** What the last answer took, in milliseconds. */
  tookMs = 0;
  /** While it is being asked. */
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
 * Gives each task its turn: once in its interval, in a slot of its own, so that the queries of many servers are spread evenly. A server
 * that doesn't answer is asked less often and waits for one of the few seats of the silent ones. While others wait, even the first query
 * of a server that takes much longer than it used to gives up its seat, and is repeated among those.
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

  /** A query of the task that is under way is withdrawn. */
  remove(task: QueryTask): void {
    const entry = this.#entries.get(task);
    if (entry === undefined) return;
    this.#entries.delete(task);
    entry.cancelSlot();
    this.#withdraw(entry);
    this.#fillSeats();
  }

  /** Waits for the first of its slots from a monotonic instant on. */
  #awaitSlot(entry: Entry, from: number): void {
    const now = this.#clock.now();
    const { intervalMs } = entry.task;
    const start = entry.phase * intervalMs;
    const at = start + Math.ceil((from - start) / intervalMs) * intervalMs;
    entry.cancelSlot = this.#clock.schedule(at - now, () => {
      // A timer may be a little early, and its slot is not to come twice.
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

  /** Takes the seat of a query that is overdue, if there is one. */
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
      // It stopped while it waited; its next slot sees to the rest.
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

/** How long a server rests after so many queries in a row without an answer; the next slot after that is its next. */
export function restMs(failures: number, intervalMs: number): number {
  const intervals = 2 ** Math.min(failures - 1, 16);
  // Its slots come round once in an interval: what is over is the time up to the last one.
  return Math.min(intervals * intervalMs, LONGEST_BACKOFF_MS) - intervalMs;
}
