import { SERVER_STATES } from '../../domain/server.ts';
import type { LiveField, LiveServer, LiveUpdate } from '../data/live-update.ts';
import type { PanelsStatus } from '../data/panel-status.ts';
import {
  ATTENTION_CODES,
  conditionTitle,
  groupOf,
  STOP_TITLES,
  stateTitle,
  stopWords,
  unclearTitle,
} from '../data/words.ts';

/** The fleet as the stream describes it. */
export class LiveFleet {
  /** In the exporter's order; the objects stay the same while their fields change. */
  readonly servers: readonly LiveServer[];
  /** The exporter's clock, in Unix seconds. */
  time = 0;
  status: PanelsStatus = { panels: [], complaints: [], emptyBecause: '' };
  /** The number of servers with each trait. */
  counts: ReadonlyMap<string, number> = new Map();

  /** Creates the fleet from the event `full`. */
  constructor(full: LiveUpdate) {
    this.servers = Array.from({ length: full.size }, () => ({}) as LiveServer);
    this.apply(full);
  }

  apply({ time, status = this.status, changes }: LiveUpdate): void {
    this.time = time;
    this.status = status;
    for (const [field, places, values] of changes) {
      for (const [index, place] of (places ?? [...values.keys()]).entries()) {
        const server: { -readonly [Name in LiveField]?: unknown } | undefined = this.servers[place];
        if (server !== undefined) server[field] = values[index] ?? undefined;
      }
    }
    const counts = new Map<string, number>();
    for (const trait of this.servers.flatMap(traitsOf)) counts.set(trait, (counts.get(trait) ?? 0) + 1);
    this.counts = counts;
  }

  /** Whether the servers are on several nodes. */
  get hasNodes(): boolean {
    return this.servers.some(({ node }) => node !== this.servers[0]?.node);
  }
}

/** The server's key in the exporter. */
export function keyOf({ panel, server_id: id }: LiveServer): string {
  return `${panel}/${id}`;
}

/** What servers are counted and selected by: a kind and a value, such as `state:running`. */
export function traitsOf({ attention, state, condition, panel }: LiveServer): readonly string[] {
  const isProblem = attention !== undefined && groupOf(attention) !== 'unclear';
  const problems =
    attention === undefined ? [] : [attention, groupOf(attention), ...(isProblem ? ['any'] : [])];
  const of = new Set(problems.map((word) => `attention:${word}`));
  return [`state:${state}`, `condition:${condition}`, `panel:${panel}`, ...of];
}

/** The user's labels as one text. */
export function labelWords({ labels }: LiveServer): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** Whether the server has a problem, even one that isn't counted because there is data. */
export function hasProblem({ complaint }: LiveServer): boolean {
  return complaint !== undefined && complaint.severity !== 'fact';
}

/** The document's title: how many servers run, and before it how many have problems. */
export function titleOf({ servers, counts }: LiveFleet): string {
  const problems = counts.get('attention:any');
  const unclear = counts.get('attention:unclear');
  const others = unclear === undefined ? '' : `, ${unclear} ${unclearTitle(unclear)}`;
  const title = `${counts.get('state:running') ?? 0}/${servers.length} running${others} · Game servers`;
  return problems === undefined ? title : `(${problems}) ${title}`;
}

/** The players of all servers, each once: those of a proxy are on other servers. Undefined if none are known. */
export function playersOf(servers: readonly Pick<LiveServer, 'players' | 'proxy'>[]): number | undefined {
  const known = servers.flatMap(({ players, proxy }) => (proxy === true ? [] : (players ?? [])));
  return known.length === 0 ? undefined : known.reduce((sum, players) => sum + players, 0);
}

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
  uptime: { title: 'Uptime', of: ({ start_time_seconds: at }) => at && -at, isHighestFirst: true },
} as const satisfies Readonly<Record<string, Sort>>;

export type SortKey = keyof typeof SORTS;

export const SORT_KEYS = Object.keys(SORTS) as readonly SortKey[];

/** The two orders by a key, the default one first. */
export function waysOf(key: SortKey): readonly [usual: string, other: string] {
  return 'isHighestFirst' in SORTS[key] ? [`-${key}`, key] : [key, `-${key}`];
}

/** The key of an order, and its direction. */
export function sortingOf(sort: string) {
  const direction = sort.startsWith('-') ? 'descending' : 'ascending';
  return { key: SORT_KEYS.find((key) => key === sort.replace('-', '')), direction } as const;
}

