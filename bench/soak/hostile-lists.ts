// The server lists of the hostile panel.

/** Pages per server list. */
export const PAGES = 6;

const LONG_TEXT_LENGTH = 15_000;
const ALLOCATIONS = 1_000;
const MAX_LISTING = 4 * 1_048_576 - 100_000;

/** A request for a page of the server list. */
interface RequestedPage {
  readonly page: number;
  /** The number of the current read of the list. */
  readonly walk: number;
  /** The address and the ports of the games to which listed servers refer. */
  readonly host: string;
  readonly ports: readonly number[];
}

/**
 * A JSON object with a hundred keys that no other object has, which is the slowest JSON to parse.
 */
const ownKeys = (from: number) =>
  `{${Array.from({ length: 100 }, (_, key) => `"${(from * 100 + key).toString(36)}":0`).join()}}`;

/** Nearly as long as a node's message may be. */
export const EXPENSIVE_OBJECT = `[${Array.from({ length: 130 }, (_, index) => ownKeys(index)).join()}]`;

const keysOf = (objects: number) =>
  `{"data":[${Array.from({ length: objects }, (_, index) => ownKeys(index)).join()}]}`;

export const EXPENSIVE_PAGES = {
  // With fewer members than the exporter's limit, and with more.
  expensive: keysOf(1_900),
  'too expensive': keysOf(4_000),
  deep: `{"data":${'['.repeat(MAX_LISTING / 2)}${']'.repeat(MAX_LISTING / 2)}}`,
};

type Listing = 'complete' | 'hanging' | 'endless' | 'headers' | keyof typeof EXPENSIVE_PAGES;

/** The last pages of consecutive server lists. */
export const LISTINGS: readonly Listing[] = [
  'complete',
  'expensive',
  'complete',
  'too expensive',
  'complete',
  'deep',
  'complete',
  'hanging',
  'complete',
  'endless',
  'complete',
  'headers',
];

/**
 * A page of the server list: servers that stay, servers with a thousand allocations, or servers
 * that are new in every list.
 */
export function listingPage({ page, walk, host, ports }: RequestedPage): string {
  const entries =
    page === 1
      ? servers(100, 1, (index) => ({ name: `steady ${index}` }))
      : page <= 3
        ? servers(30, page * 1_000, (index) => withAllocations(index, host, ports))
        : servers(100, walk * 10_000 + page * 1_000, (index) => withLongTexts(walk, index));
  return JSON.stringify({ data: entries, meta: { pagination: { total_pages: PAGES } } });
}

function servers(count: number, from: number, attributesOf: (index: number) => object): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({
    attributes: { uuid: uuidOf(from + index), ...attributesOf(index) },
  }));
}

const uuidOf = (index: number) => `${index.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;

/**
 * A server whose game responds badly at its default allocation, so that the exporter also queries
 * other ports.
 */
function withAllocations(index: number, host: string, ports: readonly number[]): object {
  const data = Array.from({ length: ALLOCATIONS }, (_, at) => ({
    attributes: { ip: host, port: at === 0 ? ports[index % ports.length] : at, is_default: at === 0 },
  }));
  const egg = { attributes: { name: index % 2 === 0 ? 'Bedrock' : 'Unreal Tournament' } };
  return { name: `many ports ${index}`, relationships: { allocations: { data }, egg } };
}

function withLongTexts(walk: number, index: number): object {
  const long = `${walk} ${index} `.padEnd(LONG_TEXT_LENGTH, 'a\u200b');
  return {
    name: long,
    node: `node ${walk} ${index}`,
    daemon_type: `elytra ${long.slice(0, 2_000)}`,
    ...(index % 10 === 0 && { uuid: `${walk}-${index}-`.padEnd(LONG_TEXT_LENGTH, '0') }),
  };
}
