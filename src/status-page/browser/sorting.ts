// The orders of the table.
import { SERVER_STATES } from '../../domain/power-states.ts';
import type { LiveServer } from '../data/live-fields.ts';

interface Sort {
  readonly title: string;
  readonly of: (server: LiveServer) => string | number | undefined;
  readonly isHighestFirst?: true;
}

/**
 * The sortable columns: the name of the order, and the compared value, which is undefined if
 * unknown.
 */
export const SORTS = {
  name: { title: 'Server', of: (server) => server.server },
  node: { title: 'Node', of: (server) => server.node },
  state: { title: 'State', of: (server) => SERVER_STATES.indexOf(server.state) },
  cpu: { title: 'CPU', of: (server) => server.cpu_usage_cores, isHighestFirst: true },
  memory: { title: 'Memory', of: (server) => server.memory_usage_bytes, isHighestFirst: true },
  disk: { title: 'Disk', of: (server) => server.disk_usage_bytes, isHighestFirst: true },
  network: { title: 'Network', of: traffic, isHighestFirst: true },
  players: { title: 'Players', of: (server) => server.players, isHighestFirst: true },
  // The latest start is the shortest uptime.
  uptime: { title: 'Uptime', of: ({ start_time_seconds: at }) => at && -at, isHighestFirst: true },
} as const satisfies Readonly<Record<string, Sort>>;

export type SortKey = keyof typeof SORTS;

export const SORT_KEYS = Object.keys(SORTS) as readonly SortKey[];

/** The two directions of a key, the default one first. */
export function directions(key: SortKey): readonly [usual: string, other: string] {
  return 'isHighestFirst' in SORTS[key] ? [`-${key}`, key] : [key, `-${key}`];
}

/** The key and the direction of an order. */
export function parseSort(sort: string) {
  const direction = sort.startsWith('-') ? 'descending' : 'ascending';
  return { key: SORT_KEYS.find((key) => key === sort.replace('-', '')), direction } as const;
}

function traffic({
  network_receive_bytes_per_second: received,
  network_transmit_bytes_per_second: sent,
}: LiveServer): number | undefined {
  return received === undefined ? undefined : received + (sent ?? 0);
}
