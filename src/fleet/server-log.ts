// Logs servers' events: the first of each kind per minute, and the others as one line with their
// number.

import { CAUSES } from '../diagnosis/causes.ts';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/logger.ts';
import { MINUTE_MS } from '../domain/units.ts';
import { NAMES_SHOWN } from '../text/sentences.ts';
import { SERVER_EVENTS, type ServerEvent, type ServerEventFields } from './server-events.ts';

type EventLevel = 'info' | 'warn' | 'error';

/** The events of one kind and cause within a minute. */
interface Minute {
  readonly level: EventLevel;
  readonly cancel: Cancel;
  total: number;
  /** For each server id, the latest event that wasn't logged in full. */
  readonly others: Map<string, ServerEventFields>;
}

/** The number of events of a kind that are logged in full per minute. The others are counted. */
export const FULL_LINES = 5;

/**
 * The log for a panel's servers. Of a thousand crashes in a minute, it contains the first five in
 * full, and one line about the others. At level debug, it contains all. `flush` writes the lines
 * about the others at once.
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
   * Counts the event in its kind's minute, which begins with the first event. Returns whether it
   * should be logged in full.
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

/** Logs one line for the events that weren't logged in full. */
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
 * The event as in the full lines: with any cause except a closed socket, the server can't be
 * monitored.
 */
function shownEvent({ event, cause }: ServerEventFields): ServerEvent {
  return event === 'closed' && cause !== undefined && cause !== event ? 'failing' : event;
}

/** The reason and the nodes, unless the event concerns single servers. */
function describeReason({ event, cause }: ServerEventFields, nodes: readonly string[]): string {
  if (cause === undefined) return '';
  const { scope, title } = CAUSES[cause];
  // The event `closed` and the cause `closed` mean the same.
  const why = event === cause ? '' : `: ${title}`;
  const where = scope === 'node' && nodes.length > 0 ? ` on ${firstNames(nodes)}` : '';
  return why + where;
}

function firstNames(names: readonly string[]): string {
  return names.slice(0, NAMES_SHOWN).join(', ') + (names.length > NAMES_SHOWN ? ', …' : '');
}
