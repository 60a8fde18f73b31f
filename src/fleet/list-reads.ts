// Reads a list of each server, such as its backups, once per interval.

import TinyQueue from 'tinyqueue';
import { CAUSES } from '../diagnosis/causes.ts';
import { isUnknownPath } from '../diagnosis/signs.ts';
import { type Clock, NEVER } from '../domain/clock.ts';
import type { Logger } from '../domain/logger.ts';
import type { CauseCode } from '../domain/problems.ts';
import { type Repeat, repeat } from '../domain/repeated-work.ts';
import type { ServerTarget } from '../domain/server.ts';
import { type BackupsReading, type SchedulesReading, VALID_INTERVALS } from '../domain/snapshot.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import { PanelError, toProblem } from '../panel/panel-error.ts';
import { retryGapMs } from '../session/backoff.ts';
import { backupsOfServers } from './backups.ts';
import type { IntervalSettings, ListName, PerServerList } from './per-server-list.ts';
import { schedulesOfServers } from './schedules.ts';
import type { ServerRecord } from './server-record.ts';

/**
 * The maximum wait of a server that is no longer blocked until its list is due. The list of an
 * added server is due after the same time, because the first seconds' calls are needed for its
 * data.
 */
const LOOK_EVERY_MS = 5_000;

/** Only a person can grant a permission, so a refused read is retried once a day. */
const NO_PERMISSION_RETRY_MS = 24 * 60 * 60_000;

/**
 * The minimum time between two reads of a server's list after events: a hostile node can send
 * thousands of events a second.
 */
const EVENT_GAP_MS = 60_000;

export interface ListReadsOptions extends IntervalSettings {
  readonly what: ListName;
  readonly gateway: Pick<PanelGateway, ListName>;
  readonly panel: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** The current servers. */
  readonly records: () => readonly ServerRecord[];
}

/** The next read of a server's list, in monotonic milliseconds. */
interface Reads {
  /** Infinite during a read. */
  dueAt: number;
  /** The latest instant at which an event made it due. */
  eventAt: number;
  /**
   * Whether the next read is the server's first. All first reads follow each other, so the second
   * comes after 0.5 to 1.5 intervals.
   */
  isFirst: boolean;
  /** The number of consecutive failures. */
  failures: number;
  /** The server, and the list of servers in which it was last found. */
  listed: { readonly record: ServerRecord; readonly records: readonly ServerRecord[] } | undefined;
}

/** An entry of the queue; obsolete once the list is due at another time. */
interface DueRead {
  readonly reads: Reads;
  readonly dueAt: number;
  /** The order of entries that are due together; lower numbers come first. */
  readonly order: number;
}

/**
 * Reads a list of each server once per interval, one at a time and the most overdue first, whenever
 * the rate limit allows it. An event, such as a completed backup, makes the server's list due.
 */
export class ListReads {
  readonly intervalMs: number;
  readonly #options: ListReadsOptions;
  readonly #repeat: Repeat;
  readonly #list: PerServerList;
  readonly #reads = new WeakMap<object, Reads>();
  /** The servers in the queue. */
  #records: readonly ServerRecord[] = [];
  #queue = dueFirst([]);
  #queued = 0;
  /** Whether a missing permission was logged: thousands of servers may have the same reason. */
  #isRefusalLogged = false;

  /** Starts reading. */
  constructor(options: ListReadsOptions) {
    this.#options = options;
    this.intervalMs = options.intervalMs;
    this.#list = options.what === 'backups' ? backupsOfServers(options) : schedulesOfServers(options);
    this.#repeat = repeat(options.clock, (signal) => this.#readNext(signal));
  }

  /** API calls per minute for these servers. */
  wantedPerMinute(servers: readonly ServerTarget[]): number {
    return (servers.filter((target) => this.isRead(target)).length * 60_000) / this.intervalMs;
  }

  /** Is this server's list read? */
  isRead(target: ServerTarget): boolean {
    return this.#list.isAsked(target);
  }

  stop(): void {
    this.#repeat.stop();
  }

  /** Reads the list of a server after it changed, but at most once a minute. */
  changed(record: Pick<ServerRecord, 'target'>): void {
    if (!this.isRead(record.target)) return;
    const reads = this.#findOrAdd(record);
    const now = this.#options.clock.now();
    if (reads.eventAt <= now) reads.eventAt = Math.max(now, reads.eventAt + EVENT_GAP_MS);
    if (reads.eventAt < reads.dueAt) this.#isDue(reads, reads.eventAt);
    this.#repeat.hasten(reads.dueAt - now);
  }

