// Logs the first events of a kind in each minute, the others as one line with their number.

import { CAUSES } from '../diagnosis/causes.ts';
import type { Logger } from '../domain/logger.ts';
import type { Cancel, Clock } from '../domain/time.ts';
import { MINUTE_MS } from '../domain/units.ts';
import { NAMES_SHOWN } from '../text/sentences.ts';
import { SERVER_EVENTS, type ServerEvent, type ServerEventFields } from './server-events.ts';

type EventLevel = 'info' | 'warn' | 'error';

/** The events of one kind, with the same cause if they have one, within a minute. */
interface Minute {
  readonly level: EventLevel;
  readonly cancel: Cancel;
  total: number;
  /** The latest event that isn't logged in full of each server, by the servers' ids. */
  readonly others: Map<string, ServerEventFields>;
}

/** This many events of a kind are logged in full per minute; the others are counted. */
export const FULL_LINES = 5;

/**
 * The log of a panel's servers. Of a thousand crashes in a minute, it has the first five in full
 * and the others as one line with their number; at level debug, all. `flush` writes the lines with
 * the numbers so far.
 */
export function serverLog(log: Logger, clock: Pick<Clock, 'schedule'>): Logger & { flush(): void } {
  const minutes = new Map<string, Minute>();

  function end(kind: string): void {
    const minute = minutes.get(kind);
    minute?.cancel();
    minutes.delete(kind);
    if (minute !== undefined) writeOthers(log, minute);
  }

  /**
   * Counts the event in the minute of its kind, which begins with the first; true if it should be
   * logged in full.
   */
  function isInFull(level: EventLevel, fields: ServerEventFields): boolean {
    const kind = `${level} ${fields.event} ${fields.cause ?? ''}`;
    const cancel = () => clock.schedule(MINUTE_MS, () => end(kind));
    const minute = minutes.get(kind) ?? { level, cancel: cancel(), total: 0, others: new Map() };
    minutes.set(kind, minute);
    minute.total += 1;
    if (minute.total <= FULL_LINES) return true;
    minute.others.set(fields.server_id, fields);
    return false;
  }

  const at = (level: EventLevel) => (fields: object, message: string) =>
    log[!isOfServer(fields) || isInFull(level, fields) ? level : 'debug'](fields, message);
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    flush: () => {
      for (const kind of minutes.keys()) end(kind);
    },
  };
}

/** Logs the line that stands for the events that weren't logged in full. */
function writeOthers(log: Logger, { level, total, others }: Minute): void {
  const all = [...others.values()];
  const [first] = all;
  if (first === undefined) return;
  const { panel, event, cause } = first;
  const title = SERVER_EVENTS[shownEvent(first)];
  const events = total - FULL_LINES;
  const names = all.map(({ server }) => server);
  const nodes = [...new Set(all.flatMap(({ node }) => node ?? []))];
  const what = others.size === 1 ? title.one : title.many;
  const times = events > others.size ? `, ${events} times` : '';
  const ending = 'next' in title ? `; ${title.next}` : '';
  const node = nodes.length === 1 ? nodes[0] : undefined;
  log[level](
    { panel, event, cause, node, servers: others.size, events, first: names.slice(0, NAMES_SHOWN) },
    `${others.size} more ${what}${times} (${firstNames(names)})${describeReason(first, nodes)}${ending}`,
  );
}

function isOfServer(fields: object): fields is ServerEventFields {
  return 'event' in fields && 'server_id' in fields;
}

/**
 * The event as the lines in full name it: with any cause but a closed socket, the server can't be
 * monitored.
 */
function shownEvent({ event, cause }: ServerEventFields): ServerEvent {
  return event === 'closed' && cause !== undefined && cause !== event ? 'failing' : event;
}

/** Why it happened, and on which nodes, unless it concerns single servers. */
function describeReason({ event, cause }: ServerEventFields, nodes: readonly string[]): string {
  if (cause === undefined) return '';
  const { scope, title } = CAUSES[cause];
  // The event `closed` means the same as the cause `closed`.
  const why = event === cause ? '' : `: ${title}`;
  const where = scope === 'node' && nodes.length > 0 ? ` on ${firstNames(nodes)}` : '';
  return why + where;
}

function firstNames(names: readonly string[]): string {
  return names.slice(0, NAMES_SHOWN).join(', ') + (names.length > NAMES_SHOWN ? ', …' : '');
}
