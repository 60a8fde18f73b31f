import type { Cancel, Clock } from '../domain/clock.ts';
import type { BackupSettings } from '../domain/discovery.ts';
import type { Logger } from '../domain/log.ts';
import type { BackupsReading } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { Backup, BackupsPage } from '../panel/dialect.ts';
import { problemOf } from '../panel/errors.ts';
import { CompletedBackups } from './completed-backups.ts';
import type { ServerRecord } from './server-record.ts';

/** The longest gap between requests: without it, values could be missing for up to an hour after the start. */
const LONGEST_GAP_MS = 5_000;

/** If a server has more pages of backups than this, the rest is not read. */
const MAX_PAGES = 20;

/** Only a person can lift a refusal, so it is retried about once a day. */
const REFUSED_RETRY_MS = 24 * 60 * 60_000;

/** An answer stays valid for this many intervals. */
const STALENESS_INTERVALS = 2.5;

/** How the last request for a server's backups ended; `refused` if the account may not see them. */
export type BackupOutcome = 'answered' | 'failed' | 'refused';

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

/** When a server is asked next (monotonic milliseconds), and its place in the interval. */
interface NextAsk {
  dueAt: number;
  readonly phase: number;
}

/** Why a server is asked: its interval is over, or one of its backups completed. */
type Occasion = 'interval' | 'event';

/**
 * Requests the backups of one server after another, never of two at once. Reads triggered by events have their own pace, equal to
 * that of the planned reads, so a flood of events at most doubles the calls, and a planned read waits for at most one of them.
 */
export class BackupWatch {
  readonly #options: BackupWatchOptions;
  readonly #nextAsks = new WeakMap<ServerRecord, NextAsk>();
  readonly #completed = new CompletedBackups();
  /** When a server was last asked, on either occasion. */
  readonly #askedAt: Record<Occasion, number> = {
    interval: Number.NEGATIVE_INFINITY,
    event: Number.NEGATIVE_INFINITY,
  };
  #settings: BackupSettings | undefined;
  #isRunning = false;
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

  /** The node reported a completed backup: reads the server's list again, at once unless it was read within the last minute. */
  backupCompleted(server: ServerTarget): void {
    if (this.#settings === undefined || !this.#isRunning || !isAsked(server)) return;
    const isNew = this.#completed.add(server.id, this.#options.clock.now());
    if (isNew && this.#inFlight === undefined) this.#wait(this.#settings);
  }

  #begin(): void {
    this.#cancelAll();
    if (this.#settings === undefined) return;
    this.#askedAt.interval = this.#options.clock.now();
    this.#wait(this.#settings);
  }

  #cancelAll(): void {
    this.#cancel();
    this.#inFlight?.abort(new Error("the servers' backups are no longer needed"));
    this.#inFlight = undefined;
  }

  /** Gaps are counted from the start of the last request, because an answer takes time. */
  #wait(settings: BackupSettings): void {
    const { clock, records } = this.#options;
    const perMinute = this.wantedPerMinute(records().map(({ target }) => target));
    const gapMs = Math.min(LONGEST_GAP_MS, 60_000 / perMinute);
    const intervalAt = this.#askedAt.interval + gapMs;
    const eventAt = Math.max(this.#askedAt.event + gapMs, this.#completed.nextAt);
    const occasion = eventAt < intervalAt ? 'event' : 'interval';
    const waitMs = Math.max(0, Math.min(intervalAt, eventAt) - clock.now());
    this.#cancel();
    this.#cancel = clock.schedule(waitMs, () => void this.#askNext(settings, occasion));
  }

  async #askNext(settings: BackupSettings, occasion: Occasion): Promise<void> {
    const { clock } = this.#options;
    const askedAt = clock.now();
    this.#askedAt[occasion] = askedAt;
    const record = occasion === 'event' ? this.#nextCompleted(askedAt) : this.#mostOverdue(askedAt);
    if (record !== undefined) {
      this.#completed.drop(record.target.id);
      const controller = new AbortController();
      this.#inFlight = controller;
      const outcome = await this.#ask(record, settings, controller.signal);
      if (controller.signal.aborted) return;
      this.#inFlight = undefined;
      // A failed read that was triggered by an event doesn't postpone the planned one.
      if (occasion === 'interval' || outcome !== 'failed') this.#planNext(record, settings, outcome);
    }
    this.#wait(settings);
  }

  #planNext(record: ServerRecord, settings: BackupSettings, outcome: BackupOutcome): void {
    const now = this.#options.clock.now();
    const nextAsk = this.#nextAskOf(record);
    nextAsk.dueAt =
      now + untilNextMs(now, outcome, { phase: nextAsk.phase, intervalMs: settings.intervalMs });
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

  /** The next server with a completed backup; undefined if that server is no longer asked. */
  #nextCompleted(now: number): ServerRecord | undefined {
    const server = this.#completed.take(now);
    return this.#options.records().find(({ target }) => target.id === server && isAsked(target));
  }

  /** The server that is most overdue; undefined if none is due. */
  #mostOverdue(now: number): ServerRecord | undefined {
    let found: ServerRecord | undefined;
    let dueAt = now;
    for (const record of this.#options.records()) {
      if (!isAsked(record.target)) continue;
      const nextAsk = this.#nextAskOf(record);
      if (nextAsk.dueAt > dueAt || (found !== undefined && nextAsk.dueAt === dueAt)) continue;
      found = record;
      dueAt = nextAsk.dueAt;
    }
    return found;
  }

  #nextAskOf(record: ServerRecord): NextAsk {
    let nextAsk = this.#nextAsks.get(record);
    if (nextAsk === undefined) {
      nextAsk = { dueAt: this.#options.clock.now(), phase: this.#options.random() };
      this.#nextAsks.set(record, nextAsk);
    }
    return nextAsk;
  }
}

// The panel rejects every call for a blocked server, and a server that may have no backups has none.
function isAsked({ withoutBackups, blocked }: ServerTarget): boolean {
  return withoutBackups !== true && blocked === undefined;
}

/**
 * Milliseconds until a server is asked again. Each server has its own place in the interval (`phase`, from 0 to 1), so a fleet
 * that was asked in one go at the start spreads out.
 */
export function untilNextMs(
  now: number,
  outcome: BackupOutcome,
  { phase, intervalMs }: { readonly phase: number; readonly intervalMs: number },
): number {
  if (outcome === 'refused') return Math.max(REFUSED_RETRY_MS, intervalMs);
  const earliest = now + intervalMs / 2;
  const start = phase * intervalMs;
  const place = start + Math.ceil((earliest - start) / intervalMs) * intervalMs;
  return place - now;
}

/** Summarizes a server's backups as of `now` (monotonic milliseconds). */
export function readingOf(backups: readonly Backup[], now: number, intervalMs: number): BackupsReading {
  const successful = backups.filter(({ isSuccessful }) => isSuccessful);
  const lastSuccess = newestOf(successful);
  const lastFailure = newestOf(backups.filter(({ isSuccessful }) => !isSuccessful));
  return {
    count: successful.length,
    staleAt: now + intervalMs * STALENESS_INTERVALS,
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
