import { printable } from '../domain/printable.ts';
import { identityOf } from '../domain/server.ts';
import type { ListedServer, ListingPage, ListingQuery } from './dialect.ts';

/** The most servers that panels return on one page. */
export const LISTING_PAGE_SIZE = 100;

/** Far more than any panel has, and not enough to fill the memory. */
const MAX_PAGES = 1_000;
const MAX_SERVERS = 100_000;

/** Servers that a walk finds between two reductions. */
const REDUCTION_STEP = 1_000;

/** Reads one page of a listing. */
export type ReadListingPage = (query: Pick<ListingQuery, 'page' | 'perPage'>) => Promise<ListingPage>;

/** When a walk ends before the last page. */
export interface WalkLimits {
  /** Failed pages after which the rest isn't read; 1 by default. */
  readonly maxFailures?: number;
  /** Ends the walk between two pages. */
  readonly signal?: AbortSignal;
  readonly reduction?: ListingReduction;
}

/** Bounds what a walk holds while it goes on. */
export interface ListingReduction {
  /** Up to so many servers, nothing is reduced. */
  readonly above: number;
  /** The servers to keep of those found so far. */
  readonly reduce: (servers: readonly ListedServer[]) => readonly ListedServer[];
}

/** What a walk through the pages of a listing found. */
export interface ListingWalk {
  /** One entry for each UUID, presentable; without those that were reduced away. */
  readonly servers: readonly ListedServer[];
  /** Every page was read, whatever single entries on them hold. */
  readonly complete: boolean;
  /** Identities of servers that are listed in entries which can't be read, as far as those tell. */
  readonly unreadable: ReadonlySet<string>;
  /** Entries on pages with more of them than were asked for: they were not read. */
  readonly surplusEntries: number;
  /** How many pages there are, as far as the panel said. */
  readonly pages: number;
  /** The latest reason why a page or an entry is left out. */
  readonly problem: Error | undefined;
  /** What `read` rejected with last; also set when the signal ended the walk. */
  readonly failure: { readonly error: unknown } | undefined;
}

/**
 * Reads every page of a listing, one after the other. Pages have no stable order, so that a server may be on two of them: it counts
 * once. Never rejects: what was found before a failure is kept.
 */
export async function walkListing(
  read: ReadListingPage,
  { maxFailures = 1, signal, reduction }: WalkLimits = {},
): Promise<ListingWalk> {
  const servers = new FoundServers(reduction);
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
      for (const listed of answer.servers) {
        const server = presentable(listed);
        if (server !== undefined) {
          servers.add(server);
          continue;
        }
        bad += 1;
        for (const id of [listed.identifier, listed.uuid]) unreadable.add(identityOf({ id }));
      }
      if (bad > 0) problem = new Error(`${bad} entries of page ${page} name no server by its UUID`);
      if (answer.surplusEntries > 0) {
        surplusEntries += answer.surplusEntries;
        complete = false;
        problem = new Error(surplusWords(page, answer.surplusEntries));
      }
      servers.reduce();
      // A later page that names fewer pages doesn't end the walk: servers on pages that were not read may still exist.
      pages = Math.max(pages, answer.totalPages);
      const isTooLong = servers.seen + unreadable.size > MAX_SERVERS;
      if (pages > MAX_PAGES || isTooLong) {
        complete = false;
        problem = new Error(`it is longer than ${MAX_PAGES} pages or ${MAX_SERVERS} servers`);
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
    servers: servers.kept,
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
  return `page ${page} has ${entries} entries, ${LISTING_PAGE_SIZE} were asked for: the others are not read`;
}

/** The servers that a walk found so far, or what a reduction left of them. */
class FoundServers {
  readonly #reduction: ListingReduction | undefined;
  readonly #seen = new Set<string>();
  #kept = new Map<string, ListedServer>();
  #reduceAbove: number;

  constructor(reduction: ListingReduction | undefined) {
    this.#reduction = reduction;
    this.#reduceAbove = reduction?.above ?? Number.POSITIVE_INFINITY;
  }

  /** How many different servers were added. */
  get seen(): number {
    return this.#seen.size;
  }

  get kept(): readonly ListedServer[] {
    return [...this.#kept.values()];
  }

  add(server: ListedServer): void {
    this.#seen.add(server.uuid);
    this.#kept.set(server.uuid, server);
  }

  reduce(): void {
    if (this.#reduction === undefined || this.#kept.size <= this.#reduceAbove) return;
    const left = this.#reduction.reduce(this.kept);
    this.#kept = new Map(left.map((server) => [server.uuid, server]));
    // Not after every page: each reduction looks at all of them.
    this.#reduceAbove = Math.max(this.#reduction.above, left.length) + REDUCTION_STEP;
  }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The server with words that can be labels; undefined if its UUID isn't one. */
function presentable(server: ListedServer): ListedServer | undefined {
  const uuid = server.uuid.toLowerCase();
  // An API key may have the form of a UUID, and an id can't be shown in part.
  if (!UUID.test(uuid) || printable(uuid) !== uuid) return undefined;
  const { node, egg, status, ...rest } = server;
  const shown = { node: shownText(node), egg: shownText(egg), status: shownText(status) };
  return {
    ...rest,
    uuid,
    identifier: shownText(server.identifier) ?? uuid.slice(0, 8),
    name: shownText(server.name) ?? uuid.slice(0, 8),
    ...(shown.node !== undefined && { node: shown.node }),
    ...(shown.egg !== undefined && { egg: shown.egg }),
    ...(shown.status !== undefined && { status: shown.status }),
  };
}

function shownText(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const shown = printable(text);
  // A part of a long string holds on to the whole of it in V8: a name of 80 KB would cost 80 KB, cut or not.
  return (text.length > shown.length ? copied(shown) : shown) || undefined;
}

function copied(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
