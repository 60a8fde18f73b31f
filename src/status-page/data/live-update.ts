import { CAUSES } from '../../diagnosis/causes.ts';
import { FIELD_ENTRIES, type FIELDS } from '../../domain/fields.ts';
import {
  type ChartSeries,
  type RecentHistory,
  type ServerReading,
  type Snapshot,
  STEP_SECONDS,
  type StopCounts,
} from '../../domain/reading.ts';
import { identityOf } from '../../domain/server.ts';
import { attentionOf, complaintOf, problemOf, recentCrash } from './complaint.ts';
import { type BoardSource, type PanelsStatus, panelsStatus } from './panel-status.ts';

/** Items per block of text: few enough that a block of the most expensive items takes less than a millisecond. */
const BLOCK_ITEMS = 16;

/** The items in blocks, each a bounded piece of work. */
function* blocksOf<Item>(items: readonly Item[]): Generator<readonly Item[], void, void> {
  for (let at = 0; at < items.length; at += BLOCK_ITEMS) yield items.slice(at, at + BLOCK_ITEMS);
}

/** What these items give, a few of them between two blocks of text; the blocks are empty. */
export function* inBlocks<Item, Result>(
  items: readonly Item[],
  resultOf: (item: Item, place: number) => Result,
): Generator<'', readonly Result[], void> {
  const results: Result[] = [];
  for (const block of blocksOf(items)) {
    for (const item of block) results.push(resultOf(item, results.length));
    yield '';
  }
  return results;
}

