import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger, ServerEventFields } from '../domain/log.ts';
import { type DigestPolicy, EventDigest, type EventLevel } from './event-digest.ts';
import { summaryLine } from './event-words.ts';

/** The first event of each kind is logged immediately. */
export const FIRST_OF_A_KIND: DigestPolicy = { atOnce: 3, each: 'kind' };

/** Crashes are logged one by one, unless there are many. */
export const EACH_CRASH: DigestPolicy = { atOnce: 5, each: 'event' };

/**
 * The log of a panel's servers. When something happens to many servers at a time, the first is logged in full and the others are
 * summarized with their number and the first names, so that neither thousands of servers nor their outage fills the disk. At
 * level debug every line is logged.
 */
export class ServerLog implements Logger {
  readonly #panel: string;
  readonly #log: Logger;
  readonly #clock: Pick<Clock, 'now' | 'schedule'>;
  readonly #digest: EventDigest;
  #cancel: Cancel | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;

  constructor(panel: string, log: Logger, clock: Pick<Clock, 'now' | 'schedule'>, policy = FIRST_OF_A_KIND) {
    this.#panel = panel;
    this.#log = log;
    this.#clock = clock;
    this.#digest = new EventDigest(policy);
  }

  debug(fields: object, message: string): void {
    this.#log.debug(fields, message);
  }

  info(fields: object, message: string): void {
    this.#add('info', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#add('warn', fields, message);
  }

  error(fields: object, message: string): void {
    this.#add('error', fields, message);
  }

  /** The recovery of the panel was logged, so that of its servers is only summarized. */
  recoveryLogged(): void {
    this.#digest.recoveryLogged(this.#clock.now());
  }

  /** Drops what is held back about a server that is no longer observed: a line about it would suggest that it still is. */
  forget(serverId: string): void {
    this.#digest.forget(serverId);
  }

  /** Logs the summary of what is held back, if there is anything. */
  flush(): void {
    this.#sleep();
    const digest = this.#digest.take(this.#clock.now());
    if (digest === undefined) return;
    const { level, fields, message } =
      digest.type === 'line' ? digest.line : summaryLine(this.#panel, digest);
    this.#log[level](fields, message);
  }

  #add(level: EventLevel, fields: object, message: string): void {
    if (!isOfServer(fields)) {
      this.#log[level](fields, message);
      return;
    }
    const isAtOnce = this.#digest.add({ level, fields, message }, this.#clock.now());
    this.#log[isAtOnce ? level : 'debug'](fields, message);
    this.#wakeInTime();
  }

  #wakeInTime(): void {
    const dueAt = this.#digest.dueAt ?? Number.POSITIVE_INFINITY;
    // A timer that fires too soon checks again: most events only postpone the summary.
    if (dueAt >= this.#wakesAt || dueAt === Number.POSITIVE_INFINITY) return;
    this.#sleep();
    this.#wakesAt = dueAt;
    this.#cancel = this.#clock.schedule(Math.max(0, dueAt - this.#clock.now()), () => this.#wake());
  }

  #wake(): void {
    this.#sleep();
    const { dueAt } = this.#digest;
    // Node timers fire up to a millisecond early.
    if (dueAt !== undefined && this.#clock.now() < dueAt - 1) this.#wakeInTime();
    else this.flush();
  }

  #sleep(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#wakesAt = Number.POSITIVE_INFINITY;
  }
}

function isOfServer(fields: object): fields is ServerEventFields {
  return 'event' in fields && 'server_id' in fields;
}
