// Reads a panel's server list page by page.

import { isDeepStrictEqual } from 'node:util';
import { shortId } from '../domain/server-ids.ts';
import { PanelError } from '../panel/panel-error.ts';
import type { ListingQuery } from '../panel/requests.ts';
import type { ListedServer, ListingPage } from '../panel/responses.ts';
import { printable } from '../text/printable.ts';

/** The maximum page size of panels. */
export const LISTING_PAGE_SIZE = 100;

/** The maximum number of pages: far more than any panel has, but too few to fill the memory. */
export const MAX_PAGES = 500;

/** A walk stops after this many failed pages. */
const MAX_FAILURES = 2;

/**
 * The number of entries that are read in one turn of the event loop: even hostile entries then take
 * only milliseconds.
 */
const SLICE = 50;
const afterEvents = () => new Promise((resolve) => setImmediate(resolve));

/** If there are more servers than this, each task about all of them gets its own turn. */
const MANY_SERVERS = 1_000;

/**
 * Yields to the event loop between two tasks about all servers, each of which takes milliseconds if
 * there are many.
 */
export async function restIfMany(servers: { readonly length: number }): Promise<void> {
  if (servers.length > MANY_SERVERS) await afterEvents();
}

/** The result of a walk through the pages of a server list. */
export interface ListingWalk {
  /** One entry per UUID, with printable text. */
  readonly servers: readonly ListedServer[];
  /** The readable ids of otherwise unreadable entries. */
  readonly unreadable: ReadonlySet<string>;
  /** Whether every page was read, even if some entries were unreadable. */
  readonly complete: boolean;
  /** The number of pages that the panel reported. */
  readonly pages: number;
  /**
   * The latest refusal of `read`, otherwise the latest reason why a page or an entry was left
   * out.
   */
  readonly problem: Error | undefined;
}

/**
 * Reads every page of a server list, until a page fails or the signal aborts; never rejects. A
 * server on two pages counts once, because pages have no stable order. An unchanged entry is the
 * same object as before, so nothing has to compare it again.
 */
export async function walkListing(
  read: (query: Pick<ListingQuery, 'page' | 'perPage'>) => Promise<ListingPage>,
  signal?: AbortSignal,
  known: ReadonlyMap<string, { readonly entry: ListedServer }> = new Map(),
): Promise<ListingWalk> {
  const found = new Map<string, ListedServer>();
  const unreadable = new Set<string>();
  const failures: Error[] = [];
  let flaw: Error | undefined;
  let pages = 1;
  for (let page = 1; page <= Math.min(pages, MAX_PAGES) && failures.length < MAX_FAILURES; page += 1) {
    try {
      signal?.throwIfAborted();
      const answer = await read({ page, perPage: LISTING_PAGE_SIZE });
      let bad = answer.badEntries;
      for (const [index, listed] of answer.servers.entries()) {
        if (index > 0 && index % SLICE === 0) await afterEvents();
        const server = presentable(listed);
        if (server === undefined) {
          bad += 1;
          for (const id of [listed.identifier, listed.uuid]) unreadable.add(shortId({ id }));
        } else found.set(server.uuid, keepIfSame(server, known.get(server.uuid)?.entry));
      }
      // A later page that reports fewer pages doesn't end the walk, because unread pages may still
      // contain servers.
      pages = Math.max(pages, answer.totalPages);
      flaw = checkPage(page, bad, answer.totalPages) ?? flaw;
    } catch (error) {
      failures.push(error instanceof Error ? error : new Error(String(error)));
    }
  }
  return {
    servers: [...found.values()],
    unreadable,
    complete: failures.length === 0 && pages <= MAX_PAGES,
    pages: Math.min(pages, MAX_PAGES),
    problem: failures.at(-1) ?? flaw,
  };
}

function keepIfSame(server: ListedServer, known: ListedServer | undefined): ListedServer {
  return known !== undefined && isDeepStrictEqual(known, server) ? known : server;
}

/** The problem of a page that was read. */
function checkPage(page: number, bad: number, totalPages: number): Error | undefined {
  const isLong = totalPages > MAX_PAGES;
  if (!isLong && bad === 0) return undefined;
  const detail = isLong
    ? `the server list is longer than ${MAX_PAGES} pages`
    : `${bad} entries on page ${page} have no valid UUID, or are beyond the ${LISTING_PAGE_SIZE} requested`;
  return new PanelError({ cause: 'bad_answer', detail });
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The server with texts that are valid as labels; undefined if its UUID isn't valid. */
function presentable(server: ListedServer): ListedServer | undefined {
  const uuid = server.uuid.toLowerCase();
  // An API key may look like a UUID, and an id can't be partly redacted.
  if (!UUID.test(uuid) || printable(uuid) !== uuid) return undefined;
  const { identifier, name, node = '', egg = '', address = '' } = server;
  return {
    ...server,
    uuid,
    identifier: printable(identifier) || uuid.slice(0, 8),
    name: printable(name) || uuid.slice(0, 8),
    node: printable(node) || undefined,
    egg: printable(egg) || undefined,
    address: printable(address) === address ? server.address : undefined,
  };
}
