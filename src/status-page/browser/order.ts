import { SERVER_STATES } from '../../domain/server.ts';
import { ATTENTION, groupOf } from '../data/attention.ts';
import type { LiveServer } from '../data/live-server.ts';
import { stopWords, troubleText } from '../data/trouble.ts';
import { conditionTitle, stateTitle } from '../data/words.ts';
import { hasProblem, type LiveFleet } from './live-fleet.ts';
import type { Filter, ServerSelection } from './view.ts';

/** The table's sort keys: words and numbers, anything that a row or its details show. */
const WORD_KEYS = ['name', 'panel', 'node', 'egg', 'labels', 'condition', 'trouble'] as const;
export const NUMBER_KEYS = [
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
export function order(fleet: LiveFleet, selection: ServerSelection): LiveServer[] {
  const chosen = chosenServers(fleet, selection);
  const { sorting } = selection;
  if (sorting === undefined) return byAttention(chosen);
  const sign = sorting.isDescending ? -1 : 1;
  const word = WORD_KEYS.find((key) => key === sorting.key);
  if (word !== undefined) {
    const texts = chosen.map((server) => ({ server, text: wordOf(fleet, server, word) }));
    texts.sort((a, b) => compareWords(a.text, b.text, sign));
    return texts.map(({ server }) => server);
  }
  const values = chosen.map((server) => ({
    server,
    value: measure(fleet, server, sorting.key as NumberKey),
  }));
  values.sort((a, b) => compareNumbers(a.value, b.value, sign));
  return values.map(({ server }) => server);
}

/** Servers with problems first, by urgency and those that aren't counted last; then in the order of the configuration. */
function byAttention(servers: readonly LiveServer[]): LiveServer[] {
  const counted = ATTENTION.flatMap((reason) => servers.filter(({ attention }) => attention === reason));
  const others = servers.filter(({ attention }) => attention === undefined);
  const isFine = (server: LiveServer) => !hasProblem(server);
  return [...counted, ...others.filter(hasProblem), ...others.filter(isFine)];
}

function chosenServers(fleet: LiveFleet, { search, filter }: ServerSelection): readonly LiveServer[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return fleet.servers.filter(
    (server) =>
      (filter === undefined || passes(server, filter)) &&
      (words.length === 0 || matches(fleet, server, words)),
  );
}

function passes(server: LiveServer, { kind, word }: Filter): boolean {
  const { attention } = server;
  if (kind !== 'attention') return server[kind] === word;
  return attention !== undefined && (word === 'any' || word === attention || word === groupOf(attention));
}

/** Every word must occur somewhere in the server's visible texts. */
function matches(fleet: LiveFleet, server: LiveServer, words: readonly string[]): boolean {
  const { panel, server_id, uuid, server: name, node, egg, labels } = server;
  const known = [name, panel, server_id, uuid, node, egg, labels].map((text) => text ?? '');
  const text = [...known, ...shownWords(fleet, server)].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}

/**
 * State, condition and trouble: their displayed names, and their codes, because the page and the metrics use different names for
 * some.
 */
function shownWords(fleet: LiveFleet, server: LiveServer): readonly string[] {
  const { state, condition, last_stop: stop } = server;
  const trouble = fleet.troubleAt(server);
  return [
    state,
    stateTitle(state),
    condition,
    conditionTitle(condition),
    server.blocked ?? '',
    server.source ?? '',
    server.attention ?? '',
    server.cause ?? '',
    trouble === undefined ? '' : troubleText(trouble),
    fleet.troubleWords(server),
    stop === undefined ? '' : stopWords(stop),
    fleet.crashBeside(server)?.title ?? '',
  ];
}

function wordOf(fleet: LiveFleet, server: LiveServer, key: WordKey): string {
  switch (key) {
    case 'name':
      return server.server;
    case 'condition':
      return server.blocked ?? conditionTitle(server.condition);
    case 'trouble':
      return fleet.troubleAt(server)?.title ?? '';
    default:
      return server[key] ?? '';
  }
}

/** Undefined if unknown. */
function measure(fleet: LiveFleet, server: LiveServer, key: NumberKey): number | undefined {
  switch (key) {
    case 'state':
      return SERVER_STATES.indexOf(server.state);
    case 'cpu':
      return server.cpu_usage_cores;
    case 'memory':
      return server.memory_usage_bytes;
    case 'disk':
      return server.disk_usage_bytes;
    case 'network':
      return sum(server.network_receive_bytes_per_second, server.network_transmit_bytes_per_second);
    case 'age':
      return fleet.age(server);
    case 'uptime':
      return server.start_time_seconds === undefined
        ? undefined
        : Math.max(0, fleet.time - server.start_time_seconds);
    case 'starts':
      return server.starts_total;
    case 'stopped':
      return server.last_stop?.timestamp_seconds;
    default:
      return server[key];
  }
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);
}

function compareNumbers(a: number | undefined, b: number | undefined, sign: number): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  return (a - b) * sign;
}

function compareWords(a: string, b: string, sign: number): number {
  if (a === '' || b === '') return a === b ? 0 : a === '' ? 1 : -1;
  return collator.compare(a, b) * sign;
}
