import type { Cancel, Clock } from '../domain/clock.ts';
import type { BackupSettings } from '../domain/discovery.ts';
import type { Logger } from '../domain/log.ts';
import { printable } from '../domain/printable.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { Backup, BackupsPage } from '../panel/decode-backups.ts';
import { lastingRefusal } from '../panel/errors.ts';
import { type BackupOutcome, backupIntervalMs, readingOf, untilNextMs } from './backup-schedule.ts';
import type { ServerRecord } from './server-record.ts';

/** At the start servers are asked in a row, this far apart: an hour without a value after each start would be too long. */
const FIRST_ROUND_GAP_MS = 5_000;

/** A server with more pages of backups than this is told of by the first ones. */
const MAX_PAGES = 20;

export interface BackupWatchOptions {
  readonly panel: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly backups: (server: string, page: number, signal: AbortSignal) => Promise<BackupsPage>;
  /** Calls a minute that the panel's budget carries. */
  readonly callsPerMinute: () => number;
  /** The servers of now. */
  readonly records: () => readonly ServerRecord[];
}

/** When a server is asked next, as a monotonic instant, and its place in the interval. */
interface Turn {
  dueAt: number;
  readonly phase: number;
}

/** Asks for the backups of one server after the other, again and again, and never for two at once. */
export class BackupWatch {
  readonly #options: BackupWatchOptions;
  readonly #turns = new WeakMap<ServerRecord, Turn>();
  #settings: BackupSettings | undefined;
  #isRunning = false;
  #cancel: Cancel = () => {};
  #inFlight: AbortController | undefined;

  constructor(options: BackupWatchOptions) {
    this.#options = options;
  }

  /** Calls a minute that it makes for so many servers. */
  callsPerMinute(servers: readonly ServerTarget[]): number {
    if (this.#settings === undefined) return 0;
    const asked = servers.filter(isAsked).length;
    return (
      (asked * 60_000) / backupIntervalMs(this.#settings.intervalMs, asked, this.#options.callsPerMinute())
    );
  }

  /** Takes on how often to ask, or not to ask at all. */
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

  #begin(): void {
    this.#cancelAll();
    if (this.#settings !== undefined) this.#wait(this.#settings);
  }

  #cancelAll(): void {
    this.#cancel();
    this.#inFlight?.abort(new Error("the servers' backups are no longer wanted"));
    this.#inFlight = undefined;
  }

  #wait(settings: BackupSettings): void {
    this.#cancel = this.#options.clock.schedule(FIRST_ROUND_GAP_MS, () => void this.#askNext(settings));
  }

  async #askNext(settings: BackupSettings): Promise<void> {
    const { clock } = this.#options;
    const record = this.#mostOverdue(clock.now());
    if (record !== undefined) {
      const controller = new AbortController();
      this.#inFlight = controller;
      const outcome = await this.#ask(record, settings, controller.signal);
      if (controller.signal.aborted) return;
      this.#inFlight = undefined;
      const now = clock.now();
      const turn = this.#turnOf(record);
      turn.dueAt =
        now + untilNextMs(now, outcome, { phase: turn.phase, intervalMs: this.#intervalMs(settings) });
    }
    this.#wait(settings);
  }

  async #ask(record: ServerRecord, settings: BackupSettings, signal: AbortSignal): Promise<BackupOutcome> {
    const { clock } = this.#options;
    try {
      const backups = await this.#readAll(record.target.id, signal);
      if (signal.aborted) return 'failed';
      record.backups = readingOf(backups, clock.now(), this.#intervalMs(settings));
      return 'answered';
    } catch (error) {
      if (signal.aborted) return 'failed';
      return this.#failed(record, error);
    }
  }

  async #readAll(server: string, signal: AbortSignal): Promise<readonly Backup[]> {
    const all: Backup[] = [];
    let pages = 1;
    for (let page = 1; page <= pages; page += 1) {
      const { backups, totalPages } = await this.#options.backups(server, page, signal);
      all.push(...backups);
      pages = Math.min(totalPages, MAX_PAGES);
    }
    return all;
  }

  #failed(record: ServerRecord, error: unknown): BackupOutcome {
    const { panel, log } = this.#options;
    const cause = printable(error instanceof Error ? error.message : String(error));
    const server = record.target.name;
    const reason = lastingRefusal(error);
    const isRefused = reason === 'forbidden' || reason === 'unauthorized' || reason === 'not_found';
    if (isRefused) record.backups = undefined;
    const rest = isRefused ? 'may the account read them? Asked again in a day' : 'asked again later';
    log.debug({ panel, server, cause }, `the backups of server ${server} can't be had: ${rest}`);
    return isRefused ? 'refused' : 'failed';
  }

  /** The server that should have been asked longest ago; undefined where none is due. */
  #mostOverdue(now: number): ServerRecord | undefined {
    let found: ServerRecord | undefined;
    let dueAt = now;
    for (const record of this.#options.records()) {
      if (!isAsked(record.target)) continue;
      const turn = this.#turnOf(record);
      if (turn.dueAt > dueAt || (found !== undefined && turn.dueAt === dueAt)) continue;
      found = record;
      dueAt = turn.dueAt;
    }
    return found;
  }

  #turnOf(record: ServerRecord): Turn {
    let turn = this.#turns.get(record);
    if (turn === undefined) {
      turn = { dueAt: this.#options.clock.now(), phase: this.#options.random() };
      this.#turns.set(record, turn);
    }
    return turn;
  }

  #intervalMs({ intervalMs }: BackupSettings): number {
    const { callsPerMinute, records } = this.#options;
    return backupIntervalMs(intervalMs, records().length, callsPerMinute());
  }
}

// The panel refuses everything of a server that it holds in another state, and one that may have no backups has none.
function isAsked({ withoutBackups, blocked }: ServerTarget): boolean {
  return withoutBackups !== true && blocked === undefined;
}
