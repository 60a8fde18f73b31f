import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger, ServerEventFields } from '../domain/log.ts';
import { EventCount } from './event-count.ts';

type EventLevel = 'info' | 'warn' | 'error';

/** A count under way. */
interface Minute {
  readonly level: EventLevel;
  readonly count: EventCount;
  readonly cancel: Cancel;
}

const MINUTE_MS = 60_000;

/**
 * The log of a panel's servers. The first few events of a kind are logged in full and the others of that minute as one line with
 * their number, so that thousands of servers, or their outage, don't fill the disk. Kinds are counted separately, so that no
 * event hides another. At level debug every event is logged.
 */
export class ServerLog implements Logger {
  readonly #log: Logger;
  readonly #clock: Pick<Clock, 'schedule'>;
  /** By kind of event. */
  readonly #minutes = new Map<string, Minute>();

  constructor(log: Logger, clock: Pick<Clock, 'schedule'>) {
    this.#log = log;
    this.#clock = clock;
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

  /** Logs how many events were counted so far. */
  flush(): void {
    for (const [kind, minute] of this.#minutes) this.#end(kind, minute);
  }

  #add(level: EventLevel, fields: object, message: string): void {
    const isInFull = !isOfServer(fields) || this.#countFor(level, fields).add(fields);
    this.#log[isInFull ? level : 'debug'](fields, message);
  }

  /** The count of this kind of events; its minute begins with the first. */
  #countFor(level: EventLevel, fields: ServerEventFields): EventCount {
    const kind = `${level} ${fields.event} ${fields.cause ?? ''}`;
    const found = this.#minutes.get(kind);
    if (found !== undefined) return found.count;
    const minute: Minute = {
      level,
      count: new EventCount(fields),
      cancel: this.#clock.schedule(MINUTE_MS, () => this.#end(kind, minute)),
    };
    this.#minutes.set(kind, minute);
    return minute.count;
  }

  #end(kind: string, { level, count, cancel }: Minute): void {
    cancel();
    this.#minutes.delete(kind);
    const line = count.line();
    if (line !== undefined) this.#log[level](line.fields, line.message);
  }
}

function isOfServer(fields: object): fields is ServerEventFields {
  return 'event' in fields && 'server_id' in fields;
}
