import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger, ServerEventFields } from '../domain/log.ts';
import { type DigestPolicy, EventDigest, type EventLevel } from './event-digest.ts';
import { summaryLine } from './event-words.ts';

/** The first event of a kind is logged as it comes. */
export const FIRST_OF_A_KIND: DigestPolicy = { atOnce: 3, each: 'kind' };

/** Crashes are told one by one, unless there are many. */
export const EACH_CRASH: DigestPolicy = { atOnce: 5, each: 'event' };

/**
 * The log of a panel's servers. What happens to many of them at a time is a line for the first and a summary of the others with their
 * number and first names, so that neither thousands of servers nor their outage fills the disk. At the level debug every line is logged.
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

  /** The recovery of the panel was logged: that of its servers is only summed up. */
  recoveryLogged(): void {
    this.#digest.recoveryLogged(this.#clock.now());
  }

  /** Logs the summary of what is held back, if anything is. */
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
    // A timer that comes too soon looks again: most events only put the summary off.
    if (dueAt >= this.#wakesAt || dueAt === Number.POSITIVE_INFINITY) return;
    this.#sleep();
    this.#wakesAt = dueAt;
    this.#cancel = this.#clock.schedule(Math.max(0, dueAt - this.#clock.now()), () => this.#wake());
  }

  #wake(): void {
    this.#sleep();
    const { dueAt } = this.#digest;
    // Timers of Node fire up to a millisecond early.
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
