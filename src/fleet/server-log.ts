import { CAUSES, shortTitle, withRemedy } from '../diagnosis/causes.ts';
import type { Problem } from '../domain/problems.ts';
import type { ServerReading } from '../domain/reading.ts';
import { printable } from '../domain/secrets.ts';
import { NAMES_SHOWN } from '../domain/sentences.ts';
import type { CollectionMode } from '../domain/server.ts';
import {
  type Logger,
  SERVER_EVENTS,
  type ServerEvent,
  type ServerEventFields,
  subjectOf,
} from '../domain/telemetry.ts';
import type { Cancel, Clock } from '../domain/time.ts';
import type { ConditionChange, SessionLog } from '../session/session-context.ts';
import type { Stop } from './power.ts';

type EventLevel = 'info' | 'warn' | 'error';

/** The events of one kind, with the same cause if they have one, within a minute. */
interface Minute {
  readonly level: EventLevel;
  readonly cancel: Cancel;
  total: number;
  /** The latest event that isn't logged in full of each server, by the servers' ids. */
  readonly others: Map<string, ServerEventFields>;
}

const MINUTE_MS = 60_000;

/** This many events of a kind are logged in full per minute; the others are counted. */
export const FULL_LINES = 5;

/**
 * The log of a panel's servers. The first few events of a kind are logged in full and the others of that minute as one line with
 * their number, so that thousands of servers, or their outage, don't fill the disk. Kinds are counted separately, so that no
 * event hides another. At level debug every event is logged. `flush` logs how many events were counted so far.
 */
export function serverLog(log: Logger, clock: Pick<Clock, 'schedule'>): Logger & { flush(): void } {
  const minutes = new Map<string, Minute>();

  function end(kind: string): void {
    const minute = minutes.get(kind);
    minute?.cancel();
    minutes.delete(kind);
    if (minute !== undefined) writeOthers(log, minute);
  }

  /** Counts the event in the minute of its kind, which begins with the first; true if it should be logged in full. */
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
  const words = SERVER_EVENTS[shownEvent(first)];
  const events = total - FULL_LINES;
  const names = all.map(({ server }) => server);
  const nodes = [...new Set(all.flatMap(({ node }) => node ?? []))];
  const what = others.size === 1 ? words.one : words.many;
  const times = events > others.size ? `, ${events} times` : '';
  const ending = 'next' in words ? `; ${words.next}` : '';
  const node = nodes.length === 1 ? nodes[0] : undefined;
  log[level](
    { panel, event, cause, node, servers: others.size, events, first: names.slice(0, NAMES_SHOWN) },
    `${others.size} more ${what}${times} (${listed(names)})${reasonOf(first, nodes)}${ending}`,
  );
}

function isOfServer(fields: object): fields is ServerEventFields {
  return 'event' in fields && 'server_id' in fields;
}

/** As in the lines in full: with another cause than a closed socket, the server can't be monitored. */
function shownEvent({ event, cause }: ServerEventFields): ServerEvent {
  return event === 'closed' && cause !== undefined && cause !== event ? 'failing' : event;
}

/** Why it happened, and on which nodes, unless it concerns single servers. */
function reasonOf({ event, cause }: ServerEventFields, nodes: readonly string[]): string {
  if (cause === undefined) return '';
  const { scope, title } = CAUSES[cause];
  // The event `closed` means the same as the cause `closed`.
  const why = event === cause ? '' : `: ${title}`;
  const where = scope === 'node' && nodes.length > 0 ? ` on ${listed(nodes)}` : '';
  return why + where;
}

function listed(names: readonly string[]): string {
  return names.slice(0, NAMES_SHOWN).join(', ') + (names.length > NAMES_SHOWN ? ', …' : '');
}

/** What the log says about a server; without an event if that isn't worth counting. */
interface SessionLine {
  readonly event?: ServerEvent;
  readonly level: 'debug' | 'info' | 'warn';
  readonly words: string;
}

/**
 * Logs one line when a server's condition changes, and when its socket moves. A problem of the panel or its API key is logged once
 * for all servers, so the line of each server is only at level debug; a fact such as a suspension is not a warning.
 */
export function sessionLog(log: Logger): SessionLog {
  return {
    conditionChanged: ({ target, node }, change) => {
      const { condition, problem } = change.now;
      const { event, level, words } = lineOf(change, target.mode);
      const { cause, detail } = problem ?? {};
      const fields = { ...subjectOf(target, node), event, condition, cause, detail };
      log[level](fields, `server ${target.name}${words}`);
    },
    socketMoved: ({ target, node }, from, to) => {
      const fields = { ...subjectOf(target, node), event: 'moved', from, to };
      log.info(fields, `server ${target.name}: socket moved from ${from} to ${to}`);
    },
  };
}