/** Everything that the user chose on the page, under the names of the parameters of its address; empty where nothing was chosen. */
export interface View {
  /** The text to search for. */
  readonly q: string;
  /**
   * The servers to show, those behind one of the page's counts: what they share, and its value, such as `state:running`. For
   * `attention` the value may also be a group of reasons, or `any`.
   */
  readonly show: string;
  /** The key of the order, after a `-` if it is descending; without it, servers with problems come first. */
  readonly sort: string;
  /** The key of the server whose row is open. */
  readonly open: string;
}

/** What each parameter may be. */
const VALID: Readonly<Record<keyof View, RegExp>> = {
  q: /./s,
  show: /^(attention|state|condition|panel):./s,
  sort: new RegExp(`^-?(${SORT_KEYS.join('|')})$`),
  open: /./s,
};

const NAMES = Object.keys(VALID) as readonly (keyof View)[];

/** The view described by a query of the page's address; invalid parameters are ignored. */
export function readView(query: string): View {
  const parameters = new URLSearchParams(query);
  const read = (name: keyof View) => {
    const text = parameters.get(name) ?? '';
    return VALID[name].test(text) ? text : '';
  };
  return { q: read('q'), show: read('show'), sort: read('sort'), open: read('open') };
}

/** The query that describes a view; other parameters are kept. */
export function writeView(view: View, query: string): string {
  const parameters = new URLSearchParams(query);
  for (const name of NAMES) {
    if (view[name] === '') parameters.delete(name);
    else parameters.set(name, view[name]);
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** The view, and what to do when the user chooses another. */
export interface Choice {
  readonly view: View;
  readonly choose: (change: Partial<View>) => void;
}

function traffic({
  network_receive_bytes_per_second: received,
  network_transmit_bytes_per_second: sent,
}: LiveServer): number | undefined {
  return received === undefined ? undefined : received + (sent ?? 0);
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** The servers that a view shows, in order. Servers without a value come last in either direction. */
export function order({ servers }: LiveFleet, { q, show, sort }: Omit<View, 'open'>): readonly LiveServer[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = servers.filter(
    (server) => (show === '' || traitsOf(server).includes(show)) && matches(server, words),
  );
  const { key, direction } = sortingOf(sort);
  const of = key === undefined ? urgencyOf : SORTS[key].of;
  const sign = direction === 'descending' ? -1 : 1;
  const valued = chosen.map((server) => ({ server, value: of(server) }));
  return valued.sort((a, b) => compare(a.value, b.value, sign)).map(({ server }) => server);
}

function compare(a: string | number | undefined, b: string | number | undefined, sign: number): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(`${a}`, `${b}`));
}

/** Servers with problems come first, by urgency and those that aren't counted last; then recent crashes; then as configured. */
function urgencyOf(server: LiveServer): number {
  const { attention, last_crash: crash } = server;
  if (attention !== undefined) return ATTENTION_CODES.indexOf(attention);
  return ATTENTION_CODES.length + (hasProblem(server) ? 0 : crash === undefined ? 2 : 1);
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
    [
      state,
      stateTitle(state, condition),
      condition,
      conditionTitle(condition),
      server.blocked,
      server.source,
    ],
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
 * The lines of a table: servers with the same cause are together, where the first of them is, and behind a line of their own if there
 * are many. They follow it if it is open.
 */
export function linesOf(
  servers: readonly LiveServer[],
  isOpen: (group: ServerGroup) => boolean,
): readonly Line[] {
  const groups = new Map<string, [LiveServer, ...LiveServer[]]>();
  for (const server of servers) {
    const key = server.attention !== undefined || hasProblem(server) ? causeKey(server) : keyOf(server);
    const same = groups.get(key);
    if (same === undefined) groups.set(key, [server]);
    else same.push(server);
  }
  return [...groups].flatMap(([key, same]): readonly Line[] => {
    if (same.length < GROUPED_FROM) return same;
    const group = { key, servers: same };
    return [[group], isOpen(group) ? same : []].flat();
  });
}

/**
 * The same for servers with the same cause. A node that is down shows in several ways, and is another cause than another node; what
 * is a server's own is the same on every panel.
 */
function causeKey({ attention, complaint, scope = 'server', panel, node }: LiveServer): string {
  const isOfNode = scope === 'node';
  const where = scope === 'server' ? [] : [panel, isOfNode ? node : ''];
  const what = isOfNode && attention === 'no_data' ? [attention] : [complaint?.title, complaint?.action];
  return [scope, ...where, complaint?.severity, ...what].join('\n');
}
