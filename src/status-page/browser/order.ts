import type { LiveFleet } from './live-fleet.ts';

/** What the table can be sorted by. */
export const SORT_KEYS = ['name', 'state', 'cpu', 'memory', 'disk', 'network', 'age', 'trouble'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** How the table is sorted; as configured where it isn't. */
export interface Sorting {
  readonly key: SortKey;
  readonly isDescending: boolean;
}

/** Which servers are shown, in which order. */
export interface ServerSelection {
  readonly search: string;
  /** Words that a server must show as its state or condition; any where there is none. */
  readonly state: string | undefined;
  readonly condition: string | undefined;
  readonly sorting: Sorting | undefined;
}

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** The servers of a selection, in its order. Those of which nothing is known come last, either way. */
export function order(fleet: LiveFleet, selection: ServerSelection): number[] {
  const { sorting } = selection;
  const chosen = chosenServers(fleet, selection);
  if (sorting === undefined) return chosen;
  const { key } = sorting;
  const sign = sorting.isDescending ? -1 : 1;
  if (key === 'name' || key === 'trouble') {
    const words = key === 'name' ? fleet.full.servers.name : fleet.trouble;
    return chosen.sort((a, b) => byWords(words[a] ?? '', words[b] ?? '', sign) || a - b);
  }
  const values = chosen.map((server) => ({ server, value: measure(fleet, server, key) }));
  values.sort((a, b) => byNumbers(a.value, b.value, sign) || a.server - b.server);
  return values.map(({ server }) => server);
}

function chosenServers(fleet: LiveFleet, { search, state, condition }: ServerSelection): number[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen: number[] = [];
  for (let server = 0; server < fleet.size; server += 1) {
    if (state !== undefined && fleet.state(server) !== state) continue;
    if (condition !== undefined && fleet.condition(server) !== condition) continue;
    if (words.length > 0 && !matches(fleet, server, words)) continue;
    chosen.push(server);
  }
  return chosen;
}

/** Every word must be somewhere in what is known of the server. */
function matches(fleet: LiveFleet, server: number, words: readonly string[]): boolean {
  const { panel, id, uuid, name, egg, labels } = fleet.full.servers;
  const lists = [name, panel, id, uuid, fleet.node, egg, labels, fleet.trouble];
  const known = lists.map((list) => list[server] ?? '');
  const text = [
    ...known,
    fleet.state(server),
    fleet.condition(server),
    fleet.blocked(server) ?? '',
    causeText(fleet, server),
  ]
    .join('\n')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

/** What the page says of the server's cause, beside the detail. */
function causeText(fleet: LiveFleet, server: number): string {
  const problem = fleet.problem(server);
  return problem === undefined ? '' : `${problem.cause} ${problem.title}`;
}

function measure(fleet: LiveFleet, server: number, key: Exclude<SortKey, 'name' | 'trouble'>): number {
  if (key === 'age') return fleet.age(server) ?? -1;
  if (key !== 'network') return fleet.value(key, server);
  const receive = fleet.value('receive', server);
  const transmit = fleet.value('transmit', server);
  return receive < 0 && transmit < 0 ? -1 : Math.max(0, receive) + Math.max(0, transmit);
}

function byNumbers(a: number, b: number, sign: number): number {
  if (a < 0 || b < 0) return a < 0 && b < 0 ? 0 : a < 0 ? 1 : -1;
  return (a - b) * sign;
}

function byWords(a: string, b: string, sign: number): number {
  if (a === '' || b === '') return a === b ? 0 : a === '' ? 1 : -1;
  return names.compare(a, b) * sign;
}