  /** Reads the most overdue list. Resolves with the time until the next one may be due. */
  async #readNext(signal: AbortSignal): Promise<number> {
    const { clock } = this.#options;
    const next = this.#soonest();
    if (next === undefined) return LOOK_EVERY_MS;
    const { reads, record } = next;
    const waitMs = reads.dueAt - clock.now();
    if (waitMs > 0) return Math.min(waitMs, LOOK_EVERY_MS);
    this.#queue.pop();
    reads.dueAt = Number.POSITIVE_INFINITY;
    const nextMs = await this.#read(record, reads, signal);
    // An event may have arrived in the meantime.
    this.#isDue(reads, Math.min(reads.dueAt, clock.now() + nextMs));
    return 0;
  }

  /** The read that is due first. It stays in the queue. */
  #soonest(): { readonly reads: Reads; readonly record: ServerRecord } | undefined {
    const records = this.#options.records();
    if (records !== this.#records) this.#enqueueAll(records);
    for (let first = this.#queue.peek(); first !== undefined; first = this.#queue.peek()) {
      const { reads, dueAt } = first;
      const { listed } = reads;
      const isCurrent = listed?.records === records && reads.dueAt === dueAt;
      if (isCurrent && this.isRead(listed.record.target)) return { reads, record: listed.record };
      this.#queue.pop();
    }
    return undefined;
  }

  /** Rebuilds the queue after servers or their descriptions changed. */
  #enqueueAll(records: readonly ServerRecord[]): void {
    this.#records = records;
    const due: DueRead[] = [];
    for (const record of records) {
      if (!this.isRead(record.target)) continue;
      const reads = this.#findOrAdd(record);
      reads.listed = { record, records };
      due.push({ reads, dueAt: reads.dueAt, order: this.#nextOrder() });
    }
    this.#queue = dueFirst(due);
  }

  #isDue(reads: Reads, dueAt: number): void {
    reads.dueAt = dueAt;
    this.#queue.push({ reads, dueAt, order: this.#nextOrder() });
  }

  #nextOrder(): number {
    this.#queued += 1;
    return this.#queued;
  }

  /** Resolves with the time until this list's next read. */
  async #read(record: ServerRecord, reads: Reads, signal: AbortSignal): Promise<number> {
    const { clock, intervalMs, random } = this.#options;
    let cause: CauseCode | undefined;
    try {
      const reading = await this.#list.read(record.target, clock.now() + intervalMs, signal);
      const staleAt = clock.now() + intervalMs * VALID_INTERVALS;
      if (!signal.aborted) this.#store(record, { ...reading, staleAt });
    } catch (error) {
      if (signal.aborted) return 0;
      cause = this.#failed(record, error);
    }
    // A problem of the server alone isn't a failure. An exception is a server or path that the
    // panel doesn't find, because that may be temporary.
    if (cause !== undefined && (CAUSES[cause].scope !== 'server' || isUnknownPath(cause))) {
      reads.failures += 1;
      return retryGapMs(reads.failures);
    }
    const waitMs = (reads.isFirst ? 0.5 + random() : 1) * intervalMs;
    reads.failures = 0;
    reads.isFirst = false;
    return isRefusal(cause) ? Math.max(NO_PERMISSION_RETRY_MS, waitMs) : waitMs;
  }

  #failed(record: ServerRecord, error: unknown): CauseCode {
    const { cause, detail } = toProblem(error);
    const permission = error instanceof PanelError ? error.permission : undefined;
    const { panel, log, what } = this.#options;
    const server = record.target.name;
    const isRefused = isRefusal(cause);
    if (isRefused || isUnknownPath(cause)) this.#store(record, undefined);
    const isFirst = isRefused && !this.#isRefusalLogged;
    this.#isRefusalLogged ||= isFirst;
    const needed = permission && `the account needs the permission ${permission}`;
    const next = isRefused ? [needed, 'retrying in a day'].filter(Boolean).join('; ') : 'retrying later';
    log[isFirst ? 'warn' : 'debug'](
      { panel, server, cause, detail },
      `server ${server}: reading ${what} failed: ${detail}; ${next}`,
    );
    return cause;
  }

  #store(record: ServerRecord, reading: BackupsReading | SchedulesReading | undefined): void {
    Object.assign(record, { [this.#options.what]: reading });
  }

  #findOrAdd(record: Pick<ServerRecord, 'target'>): Reads {
    const dueAt = this.#options.clock.now() + LOOK_EVERY_MS;
    const before = { dueAt, eventAt: NEVER };
    const reads = this.#reads.get(record) ?? { ...before, isFirst: true, failures: 0, listed: undefined };
    this.#reads.set(record, reads);
    return reads;
  }
}

function dueFirst(reads: DueRead[]): TinyQueue<DueRead> {
  return new TinyQueue(reads, (one, other) => one.dueAt - other.dueAt || one.order - other.order);
}

function isRefusal(cause: CauseCode | undefined): boolean {
  return cause === 'forbidden' || cause === 'unauthorized';
}