/** The values of these items as a JSON array, in blocks of text; undefined becomes null. */
export function* arrayText<Item>(
  items: readonly Item[],
  valueOf: (item: Item) => unknown,
): Generator<string, void, void> {
  let before = '[';
  for (const block of blocksOf(items)) {
    yield before + JSON.stringify(Array.from(block, valueOf)).slice(1, -1);
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** Samples older than this many seconds are shown with their age. */
const LIVE_SECONDS = 3;

/** What both the page and `/api/v1/servers` show of a server, besides its numbers. */
const SHARED_FIELDS = {
  panel: ({ target }) => target.panel,
  server: ({ target }) => target.name,
  server_id: ({ target }) => identityOf(target),
  uuid: ({ target }) => target.uuid,
  node: ({ node }) => node,
  egg: ({ target }) => target.egg,
  /** The user's own. */
  labels: ({ target }) => target.labels,
  state: ({ state }) => state,
  condition: ({ condition }) => condition,
  blocked: ({ blocked }) => blocked,
  source: ({ source }) => source,
  /** The code of its problem. */
  cause: (server) => problemOf(server)?.cause,
  attention: attentionOf,
  complaint: complaintOf,
  last_stop: (server) => server.last_stop,
} satisfies Readonly<Record<string, (server: Snapshot) => unknown>>;

export function sharedFieldsOf(server: Snapshot): Readonly<Record<string, unknown>> {
  const fields = Object.entries<(server: Snapshot) => unknown>(SHARED_FIELDS);
  return Object.fromEntries(fields.map(([name, read]) => [name, read(server)]));
}

/** What only the page shows. */
const PAGE_FIELDS = {
  /** What its cause concerns. */
  scope: (server) => {
    const problem = problemOf(server);
    return problem && CAUSES[problem.cause].scope;
  },
  /** Its players are on other servers. */
  proxy: ({ target }) => target.isProxy,
  /** In the last hour. */
  last_crash: recentCrash,
  /** Its states in the last two hours, in the form of `stripText`. */
  strip: (_, reading, now) => reading.strip(now),
  last_sample_timestamp_seconds: sampledAt,
} satisfies Readonly<Record<string, (server: Snapshot, reading: ServerReading, now: number) => unknown>>;

/** The numbers that the page shows. */
type NumberField = {
  [Name in keyof typeof FIELDS]: (typeof FIELDS)[Name] extends { readonly shown: unknown } ? Name : never;
}[keyof typeof FIELDS];

type Read<Fields extends Readonly<Record<string, (...facts: never) => unknown>>> = {
  readonly [Name in keyof Fields]: ReturnType<Fields[Name]>;
};

/** A server as the page receives it. */
export type LiveServer = Read<typeof SHARED_FIELDS & typeof PAGE_FIELDS> &
  Readonly<Record<NumberField, number | undefined>>;

export type LiveField = keyof LiveServer;

/** How a field follows from the snapshot of a server at an instant. */
type ReadField = (server: Snapshot, reading: ServerReading, now: number) => LiveServer[LiveField];

const NUMBERS = FIELD_ENTRIES.flatMap(([name, { shown }]) => {
  const read: ReadField = ({ [name]: value }) => value && shown?.(value);
  return shown === undefined ? [] : [[name, read] as const];
});

/** Every field: its name, and how it is read. */
export const LIVE_FIELDS = Object.entries<ReadField>({
  ...SHARED_FIELDS,
  ...Object.fromEntries(NUMBERS),
  ...PAGE_FIELDS,
}) as readonly (readonly [name: LiveField, read: ReadField])[];

/** 0 while samples keep coming, so that a streaming server causes no changes here. */
function sampledAt(server: Snapshot): number | undefined {
  const { last_sample_timestamp_seconds: at, sample_age_seconds: age } = server;
  return age !== undefined && age < LIVE_SECONDS ? 0 : at && Math.floor(at);
}

type Value = LiveServer[LiveField];

/** The fleet at one instant, as the page shows it. */
export interface Picture {
  /** The exporter's wall clock, in Unix seconds. */
  readonly time: number;
  readonly status: PanelsStatus;
  readonly servers: readonly ServerReading[];
  /** The values of each server, in the order of `LIVE_FIELDS`: the same list as before if it wasn't looked at. */
  readonly values: readonly (readonly Value[])[];
  /** Pictures of the same servers before this one. */
  readonly turn: number;
}

/** What changed in the page's data: from nothing in the event `full`, since the update before in the event `delta`. */
export interface LiveUpdate {
  /** The exporter's. */
  readonly version: string;
  readonly time: number;
  /** Absent if it is the same. */
  readonly status?: PanelsStatus;
  /** The number of servers. */
  readonly size: number;
  /** The fields that changed: the places of the servers, null for all of them, and their new values; null if unknown. */
  readonly changes: readonly (readonly [
    field: LiveField,
    places: readonly number[] | null,
    values: readonly unknown[],
  ])[];
}

/** Servers that are looked at for a picture, by turns, so that a viewer of a large fleet costs little: each of 5,000 every 10 s. */
const SERVERS_A_TURN = 500;
/** A strip takes longer than anything else, and changes slowly, so one in this many looks at a server reads it. */
const LOOKS_PER_STRIP = 7;

/** Takes a picture, a few servers between two blocks, after another one; the blocks are empty. */
export function* takePicture(source: BoardSource, before?: Picture): Generator<'', Picture, void> {
  const { fleet, clock } = source;
  const now = clock.now();
  const servers = fleet.servers();
  const basis = before?.servers === servers ? before : undefined;
  const turn = basis === undefined ? 0 : basis.turn + 1;
  const turns = basis === undefined ? 1 : Math.ceil(servers.length / SERVERS_A_TURN);
  const status = basis !== undefined && turn % turns > 0 ? basis.status : panelsStatus(source);
  const values = [...(basis?.values ?? [])];
  // One server at a time, so that a snapshot is garbage before the next one is made.
  yield* inBlocks(servers, (server, place) => {
    if (place % turns !== turn % turns) return;
    const snapshot = server.snapshot(now, clock);
    const kept = (place + Math.floor(turn / turns)) % LOOKS_PER_STRIP === 0 ? undefined : values[place];
    values[place] = LIVE_FIELDS.map(([name, read], field) =>
      name === 'strip' && kept !== undefined ? kept[field] : read(snapshot, server, now),
    );
  });
  return { time: Math.round(clock.toUnixMs(now) / 1_000), status, servers, values, turn };
}

/** The differences between two pictures of the same servers as the JSON of a `LiveUpdate`, in blocks of text. */
export function* updateText(
  version: string,
  before: Picture | undefined,
  after: Picture,
): Generator<string, void, void> {
  const { time, status, values } = after;
  const changed = LIVE_FIELDS.map((): number[] => []);
  yield* inBlocks(values, (one, place) => {
    const other = before?.values[place];
    if (one === other) return;
    for (let field = 0; field < one.length; field += 1) {
      if (!isSame(one[field], other?.[field])) changed[field]?.push(place);
    }
  });
  const isChanged = JSON.stringify(before?.status) !== JSON.stringify(status);
  const head = { version, time, size: values.length, ...(isChanged && { status }) };
  yield `${JSON.stringify(head).slice(0, -1)},"changes":[`;
  let separator = '';
  for (const [field, [name]] of LIVE_FIELDS.entries()) {
    const some = changed[field] ?? [];
    if (some.length === 0) continue;
    const isMost = some.length * 2 > values.length;
    yield `${separator}["${name}",`;
    yield* isMost ? ['null'] : arrayText(some, (place) => place);
    yield ',';
    yield* arrayText(isMost ? [...values.keys()] : some, (place) => values[place]?.[field]);
    yield ']';
    separator = ',';
  }
  yield ']}';
}

function isSame(one: Value, other: Value): boolean {
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
}

/** The last five minutes of one server, as returned by `api/v1/history`. */
export interface HistoryView extends RecentHistory {
  readonly panel: string;
  readonly server_id: string;
  readonly step_seconds: number;
  /** The number of stops since the exporter started, by reason. */
  readonly stops: StopCounts;
}

/** The histories of the servers with these keys, in their order, in blocks of text. */
export function* historyText(
  { fleet, clock }: BoardSource,
  keys: readonly string[],
  wanted: readonly ChartSeries[],
): Generator<string, void, void> {
  const now = clock.now();
  const byKey = new Map<string, ServerReading>(
    yield* inBlocks(fleet.servers(), (server) => {
      const { target } = server;
      return [`${target.panel}/${identityOf(target)}`, server] as const;
    }),
  );
  const servers = keys.flatMap((key) => byKey.get(historyKey(key)) ?? []);
  yield '{"servers":';
  yield* arrayText(servers, (server): HistoryView => {
    const { series, ...history } = server.history(now, clock);
    return {
      panel: server.target.panel,
      server_id: identityOf(server.target),
      step_seconds: STEP_SECONDS,
      ...history,
      series: Object.fromEntries(
        wanted.flatMap((name) => (series[name] === undefined ? [] : [[name, series[name]]])),
      ),
      stops: server.snapshot(now, clock).stops,
    };
  });
  yield '}';
}

/** The same for a server's short and its full id. */
function historyKey(key: string): string {
  const slash = key.lastIndexOf('/');
  return `${key.slice(0, slash)}/${identityOf({ id: key.slice(slash + 1) })}`;
}
