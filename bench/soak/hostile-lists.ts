/** The number of pages of each server list. */
export const PAGES = 6;

const LONG_TEXT_LENGTH = 15_000;
const ALLOCATIONS = 1_000;
const MAX_LISTING = 4 * 1_048_576 - 100_000;

/** The page to be sent. */
interface RequestedPage {
  readonly page: number;
  /** How often the list was read before. */
  readonly walk: number;
  /** Where the games are that the list names. */
  readonly host: string;
  readonly ports: readonly number[];
}

/** An object of a hundred keys of its own, which is slower to parse than any other JSON. */
const ownKeys = (from: number) =>
  `{${Array.from({ length: 100 }, (_, key) => `"${(from * 100 + key).toString(36)}":0`).join()}}`;

/** Nearly as long as a message of a node may be. */
export const EXPENSIVE_OBJECT = `[${Array.from({ length: 130 }, (_, index) => ownKeys(index)).join()}]`;

const keysOf = (objects: number) =>
  `{"data":[${Array.from({ length: objects }, (_, index) => ownKeys(index)).join()}]}`;

export const EXPENSIVE_PAGES = {
  // Fewer members than the limit, and more.
  expensive: keysOf(1_900),
  'too expensive': keysOf(4_000),
  deep: `{"data":${'['.repeat(MAX_LISTING / 2)}${']'.repeat(MAX_LISTING / 2)}}`,
};

type Listing = 'complete' | 'hanging' | 'endless' | 'headers' | keyof typeof EXPENSIVE_PAGES;

/** The last page of each server list in turn. */
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

/** A page of the server list: servers that stay, servers with a thousand allocations, and servers that are new in each list. */
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

/** A server whose game responds at its default allocation, so badly that other ports are queried too. */
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