function lineOf({ before, now, hasStreamed }: ConditionChange, mode: CollectionMode): SessionLine {
  const { condition, problem, blocked } = now;
  const wasLost = before.condition === 'failing' || before.condition === 'blocked';
  const wasFallback = before.condition === 'polling' && before.problem !== undefined;
  const again = wasLost || (condition === 'streaming' && (wasFallback || hasStreamed)) ? ' again' : '';
  if (condition === 'polling' && problem !== undefined)
    return { event: 'fallback', level: 'info', words: ' is polled' };
  if (condition === 'streaming' || condition === 'polling') {
    // That a server is polled until its socket opens is planned.
    const level = condition === 'streaming' || mode === 'poll' ? 'info' : 'debug';
    const words = ` is ${condition === 'polling' ? 'polled' : condition}${again}`;
    return { event: again ? `${condition}_again` : condition, level, words };
  }
  if (problem === undefined || (condition !== 'failing' && condition !== 'blocked'))
    return { level: 'debug', words: ` is ${condition}` };
  if (condition === 'failing') {
    const event = before.condition === 'streaming' ? 'closed' : 'failing';
    const words =
      problem.cause === 'closed'
        ? `: ${problem.detail}; reconnecting`
        : ` can't be monitored: ${withRemedy(problem)}`;
    return { event, level: levelOf(problem), words };
  }
  // A failure was logged with this cause: that the polls are refused for it as well is no second warning.
  const isRepeated = before.condition === 'failing' && before.problem?.cause === problem.cause;
  const reason = blocked ?? shortTitle(problem.cause);
  // The panel's own message often contains the state already.
  const named = problem.detail.toLowerCase().includes(reason) ? '' : ` (${reason})`;
  const words = ` is blocked${named}: ${withRemedy(problem)}`;
  return { event: 'blocked', level: isRepeated ? 'debug' : levelOf(problem), words };
}

function levelOf({ cause }: Problem): SessionLine['level'] {
  const { scope, severity } = CAUSES[cause];
  if (scope === 'panel' || scope === 'key') return 'debug';
  // A socket that was closed is reconnected at once: if that fails, the cause of that failure is the warning.
  return severity === 'fact' || cause === 'closed' ? 'info' : 'warn';
}

/** Logs a stop that is a problem. */
export function logStop(
  log: Logger,
  { target, node }: Pick<ServerReading, 'target' | 'node'>,
  stop: Stop,
): void {
  const { reason, exitCode, words: said } = stop;
  const isCrash = reason === 'crashed' || reason === 'out_of_memory';
  const code = exitCode === undefined ? [] : [`exit code ${exitCode}`];
  const facts = reason === 'out_of_memory' ? [...code, 'out of memory'] : code;
  const why = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const warn = (event: ServerEvent, words: string) =>
    log.warn({ ...subjectOf(target, node), event, exitCode }, `server ${target.name} ${words}`);
  if (reason === 'disk_full') warn(reason, 'was stopped by its node: disk limit exceeded');
  // An event of its own: otherwise, a summary would hide it among many crashes.
  else if (said.includes('restart aborted')) {
    warn('gave_up', `${isCrash ? 'crashed' : 'stopped by itself'}${why}; the node gave up restarting it`);
  } else if (said.includes('restart disabled')) {
    warn('gave_up', 'stopped by itself; crash detection is disabled, so the node does not restart it');
  } else if (isCrash) warn(reason, `crashed${why}; the node is restarting it`);
}

/** So many words for unknown states are logged for a panel: it may invent them. */
const MAX_UNKNOWN_STATES = 10;

/** Logs each state that the exporter doesn't know, once for a panel. */
export function unknownStateLog(log: Logger) {
  const seen = new Set<string>();
  return ({ target, node }: Pick<ServerReading, 'target' | 'node'>, word: string): void => {
    const state = printable(word);
    if (seen.has(state) || seen.size >= MAX_UNKNOWN_STATES) return;
    seen.add(state);
    const shown = `unknown state "${state}", shown as unknown; its data is shown as usual`;
    log.warn({ ...subjectOf(target, node), state }, `server ${target.name}: ${shown}`);
  };
}
