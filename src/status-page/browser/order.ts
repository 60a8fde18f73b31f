import { ATTENTION } from '../data/attention.ts';
import { SOURCES } from '../data/protocol.ts';
import { troubleText } from '../data/trouble.ts';
import { conditionTitle, stateTitle } from '../data/words.ts';
import { type LiveFleet, troubleWords } from './live-fleet.ts';
import type { Filter, ServerSelection } from './view.ts';

/** The table's sort keys: words and numbers, anything that a row or its details show. */
const WORD_KEYS = ['name', 'panel', 'node', 'egg', 'labels', 'condition', 'trouble'] as const;
const NUMBER_KEYS = [
  'state',
  'cpu',
  'memory',
  'disk',
  'network',
  'players',
  'age',
  'uptime',
  'starts',
  'crashes',
  'stopped',
  'backups',
] as const;
export const SORT_KEYS = [...WORD_KEYS, ...NUMBER_KEYS] as const;

type WordKey = (typeof WORD_KEYS)[number];
type NumberKey = (typeof NUMBER_KEYS)[number];
export type SortKey = WordKey | NumberKey;

/** How the table is sorted; without it, by attention. */
export interface Sorting {
  readonly key: SortKey;
  readonly isDescending: boolean;
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** The servers of a selection, in order. Servers without a value come last in either direction. */
export function order(fleet: LiveFleet, selection: ServerSelection): number[] {
  const chosen = chosenServers(fleet, selection);
  const { sorting } = selection;
  if (sorting === undefined) return byAttention(fleet, chosen);
  const sign = sorting.isDescending ? -1 : 1;
  const word = WORD_KEYS.find((key) => key === sorting.key);
  if (word !== undefined) {
    const texts = chosen.map((server) => ({ server, text: wordOf(fleet, server, word) }));
    texts.sort((a, b) => compareWords(a.text, b.text, sign) || a.server - b.server);
    return texts.map(({ server }) => server);
  }
  const values = chosen.map((server) => ({
    server,
    value: measure(fleet, server, sorting.key as NumberKey),
  }));
  values.sort((a, b) => compareNumbers(a.value, b.value, sign) || a.server - b.server);
  return values.map(({ server }) => server);
}

/** Servers that need attention first, by urgency, then in the order of the configuration. */
function byAttention(fleet: LiveFleet, servers: readonly number[]): number[] {
  const groups: number[][] = [...ATTENTION, undefined].map(() => []);
  for (const server of servers) {
    const place = fleet.value('attention', server);
    groups[place < 0 ? ATTENTION.length : place]?.push(server);
  }
  return groups.flat();
}

function chosenServers(fleet: LiveFleet, { search, filter }: ServerSelection): number[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen: number[] = [];
  for (let server = 0; server < fleet.size; server += 1) {
    if (filter !== undefined && !passes(fleet, server, filter)) continue;
    if (words.length > 0 && !matches(fleet, server, words)) continue;
    chosen.push(server);
  }
  return chosen;
}

function passes(fleet: LiveFleet, server: number, { kind, word }: Filter): boolean {
  switch (kind) {
    case 'attention': {
      const attention = fleet.attention(server);
      return word === 'any' ? attention !== undefined : attention === word;
    }
    case 'state':
      return fleet.state(server) === word;
    case 'condition':
      return fleet.condition(server) === word;
    case 'panel':
      return fleet.full.servers.panel[server] === word;
  }
}

/** Every word must occur somewhere in the server's visible texts. */
function matches(fleet: LiveFleet, server: number, words: readonly string[]): boolean {
  const { panel, id, uuid, name, egg, labels } = fleet.full.servers;
  const lists = [name, panel, id, uuid, fleet.node, egg, labels];
  const known = lists.map((list) => list[server] ?? '');
  const text = [...known, ...shownWords(fleet, server)].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}

/**
 * State, condition and trouble: their displayed names, and their codes, because the page and the metrics use different names for
 * some.
 */
function shownWords(fleet: LiveFleet, server: number): readonly string[] {
  const [state, condition] = [fleet.state(server), fleet.condition(server)];
  const trouble = fleet.troubleAt(server);
  return [
    state,
    stateTitle(state),
    condition,
    conditionTitle(condition),
    fleet.blocked(server) ?? '',
    SOURCES[fleet.value('source', server)] ?? '',
    fleet.attention(server) ?? '',
    fleet.problem(server)?.cause ?? '',
    trouble === undefined ? '' : troubleText(trouble),
    troubleWords(fleet, server),
    fleet.lastStopWords(server),
    fleet.crashBeside(server)?.title ?? '',
  ];
}

function wordOf(fleet: LiveFleet, server: number, key: WordKey): string {
  switch (key) {
    case 'node':
      return fleet.node[server] ?? '';
    case 'condition':
      return fleet.blocked(server) ?? conditionTitle(fleet.condition(server));
    case 'trouble':
      return fleet.troubleAt(server)?.title ?? '';
    default:
      return fleet.full.servers[key][server] ?? '';
  }
}

function measure(fleet: LiveFleet, server: number, key: NumberKey): number {
  if (key === 'age') return fleet.age(server) ?? -1;
  if (key === 'uptime') {
    const started = fleet.value('started', server);
    return started < 0 ? -1 : Math.max(0, fleet.time - started);
  }
  if (key !== 'network') return fleet.value(key, server);
  const receive = fleet.value('receive', server);
  const transmit = fleet.value('transmit', server);
  return receive < 0 && transmit < 0 ? -1 : Math.max(0, receive) + Math.max(0, transmit);
}

function compareNumbers(a: number, b: number, sign: number): number {
  if (a < 0 || b < 0) return a < 0 && b < 0 ? 0 : a < 0 ? 1 : -1;
  return (a - b) * sign;
}

function compareWords(a: string, b: string, sign: number): number {
  if (a === '' || b === '') return a === b ? 0 : a === '' ? 1 : -1;
  return collator.compare(a, b) * sign;
}
