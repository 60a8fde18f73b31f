import { CAUSES, shortTitle } from '../diagnosis/causes.ts';
import type { ServerEvent } from '../domain/log.ts';
import { type Digest, type EventGroup, type EventLevel, SERVERS_NAMED } from './event-digest.ts';

/** The words of a summary for one server and for several. */
interface EventWords {
  readonly one: string;
  readonly many: string;
  /** What the exporter does about it. */
  readonly next?: string;
  /** The words to use once it is over, if the usual ones would suggest that it continues. */
  readonly past?: { readonly one: string; readonly many: string };
}

/** The words of every event. */
export const EVENT_WORDS: Readonly<Record<ServerEvent, EventWords>> = {
  streaming: { one: 'socket open', many: 'sockets open' },
  streaming_again: { one: 'socket open again', many: 'sockets open again' },
  polling: { one: 'server polled', many: 'servers polled' },
  polling_again: { one: 'server polled again', many: 'servers polled again' },
  closed: { one: 'socket closed', many: 'sockets closed', next: 'reconnecting' },
  failing: {
    one: "server can't be observed",
    many: "servers can't be observed",
    next: 'retrying',
    past: { one: 'server was not observed', many: 'servers were not observed' },
  },
  fallback: {
    one: 'server polled while its socket fails',
    many: 'servers polled while their sockets fail',
    past: { one: 'server was polled', many: 'servers were polled' },
  },
  blocked: {
    one: 'server blocked',
    many: 'servers blocked',
    past: { one: 'server was blocked', many: 'servers were blocked' },
  },
  moved: { one: 'socket moved to another host', many: 'sockets moved to other hosts' },
  crashed: { one: 'server crashed', many: 'servers crashed' },
  out_of_memory: { one: 'server crashed (out of memory)', many: 'servers crashed (out of memory)' },
  disk_full: {
    one: 'server stopped by its node (disk full)',
    many: 'servers stopped by their nodes (disk full)',
  },
  query_failed: {
    one: 'running server not answering queries',
    many: 'running servers not answering queries',
  },
  query_answered: { one: 'server answers queries again', many: 'servers answer queries again' },
};

/** How an event ended, appended to what happened. */
const ENDS: Partial<Readonly<Record<ServerEvent, string>>> = {
  streaming: 'open again',
  streaming_again: 'open again',
  polling: 'polled again',
  polling_again: 'polled again',
  query_answered: 'answering again',
};

/** The most kinds of events, and the most nodes by name, that a summary mentions. */
const KINDS_NAMED = 3;
const NODES_NAMED = 3;

/** A summary as a log line. */
export interface SummaryLine {
  readonly level: EventLevel;
  readonly fields: object;
  readonly message: string;
}

/** One line for everything that was held back about a panel's servers. */
export function summaryLine(panel: string, { groups, events }: Digest & { type: 'groups' }): SummaryLine {
  const named = groups.slice(0, KINDS_NAMED);
  const rest = events - named.reduce((sum, group) => sum + group.events, 0);
  const parts = named.map(describe);
  if (rest > 0) parts.push(`${rest} other events`);
  const [main] = groups;
  const [node, ...others] = main === undefined ? [] : [...main.nodes.keys()];
  return {
    level: main?.level ?? 'info',
    fields: {
      panel,
      event: main?.event,
      cause: main?.cause,
      node: others.length === 0 ? node : undefined,
      servers: groups.reduce((sum, { servers }) => sum + servers, 0),
      events,
      first: main?.names,
    },
    message: parts.join('; also '),
  };
}

function describe(group: EventGroup): string {
  const { event, end, servers, names } = group;
  const words = EVENT_WORDS[event];
  const { one, many } = (end === undefined ? undefined : words.past) ?? words;
  const next = end === undefined ? words.next : ENDS[end];
  const first = names.slice(0, SERVERS_NAMED).join(', ') + (servers > SERVERS_NAMED ? ', …' : '');
  return `${servers} ${servers === 1 ? one : many}${reasonOf(group)}${next === undefined ? '' : `; ${next}`}: ${first}`;
}

/** The reason, in parentheses, with the nodes affected if the problem concerns nodes. */
function reasonOf({ event, cause, nodes }: EventGroup): string {
  if (cause === undefined) return '';
  const { scope, title } = CAUSES[cause];
  const [node, ...others] = [...nodes.keys()];
  if (scope !== 'node' || node === undefined) return ` (${scope === 'server' ? shortTitle(cause) : title})`;
  const isNamed = event === cause;
  if (others.length > 0) {
    const names =
      [node, ...others].slice(0, NODES_NAMED).join(', ') + (nodes.size > NODES_NAMED ? ', …' : '');
    const on = `${nodes.size} nodes: ${names}`;
    return isNamed ? ` (${on})` : ` (${title}, ${on})`;
  }
  if (isNamed) return ` (node ${node})`;
  const short = shortTitle(cause);
  return short !== title ? ` (node ${node} ${short})` : ` (${title}, node ${node})`;
}
