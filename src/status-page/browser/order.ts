import { SERVER_STATES } from '../../domain/server.ts';
import { ATTENTION_CODES, groupOf } from '../data/attention.ts';
import type { LiveServer } from '../data/live-server.ts';
import { conditionTitle, STOP_TITLES, stateTitle, stopWords } from '../data/words.ts';
import { hasProblem, type LiveFleet, labelWords } from './live-fleet.ts';
import type { View } from './view.ts';

interface Sort {
  readonly title: string;
  readonly of: (server: LiveServer) => string | number | undefined;
  readonly isHighestFirst?: true;
}

/** What the table can be sorted by: the name of the order, and what is compared; undefined if unknown. */
export const SORTS = {
  name: { title: 'Server', of: (server) => server.server },
  node: { title: 'Node', of: (server) => server.node },
  state: { title: 'State', of: (server) => SERVER_STATES.indexOf(server.state) },
  cpu: { title: 'CPU', of: (server) => server.cpu_usage_cores, isHighestFirst: true },
  memory: { title: 'Memory', of: (server) => server.memory_usage_bytes, isHighestFirst: true },
  disk: { title: 'Disk', of: (server) => server.disk_usage_bytes, isHighestFirst: true },
  network: { title: 'Network', of: traffic, isHighestFirst: true },
  players: { title: 'Players', of: (server) => server.players, isHighestFirst: true },
  // The latest start has the shortest uptime.
  uptime: { title: 'Uptime', of: (server) => negative(server.start_time_seconds), isHighestFirst: true },
} as const satisfies Readonly<Record<string, Sort>>;

export type SortKey = keyof typeof SORTS;

export const SORT_KEYS = Object.keys(SORTS) as readonly SortKey[];

/** The sorting after a column is chosen: first its default direction, then the other, then none. */
export function nextSorting(now: string, key: SortKey): string {
  const ways = 'isHighestFirst' in SORTS[key] ? [`-${key}`, key] : [key, `-${key}`];
  return [...ways, ''][ways.indexOf(now) + 1] ?? '';
}

/** The key of a sorting, and its direction. */
export function sortingOf(sort: string): {
  readonly key: SortKey | undefined;
  readonly isDescending: boolean;
} {
  const isDescending = sort.startsWith('-');
  return { key: SORT_KEYS.find((key) => key === sort.slice(isDescending ? 1 : 0)), isDescending };
}

function traffic(server: LiveServer): number | undefined {
  const { network_receive_bytes_per_second: received, network_transmit_bytes_per_second: sent } = server;
  return received === undefined && sent === undefined ? undefined : (received ?? 0) + (sent ?? 0);
}

function negative(value: number | undefined): number | undefined {
  return value === undefined ? undefined : -value;
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** What decides which servers are shown, and in which order. */
export type Selection = Pick<View, 'q' | 'show' | 'sort'>;

/** The servers of a selection, in order. Servers without a value come last in either direction. */
export function order({ servers }: LiveFleet, { q, show, sort }: Selection): readonly LiveServer[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = servers.filter((server) => passes(server, show) && matches(server, words));
  const { key, isDescending } = sortingOf(sort);
  if (key === undefined) return byAttention(chosen);
  const { of } = SORTS[key];
  const sign = isDescending ? -1 : 1;
  const valued = chosen.map((server) => ({ server, value: of(server) }));
  return valued.sort((a, b) => compare(a.value, b.value, sign)).map(({ server }) => server);
}

function compare(a: string | number | undefined, b: string | number | undefined, sign: number): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(`${a}`, `${b}`));
}

/** Servers with problems first, by urgency and those that aren't counted last; then recent crashes; then as configured. */
function byAttention(servers: readonly LiveServer[]): readonly LiveServer[] {
  const rank = (server: LiveServer) => {
    const { attention, last_crash: crash } = server;
    if (attention !== undefined) return ATTENTION_CODES.indexOf(attention);
    return ATTENTION_CODES.length + (hasProblem(server) ? 0 : crash === undefined ? 2 : 1);
  };
  const ranked = servers.map((server) => ({ server, rank: rank(server) }));
  return ranked.sort((one, other) => one.rank - other.rank).map(({ server }) => server);
}

function passes(server: LiveServer, show: string): boolean {
  if (show === '') return true;
  const { attention, state, condition, panel } = server;
  const groups = attention === undefined ? [] : ['any', attention, groupOf(attention)];
  const shared = [`state:${state}`, `condition:${condition}`, `panel:${panel}`];
  return [...shared, ...groups.map((word) => `attention:${word}`)].includes(show);
}

/**
 * Every word must occur somewhere in the server's texts: those that the page shows, and codes, because the page and the metrics use
 * different names for some.
 */
function matches(server: LiveServer, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { state, condition, complaint, last_stop: stop, last_crash: crash } = server;
  const known = [
    [server.server, server.panel, server.server_id, server.uuid, server.node, server.egg, labelWords(server)],
    [state, stateTitle(state), condition, conditionTitle(condition), server.blocked, server.source],
    [server.attention, server.cause, complaint?.title, complaint?.action, complaint?.detail],
    [stop && stopWords(stop), crash && STOP_TITLES[crash.reason]],
  ];
  const text = known.flat().join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}

/** This many servers with the same cause share a line of the table. */
export const GROUPED_FROM = 5;

/** Servers with the same cause. */
export interface ServerGroup {
  /** Different for each cause. */
  readonly key: string;
  readonly servers: readonly [LiveServer, ...LiveServer[]];
}

/** A line of the table. */
export type Line = LiveServer | ServerGroup;

export function isGroup(line: Line): line is ServerGroup {
  return 'servers' in line;
}

/**
 * The lines of a table: servers with the same cause are together behind a line of their own, where the first of them is. They follow
 * it if it is open.
 */
export function linesOf(
  servers: readonly LiveServer[],
  isOpen: (group: ServerGroup) => boolean,
): readonly Line[] {
  const groups = new Map<string, [LiveServer, ...LiveServer[]]>();
  for (const server of servers.filter(hasProblem)) {
    const key = causeKey(server);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [server]);
    else group.push(server);
  }
  return servers.flatMap((server): readonly Line[] => {
    const key = causeKey(server);
    const same = hasProblem(server) ? groups.get(key) : undefined;
    if (same === undefined || same.length < GROUPED_FROM) return [server];
    if (server !== same[0]) return [];
    const group = { key, servers: same };
    return isOpen(group) ? [group, ...group.servers] : [group];
  });
}

/** The same for servers with the same cause. A node that is down shows in several ways, and is another cause than another node. */
function causeKey({ attention, complaint, scope, panel, node }: LiveServer): string {
  const isOfNode = scope === 'node';
  const what = isOfNode && attention === 'no_data' ? attention : complaint?.title;
  return [panel, isOfNode ? node : undefined, complaint?.severity, what].join('\n');
}
