import { CAUSES } from '../diagnosis/causes.ts';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import { printable } from '../domain/printable.ts';
import { type BackupsReading, type SchedulesReading, VALID_INTERVALS } from '../domain/reading.ts';
import { Repeat } from '../domain/repeat.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { Backup, BackupsPage, Schedule } from '../panel/dialect.ts';
import { problemOf } from '../panel/errors.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import { retryGapMs } from '../session/due.ts';
import type { ServerRecord } from './server-record.ts';

/** How long a server that was added, or is no longer blocked, waits at most until its list is due. */
const LOOK_EVERY_MS = 5_000;

/** Only a person can lift a refusal, so it is retried about once a day. */
const REFUSED_RETRY_MS = 24 * 60 * 60_000;

/** The shortest gap between reads of a server's list because of events: a hostile node can send thousands of events a second. */
const EVENT_GAP_MS = 60_000;

/** How a list of every server is requested. */
export interface IntervalSettings {
  readonly intervalMs: number;
}

/** How a read ended: `refused` if the account may not see the list, `failed` if the outcome shows nothing about the server. */
type ReadOutcome = 'answered' | 'failed' | 'refused';

/** When a list is needed, in monotonic milliseconds, and how often it is read. */
export interface ReadTiming {
  readonly deadline: number;
  readonly intervalMs: number;
}

/** What is read of every server: a list such as its backups. */
export interface ListOfServer<Reading> {
  /** In words, such as `backups`. */
  readonly what: string;
  /** The permission that the account needs for it. */
  readonly permission: string;
  /** Is it read of this server? */
  readonly isAsked: (target: ServerTarget) => boolean;
  readonly read: (server: ServerTarget, timing: ReadTiming, signal: AbortSignal) => Promise<Reading>;
  /** Undefined if nothing is known any more. */
  readonly store: (record: ServerRecord, reading: Reading | undefined) => void;
}

export interface ListReadsOptions<Reading> {
  readonly list: ListOfServer<Reading>;
  readonly panel: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** The current servers. */
  readonly records: () => readonly ServerRecord[];
}

/** When a server's list is read; in monotonic milliseconds. */
interface Reads {
  plannedAt: number;
  /** When it may be read because of an event; infinite if none did since the last read. */
  eventAt: number;
  /** When it was last read for that reason. */
  eventReadAt: number;
  /** The first reads follow each other; the second is at a random point, so that they don't stay together. */
  isFirst: boolean;
  /** Consecutive failed reads. */
  failures: number;
}

/**
 * Reads a list of each server once per interval: those that are due one after another, the most overdue first, as soon as the rate
 * limit has calls left for them. An event, such as a completed backup, makes its server due.
 */
export class ListReads<Reading> {
  readonly #options: ListReadsOptions<Reading>;
  readonly #repeat: Repeat;
  readonly #reads = new WeakMap<object, Reads>();
  #settings: IntervalSettings | undefined;
  #isRunning = false;
  /** A server without the permission was logged: others have the same reason, and there may be thousands. */
  #isRefusalLogged = false;

  constructor(options: ListReadsOptions<Reading>) {
    this.#options = options;
    this.#repeat = new Repeat(options.clock);
  }

