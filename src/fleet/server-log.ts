import { CAUSES } from '../diagnosis/causes.ts';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger, ServerEvent, ServerEventFields } from '../domain/log.ts';
import type { CauseCode } from '../domain/problem.ts';
import { NAMES_SHOWN } from '../domain/sentences.ts';

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

/** This many events of a kind are logged in full per minute; the others are counted. */
export const FULL_LINES = 5;

/** The words for an event of one server and of several. */
interface EventWords {
  readonly one: string;
  readonly many: string;
  /** What the exporter does about it. */
  readonly next?: string;
}

/** The words of every event. */
export const EVENT_WORDS: Readonly<Record<ServerEvent, EventWords>> = {
  streaming: { one: 'socket open', many: 'sockets open' },
  streaming_again: { one: 'socket open again', many: 'sockets open again' },
  polling: { one: 'server polled', many: 'servers polled' },
  polling_again: { one: 'server polled again', many: 'servers polled again' },
  closed: { one: 'socket closed', many: 'sockets closed', next: 'reconnecting' },
  failing: { one: "server can't be monitored", many: "servers can't be monitored", next: 'retrying' },
  fallback: { one: 'server polled while its socket fails', many: 'servers polled while their sockets fail' },
  blocked: { one: 'server blocked', many: 'servers blocked' },
  moved: { one: 'socket moved to another host', many: 'sockets moved to other hosts' },
  crashed: { one: 'server crashed', many: 'servers crashed' },
  out_of_memory: { one: 'server crashed (out of memory)', many: 'servers crashed (out of memory)' },
  disk_full: {
    one: 'server stopped by its node (disk full)',
    many: 'servers stopped by their nodes (disk full)',
  },
  gave_up: { one: 'server given up by its node', many: 'servers given up by their nodes' },
  query_failed: {
    one: 'running server not responding to queries',
    many: 'running servers not responding to queries',
  },
  query_answered: { one: 'server responds to queries again', many: 'servers respond to queries again' },
};

/** The line that stands for the counted events of a minute. */
interface CountLine {
  readonly fields: object;
  readonly message: string;
}

/** The events of one kind, with the same cause if they have one, within a minute. */
export class EventCount {
  readonly #panel: string;
  readonly #event: ServerEvent;
  readonly #cause: CauseCode | undefined;
  #total = 0;
  /** The names of the servers with counted events, by their ids. */
  readonly #servers = new Map<string, string>();
  readonly #nodes = new Set<string>();

  constructor({ panel, event, cause }: Pick<ServerEventFields, 'panel' | 'event' | 'cause'>) {
    this.#panel = panel;
    this.#event = event;
    this.#cause = cause;
  }

  /** Adds an event; true if it should be logged in full. */
  add({ server, server_id: id, node }: ServerEventFields): boolean {
    this.#total += 1;
    if (this.#total <= FULL_LINES) return true;
    this.#servers.set(id, server);
    if (node !== undefined) this.#nodes.add(node);
    return false;
  }

  /** The line for the counted events; undefined if there are none. */
  line(): CountLine | undefined {
    const events = this.#total - FULL_LINES;
    if (events <= 0) return undefined;
    const servers = this.#servers.size;
    const names = [...this.#servers.values()];
    const [node, ...otherNodes] = this.#nodes;
    const { one, many, next } = EVENT_WORDS[this.#event];
    const times = events > servers ? `, ${events} times` : '';
    const ending = next === undefined ? '' : `; ${next}`;
    return {
      fields: {
        panel: this.#panel,
        event: this.#event,
        cause: this.#cause,
        node: otherNodes.length === 0 ? node : undefined,
        servers,
        events,
        first: names.slice(0, NAMES_SHOWN),
      },
      message: `${servers} more ${servers === 1 ? one : many}${times} (${listed(names)})${this.#reason()}${ending}`,
    };
  }

  /** Why it happened, and on which nodes, unless it concerns single servers. */
  #reason(): string {
    if (this.#cause === undefined) return '';
    const { scope, title } = CAUSES[this.#cause];
    // The event `closed` means the same as the cause `closed`.
    const why = this.#event === this.#cause ? '' : `: ${title}`;
    const where = scope === 'node' && this.#nodes.size > 0 ? ` on ${listed([...this.#nodes])}` : '';
    return why + where;
  }
}

function listed(names: readonly string[]): string {
  return names.slice(0, NAMES_SHOWN).join(', ') + (names.length > NAMES_SHOWN ? ', …' : '');
}
