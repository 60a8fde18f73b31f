import type { Cancel, Clock } from '../domain/clock.ts';
import type { BackupSettings } from '../domain/discovery.ts';
import type { Logger } from '../domain/log.ts';
import { type BackupsReading, VALID_INTERVALS } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { Backup, BackupsPage } from '../panel/dialect.ts';
import { problemOf } from '../panel/errors.ts';
import type { ServerRecord } from './server-record.ts';

/** The longest gap between requests: without it, values could be missing for up to an hour after the start. */
const LONGEST_GAP_MS = 5_000;

/** If a server has more pages of backups than this, the rest is not read. */
const MAX_PAGES = 20;

/** Only a person can lift a refusal, so it is retried about once a day. */
const REFUSED_RETRY_MS = 24 * 60 * 60_000;

/** The shortest gap between reads of a server's list because of events: a hostile node can send thousands of events a second. */
const EVENT_GAP_MS = 60_000;

/** How the last request for a server's backups ended; `refused` if the account may not see them. */
type BackupOutcome = 'answered' | 'failed' | 'refused';

export interface BackupWatchOptions {
  readonly panel: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** Reads a page by a deadline in monotonic milliseconds. */
  readonly backups: (
    server: string,
    page: number,
    deadline: number,
    signal: AbortSignal,
  ) => Promise<BackupsPage>;
  /** The current servers. */
  readonly records: () => readonly ServerRecord[];
}

/** When a server's list is read; in monotonic milliseconds. */
interface Reads {
  plannedAt: number;
  /** When it may be read because a backup completed; infinite if none did since the last read. */
  eventAt: number;
  /** When it was last read for that reason. */
  eventReadAt: number;
  /** The first reads follow each other; the second is at a random point, so that they don't stay together. */
  isFirst: boolean;
}

/**
 * Reads the backups of one server after another, the most overdue first, at the pace that reads them all once per interval. A
 * completed backup makes its server due, but doesn't change the pace: a flood of such events can delay other servers by at most
 * one interval, because each server is read once before any is read twice.
 */
export class BackupWatch {
  readonly #options: BackupWatchOptions;
  readonly #reads = new WeakMap<object, Reads>();
  #settings: BackupSettings | undefined;
  #isRunning = false;
  /** When the pace allows the next read. */
  #mayReadAt = Number.NEGATIVE_INFINITY;
  #wakesAt = Number.POSITIVE_INFINITY;
  #cancel: Cancel = () => {};
  #inFlight: AbortController | undefined;

  constructor(options: BackupWatchOptions) {
    this.#options = options;
  }