  /** Calls a minute that these servers need. */
  wantedPerMinute(servers: readonly ServerTarget[]): number {
    if (this.#settings === undefined) return 0;
    return (servers.filter(this.#options.list.isAsked).length * 60_000) / this.#settings.intervalMs;
  }

  /** Is this server's list read? */
  isRead(target: ServerTarget): boolean {
    return this.#settings !== undefined && this.#options.list.isAsked(target);
  }

  /** Applies new settings; undefined stops the requests. */
  configure(settings: IntervalSettings | undefined): void {
    if (settings?.intervalMs === this.#settings?.intervalMs) return;
    this.#settings = settings;
    this.#isRefusalLogged = false;
    const { records, list } = this.#options;
    if (settings === undefined) for (const record of records()) list.store(record, undefined);
    if (this.#isRunning) this.#begin();
  }

  start(): void {
    this.#isRunning = true;
    this.#begin();
  }

  stop(): void {
    this.#isRunning = false;
    this.#repeat.stop();
  }

  /** The server's list changed: it is read at once, but at most once a minute. */
  changed(record: Pick<ServerRecord, 'target'>): void {
    if (!this.#repeat.isRunning || !this.#options.list.isAsked(record.target)) return;
    const reads = this.#readsOf(record);
    if (reads.eventAt !== Number.POSITIVE_INFINITY) return;
    const now = this.#options.clock.now();
    reads.eventAt = Math.max(now, reads.eventReadAt + EVENT_GAP_MS);
    this.#repeat.hasten(reads.eventAt - now);
  }

  #begin(): void {
    const settings = this.#settings;
    if (settings === undefined) this.#repeat.stop();
    else this.#repeat.start((signal) => this.#readNext(settings, signal));
  }

  /** Reads the most overdue list; resolves with the time until the next one may be due. */
  async #readNext(settings: IntervalSettings, signal: AbortSignal): Promise<number> {
    const next = this.#mostOverdue();
    const waitMs = next === undefined ? LOOK_EVERY_MS : next.at - this.#options.clock.now();
    if (next === undefined || waitMs > 0) return Math.min(waitMs, LOOK_EVERY_MS);
    await this.#read(next.record, settings, signal);
    return 0;
  }

  async #read(record: ServerRecord, settings: IntervalSettings, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const reads = this.#readsOf(record);
    if (reads.eventAt <= clock.now()) reads.eventReadAt = clock.now();
    reads.eventAt = Number.POSITIVE_INFINITY;
    const outcome = await this.#ask(record, settings, signal);
    const now = clock.now();
    if (signal.aborted) return;
    reads.failures = outcome === 'failed' ? reads.failures + 1 : 0;
    if (outcome === 'failed') {
      reads.plannedAt = now + retryGapMs(reads.failures);
      return;
    }
    const intervals = reads.isFirst ? 0.5 + random() : 1;
    const waitMs = intervals * settings.intervalMs;
    reads.isFirst = false;
    reads.plannedAt = now + (outcome === 'refused' ? Math.max(REFUSED_RETRY_MS, waitMs) : waitMs);
  }

  async #ask(record: ServerRecord, settings: IntervalSettings, signal: AbortSignal): Promise<ReadOutcome> {
    const { clock, list } = this.#options;
    try {
      const { intervalMs } = settings;
      const timing = { deadline: clock.now() + intervalMs, intervalMs };
      const reading = await list.read(record.target, timing, signal);
      if (signal.aborted) return 'failed';
      list.store(record, reading);
      return 'answered';
    } catch (error) {
      if (signal.aborted) return 'failed';
      return this.#failed(record, error);
    }
  }

  #failed(record: ServerRecord, error: unknown): ReadOutcome {
    const { panel, log, list } = this.#options;
    const { cause, detail } = problemOf(error);
    const server = record.target.name;
    const isRefused = cause === 'forbidden' || cause === 'unauthorized';
    if (isRefused || cause === 'not_found') list.store(record, undefined);
    const isFirst = isRefused && !this.#isRefusalLogged;
    this.#isRefusalLogged ||= isFirst;
    const next = isRefused
      ? `the account needs the permission ${list.permission}; retrying in a day`
      : 'retrying later';
    log[isFirst ? 'warn' : 'debug'](
      { panel, server, cause, detail },
      `server ${server}: reading ${list.what} failed: ${detail}; ${next}`,
    );
    if (isRefused) return 'refused';
    // The panel may miss a server, or the path, for a moment only.
    return CAUSES[cause].scope === 'server' && cause !== 'not_found' ? 'answered' : 'failed';
  }

  /** The server whose list is due first, and when; undefined if no server has such a list. */
  #mostOverdue(): { readonly record: ServerRecord; readonly at: number } | undefined {
    let next: { readonly record: ServerRecord; readonly at: number } | undefined;
    const { list, records } = this.#options;
    for (const record of records()) {
      if (!list.isAsked(record.target)) continue;
      const { plannedAt, eventAt } = this.#readsOf(record);
      const at = Math.min(plannedAt, eventAt);
      if (next === undefined || at < next.at) next = { record, at };
    }
    return next;
  }

