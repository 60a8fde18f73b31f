import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';

/** So many lines about single servers are logged at once, in each minute that has any. */
const LINES_AT_ONCE = 5;
const WINDOW_MS = 60_000;

/** How soon the first summary follows; the next one ends the minute. */
const SUMMARY_AFTER_MS = 10_000;

/** What a summary tells of: kinds of lines, and servers of each kind by name. */
const KINDS_NAMED = 3;
const SERVERS_NAMED = 3;

const LEVELS = ['info', 'warn', 'error'] as const;
type Level = (typeof LEVELS)[number];
const rank = (level: Level) => LEVELS.indexOf(level);

/** Lines that say the same of several servers. */
interface LineGroup {
  readonly level: Level;
  lines: number;
  readonly servers: Set<string>;
}

/**
 * The log of a panel's sessions. Few lines about servers are logged as they come; if more follow within a minute, they become one line
 * with their number and the first names. A panel that lists thousands of servers can't fill the disk with them, nor can its outage.
 * At the level debug every line is logged.
 */
export class ServerLog implements Logger {
  readonly #panel: string;
  readonly #log: Logger;
  readonly #clock: Pick<Clock, 'now' | 'schedule'>;
  readonly #groups = new Map<string, LineGroup>();
  #windowEndsAt = Number.NEGATIVE_INFINITY;
  #logged = 0;
  #hasSummary = false;
  #cancel: Cancel | undefined;

  constructor(panel: string, log: Logger, clock: Pick<Clock, 'now' | 'schedule'>) {
    this.#panel = panel;
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

  /** Logs the summary of what is held back, if anything is. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#groups.size === 0) return;
    const groups = [...this.#groups].sort(
      ([, one], [, other]) => rank(other.level) - rank(one.level) || other.lines - one.lines,
    );
    const lines = groups.reduce((sum, [, group]) => sum + group.lines, 0);
    const kinds = groups.slice(0, KINDS_NAMED).map(describe);
    if (groups.length > KINDS_NAMED) kinds.push('and others');
    const number = lines === 1 ? 'one more change of a server' : `${lines} more changes of servers`;
    this.#log[groups[0]?.[1].level ?? 'info'](
      { panel: this.#panel, changes: lines },
      `panel ${this.#panel}: ${number}: ${kinds.join('; ')}`,
    );
    this.#groups.clear();
    this.#hasSummary = true;
  }

  #add(level: Level, fields: object, message: string): void {
    const now = this.#clock.now();
    if (now >= this.#windowEndsAt) {
      this.flush();
      this.#windowEndsAt = now + WINDOW_MS;
      this.#logged = 0;
      this.#hasSummary = false;
    }
    if (this.#logged < LINES_AT_ONCE) {
      this.#logged += 1;
      this.#log[level](fields, message);
      return;
    }
    this.#log.debug(fields, message);
    this.#hold(level, fields, message);
    const leftMs = this.#windowEndsAt - now;
    this.#cancel ??= this.#clock.schedule(
      this.#hasSummary ? leftMs : Math.min(SUMMARY_AFTER_MS, leftMs),
      () => this.flush(),
    );
  }

  #hold(level: Level, fields: LineFields, message: string): void {
    const { server, condition, cause } = fields;
    const kind = condition === undefined ? message : condition + (cause === undefined ? '' : ` (${cause})`);
    const group = this.#groups.get(kind) ?? { level, lines: 0, servers: new Set() };
    group.lines += 1;
    if (server !== undefined && group.servers.size <= SERVERS_NAMED) group.servers.add(server);
    this.#groups.set(kind, group);
  }
}

/** What of a line's fields is looked at. */
interface LineFields {
  readonly server?: string;
  readonly condition?: string;
  readonly cause?: string;
}

function describe([kind, { lines, servers }]: readonly [string, LineGroup]): string {
  const names = [...servers].slice(0, SERVERS_NAMED);
  return `${lines} ${kind}: ${names.join(', ')}${servers.size > SERVERS_NAMED ? ', …' : ''}`;
}