  /** Calls a minute that these servers need. */
  wantedPerMinute(servers: readonly ServerTarget[]): number {
    if (this.#settings === undefined) return 0;
    return (servers.filter(isAsked).length * 60_000) / this.#settings.intervalMs;
  }

  /** Applies new settings; undefined stops the requests. */
  configure(settings: BackupSettings | undefined): void {
    if (settings?.intervalMs === this.#settings?.intervalMs) return;
    this.#settings = settings;
    if (settings === undefined) for (const record of this.#options.records()) record.backups = undefined;
    if (this.#isRunning) this.#begin();
  }

  start(): void {
    this.#isRunning = true;
    this.#begin();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancelAll();
  }

  /** The node reported a completed backup: the server's list is read as soon as the pace allows, but at most once a minute. */
  backupCompleted(record: Pick<ServerRecord, 'target'>): void {
    if (this.#settings === undefined || !this.#isRunning || !isAsked(record.target)) return;
    const reads = this.#readsOf(record);
    if (reads.eventAt !== Number.POSITIVE_INFINITY) return;
    reads.eventAt = Math.max(this.#options.clock.now(), reads.eventReadAt + EVENT_GAP_MS);
    const at = Math.max(reads.eventAt, this.#mayReadAt);
    if (this.#inFlight === undefined && at < this.#wakesAt) this.#wake(this.#settings, at);
  }

  #begin(): void {
    this.#cancelAll();
    if (this.#settings !== undefined) this.#wake(this.#settings, this.#options.clock.now() + this.#gapMs);
  }

  #cancelAll(): void {
    this.#cancel();
    this.#inFlight?.abort(new Error("the servers' backups are no longer needed"));
    this.#inFlight = undefined;
  }

  /** Between the starts of two reads, because an answer takes time. */
  get #gapMs(): number {
    const perMinute = this.wantedPerMinute(this.#options.records().map(({ target }) => target));
    return Math.min(LONGEST_GAP_MS, 60_000 / perMinute);
  }

  #wake(settings: BackupSettings, at: number): void {
    const { clock } = this.#options;
    this.#cancel();
    this.#wakesAt = at;
    this.#cancel = clock.schedule(Math.max(0, at - clock.now()), () => void this.#readNext(settings));
  }

  async #readNext(settings: BackupSettings): Promise<void> {
    const { clock } = this.#options;
    const now = clock.now();
    const record = this.#mostOverdue(now);
    if (record !== undefined) {
      this.#mayReadAt = now + this.#gapMs;
      const controller = new AbortController();
      this.#inFlight = controller;
      await this.#read(record, settings, controller.signal);
      if (controller.signal.aborted) return;
      this.#inFlight = undefined;
    }
    this.#wake(settings, now + this.#gapMs);
  }

  async #read(record: ServerRecord, settings: BackupSettings, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    const reads = this.#readsOf(record);
    if (reads.eventAt <= clock.now()) reads.eventReadAt = clock.now();
    reads.eventAt = Number.POSITIVE_INFINITY;
    const outcome = await this.#ask(record, settings, signal);
    const now = clock.now();
    // A failed read that was triggered by an event doesn't postpone the planned one.
    if (signal.aborted || (outcome === 'failed' && reads.plannedAt > now)) return;
    const intervals = reads.isFirst ? 0.5 + random() : 1;
    const waitMs = intervals * settings.intervalMs;
    reads.isFirst = false;
    reads.plannedAt = now + (outcome === 'refused' ? Math.max(REFUSED_RETRY_MS, waitMs) : waitMs);
  }

  async #ask(record: ServerRecord, settings: BackupSettings, signal: AbortSignal): Promise<BackupOutcome> {
    const { clock } = this.#options;
    try {
      const backups = await this.#readAll(record.target.id, clock.now() + settings.intervalMs, signal);
      if (signal.aborted) return 'failed';
      record.backups = readingOf(backups, clock.now(), settings.intervalMs);
      return 'answered';
    } catch (error) {
      if (signal.aborted) return 'failed';
      return this.#failed(record, error);
    }
  }

  async #readAll(server: string, deadline: number, signal: AbortSignal): Promise<readonly Backup[]> {
    const all: Backup[] = [];
    let pages = 1;
    for (let page = 1; page <= pages; page += 1) {
      const { backups, totalPages } = await this.#options.backups(server, page, deadline, signal);
      all.push(...backups);
      pages = Math.min(totalPages, MAX_PAGES);
    }
    return all;
  }

  #failed(record: ServerRecord, error: unknown): BackupOutcome {
    const { panel, log } = this.#options;
    const { cause, detail } = problemOf(error);
    const server = record.target.name;
    const isRefused = cause === 'forbidden' || cause === 'unauthorized' || cause === 'not_found';
    if (isRefused) record.backups = undefined;
    const next = isRefused ? "check the account's permissions; retrying in a day" : 'retrying later';
    log.debug(
      { panel, server, cause, detail },
      `server ${server}: reading backups failed: ${detail}; ${next}`,
    );
    return isRefused ? 'refused' : 'failed';
  }

  /** The server that is most overdue; undefined if none is due. */
  #mostOverdue(now: number): ServerRecord | undefined {
    let found: ServerRecord | undefined;
    let dueAt = now;
    for (const record of this.#options.records()) {
      if (!isAsked(record.target)) continue;
      const { plannedAt, eventAt } = this.#readsOf(record);
      const at = Math.min(plannedAt, eventAt);
      if (at > dueAt || (found !== undefined && at === dueAt)) continue;
      found = record;
      dueAt = at;
    }
    return found;
  }

  #readsOf(record: Pick<ServerRecord, 'target'>): Reads {
    let reads = this.#reads.get(record);
    if (reads === undefined) {
      const never = { eventAt: Number.POSITIVE_INFINITY, eventReadAt: Number.NEGATIVE_INFINITY };
      reads = { plannedAt: this.#options.clock.now(), ...never, isFirst: true };
      this.#reads.set(record, reads);
    }
    return reads;
  }
}

// The panel rejects every call for a blocked server, and a server that may have no backups has none.
function isAsked({ withoutBackups, blocked }: ServerTarget): boolean {
  return withoutBackups !== true && blocked === undefined;
}

/** Summarizes a server's backups as of `now` (monotonic milliseconds). */
export function readingOf(backups: readonly Backup[], now: number, intervalMs: number): BackupsReading {
  const successful = backups.filter(({ isSuccessful }) => isSuccessful);
  const lastSuccess = newestOf(successful);
  const lastFailure = newestOf(backups.filter(({ isSuccessful }) => !isSuccessful));
  return {
    count: successful.length,
    staleAt: now + intervalMs * VALID_INTERVALS,
    ...(lastSuccess !== undefined && { lastSuccessUnixMs: lastSuccess.completedAtMs }),
    ...(lastFailure !== undefined && { lastFailureUnixMs: lastFailure.completedAtMs }),
    ...(lastSuccess?.bytes !== undefined && { lastSizeBytes: lastSuccess.bytes }),
  };
}

function newestOf(backups: readonly Backup[]): Backup | undefined {
  return backups.reduce<Backup | undefined>(
    (newest, backup) =>
      newest !== undefined && newest.completedAtMs >= backup.completedAtMs ? newest : backup,
    undefined,
  );
}