  #readsOf(record: Pick<ServerRecord, 'target'>): Reads {
    let reads = this.#reads.get(record);
    if (reads === undefined) {
      const never = { eventAt: Number.POSITIVE_INFINITY, eventReadAt: Number.NEGATIVE_INFINITY };
      reads = { plannedAt: this.#options.clock.now(), ...never, isFirst: true, failures: 0 };
      this.#reads.set(record, reads);
    }
    return reads;
  }
}

/** If a server has more pages of backups than this, the rest is not read. */
const MAX_PAGES = 20;

/** The backups of every server that may have some. */
export function backupsOfServers(
  gateway: Pick<PanelGateway, 'backups'>,
  clock: Clock,
): ListOfServer<BackupsReading> {
  return {
    what: 'backups',
    permission: 'backup.read',
    // The panel rejects every call for a blocked server, and a server that isn't allowed backups has none.
    isAsked: ({ withoutBackups, blocked }) => withoutBackups !== true && blocked === undefined,
    read: async (server, { deadline, intervalMs }, signal) => {
      const read = (page: number) => gateway.backups(server, page, deadline, signal);
      return readingOf(await allBackups(read), clock.now(), intervalMs);
    },
    store: (record, reading) => {
      record.backups = reading;
    },
  };
}

async function allBackups(read: (page: number) => Promise<BackupsPage>): Promise<readonly Backup[]> {
  const all: Backup[] = [];
  let pages = 1;
  for (let page = 1; page <= pages; page += 1) {
    const { backups, totalPages } = await read(page);
    all.push(...backups);
    pages = Math.min(totalPages, MAX_PAGES);
  }
  return all;
}

/** Summarizes a server's backups as of `now` (monotonic milliseconds). */
export function readingOf(backups: readonly Backup[], now: number, intervalMs: number): BackupsReading {
  const successful = backups.filter(({ isSuccessful }) => isSuccessful);
  const lastSuccess = newestOf(successful);
  const lastFailure = newestOf(backups.filter(({ isSuccessful }) => !isSuccessful));
  return {
    count: successful.length,
    staleAt: now + intervalMs * VALID_INTERVALS,
    lastSuccessUnixMs: lastSuccess?.completedAtMs,
    lastFailureUnixMs: lastFailure?.completedAtMs,
    lastSizeBytes: lastSuccess?.bytes,
  };
}

function newestOf(backups: readonly Backup[]): Backup | undefined {
  return backups.reduce<Backup | undefined>(
    (newest, backup) =>
      newest !== undefined && newest.completedAtMs >= backup.completedAtMs ? newest : backup,
    undefined,
  );
}

/** Each has three series: the rest is left out, and counted. */
const MAX_SCHEDULES = 20;

/** The schedules of every server that the panel runs schedules of. */
export function schedulesOfServers(
  gateway: Pick<PanelGateway, 'schedules'>,
  clock: Clock,
): ListOfServer<SchedulesReading> {
  return {
    what: 'schedules',
    permission: 'schedule.read',
    isAsked: ({ blocked }) => blocked === undefined,
    read: async (server, { deadline, intervalMs }, signal) => {
      const schedules = await gateway.schedules(server, deadline, signal);
      const readAt = clock.now();
      return {
        ...shownSchedules(schedules),
        readAt,
        staleAt: readAt + intervalMs * VALID_INTERVALS,
      };
    },
    store: (record, reading) => {
      record.schedules = reading;
    },
  };
}

/** The schedules as they are shown: each number once, with a printable name; and how many others there are. */
export function shownSchedules(
  schedules: readonly Schedule[],
): Pick<SchedulesReading, 'schedules' | 'leftOut'> {
  const all = [...new Map(schedules.map((schedule) => [schedule.id, schedule])).values()];
  const shown = all
    .slice(0, MAX_SCHEDULES)
    .map(({ id, name, isDue, isProcessing, lastRunMs, nextRunMs }) => ({
      id: String(id),
      name: printable(name),
      isProcessing,
      lastRunUnixMs: lastRunMs,
      nextRunUnixMs: isDue ? nextRunMs : undefined,
    }));
  return { schedules: shown, leftOut: all.length - shown.length };
}
