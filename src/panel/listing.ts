import { printable } from '../domain/printable.ts';
import { identityOf } from '../domain/server.ts';
import type { ListedServer, ListingPage, ListingQuery } from './dialect.ts';

/** The most servers that panels return on one page. */
export const LISTING_PAGE_SIZE = 100;

/** Far more than any panel has, and too few to fill the memory. */
const MAX_PAGES = 1_000;
const MAX_SERVERS = 100_000;

/** Servers that a walk finds between two reductions. */
const REDUCTION_STEP = 1_000;

/** So many entries are read between two turns of the event loop: even hostile ones take only milliseconds. */
const SLICE = 50;
const afterEvents = () => new Promise((resolve) => setImmediate(resolve));

/** Reads one page of a server list. */
export type ReadListingPage = (query: Pick<ListingQuery, 'page' | 'perPage'>) => Promise<ListingPage>;

/** When a walk ends before the last page. */
export interface WalkOptions {
  /** The number of failed pages after which the rest isn't read; 1 by default. */
  readonly maxFailures?: number;
  /** Ends the walk between two pages. */
  readonly signal?: AbortSignal;
  /** Limits what the walk holds: which of the servers found so far to keep, if there are more than `above`. */
  readonly reduction?: {
    readonly above: number;
    readonly reduce: (servers: readonly ListedServer[]) => readonly ListedServer[];
  };
}

/** The result of a walk through the pages of a server list. */
export interface ListingWalk {
  /** One entry per UUID, with printable texts; without the servers that were reduced away. */
  readonly servers: readonly ListedServer[];
  /** Every page was read, even if single entries could not be. */
  readonly complete: boolean;
  /** Identities of servers whose entries can't be read, if those reveal them. */
  readonly unreadable: ReadonlySet<string>;
  /** Entries beyond the number requested for a page: they were not read. */
  readonly surplusEntries: number;
  /** The number of pages, as far as the panel reported it. */
  readonly pages: number;
  /** The latest reason why a page or an entry was left out. */
  readonly problem: Error | undefined;
  /** The last rejection of `read`; also set if the signal ended the walk. */
  readonly failure: { readonly error: unknown } | undefined;
}

/**
 * Reads every page of a server list, one after the other. Pages have no stable order, so a server may be on two of them: it counts
 * once. Never rejects: what was found before a failure is kept.
 */
export async function walkListing(
  read: ReadListingPage,
  { maxFailures = 1, signal, reduction }: WalkOptions = {},
): Promise<ListingWalk> {
  const seen = new Set<string>();
  let kept = new Map<string, ListedServer>();
  let reducesAbove = reduction?.above ?? Number.POSITIVE_INFINITY;
  const unreadable = new Set<string>();
  let problem: Error | undefined;
  let complete = true;
  let pages = 1;
  let surplusEntries = 0;
  let failures = 0;
  let failure: ListingWalk['failure'];
  for (let page = 1; page <= Math.min(pages, MAX_PAGES); page += 1) {
    try {
      signal?.throwIfAborted();
      const answer = await read({ page, perPage: LISTING_PAGE_SIZE });
      let bad = answer.badEntries;
      for (const [index, listed] of answer.servers.entries()) {
        if (index > 0 && index % SLICE === 0) await afterEvents();
        const server = presentable(listed);
        if (server !== undefined) {
          seen.add(server.uuid);
          kept.set(server.uuid, server);
          continue;
        }
        bad += 1;
        for (const id of [listed.identifier, listed.uuid]) unreadable.add(identityOf({ id }));
      }
      if (bad > 0) problem = new Error(`${bad} entries on page ${page} have no valid UUID`);
      if (answer.surplusEntries > 0) {
        surplusEntries += answer.surplusEntries;
        complete = false;
        problem = new Error(surplusWords(page, answer.surplusEntries));
      }
      if (reduction !== undefined && kept.size > reducesAbove) {
        kept = new Map(reduction.reduce([...kept.values()]).map((server) => [server.uuid, server]));
        // Not after every page, because each reduction looks at all servers.
        reducesAbove = Math.max(reduction.above, kept.size) + REDUCTION_STEP;
      }
      // A later page that reports fewer pages doesn't end the walk: servers on unread pages may still exist.
      pages = Math.max(pages, answer.totalPages);
      const isTooLong = seen.size + unreadable.size > MAX_SERVERS;
      if (pages > MAX_PAGES || isTooLong) {
        complete = false;
        problem = new Error(`the server list is longer than ${MAX_PAGES} pages or ${MAX_SERVERS} servers`);
      }
      if (isTooLong) break;
    } catch (error) {
      failure = { error };
      complete = false;
      problem = error instanceof Error ? error : new Error(String(error));
      failures += 1;
      if (failures >= maxFailures || signal?.aborted === true) break;
    }
  }
  return {
    servers: [...kept.values()],
    complete,
    unreadable,
    surplusEntries,
    pages: Math.min(pages, MAX_PAGES),
    problem,
    failure,
  };
}

function surplusWords(page: number, surplus: number): string {
  const entries = LISTING_PAGE_SIZE + surplus;
  return `page ${page} has ${entries} entries, although ${LISTING_PAGE_SIZE} were requested: ignoring the others`;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The server with texts that can be used as labels; undefined if its UUID isn't valid. */
function presentable(server: ListedServer): ListedServer | undefined {
  const uuid = server.uuid.toLowerCase();
  // An API key may look like a UUID, and an id can't be partly redacted.
  if (!UUID.test(uuid) || printable(uuid) !== uuid) return undefined;
  const { identifier, name, node, egg, status, address } = server;
  return {
    ...server,
    uuid,
    identifier: shownText(identifier) ?? uuid.slice(0, 8),
    name: shownText(name) ?? uuid.slice(0, 8),
    node: shownText(node),
    egg: shownText(egg),
    status: shownText(status),
    address: shownText(address) === address ? address : undefined,
  };
}

function shownText(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const shown = printable(text);
  // In V8, a substring keeps the whole string alive: a name of 80 KB would cost 80 KB even if cut.
  return (text.length > shown.length ? copied(shown) : shown) || undefined;
}

function copied(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
