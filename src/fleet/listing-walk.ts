import type { ListedServer, ListingPage } from '../panel/decode-listing.ts';
import { presentable, type Walk } from './census.ts';

/** The most that panels give on one page. */
const PER_PAGE = 100;

/** Bounds of what is believed of a listing: far more than any panel has, and not enough to fill the memory. */
const MAX_PAGES = 1_000;
const MAX_SERVERS = 100_000;

/** After so many pages that failed, the rest is left for another time. */
const FAILURES_TO_GIVE_UP = 2;

/** How a walk through the listing ended. */
export interface WalkResult {
  readonly walk: Walk;
  /** How many pages there are, as far as was said. */
  readonly pages: number;
  /** What keeps the walk from being complete; undefined where it is. */
  readonly problem: Error | undefined;
}

/**
 * Reads every page of a listing, one after the other; a server that is on two of them counts once. A page that fails makes the walk
 * incomplete, and the others are read all the same. Never rejects; once the signal aborted, the result means nothing.
 */
export async function walkListing(
  read: (query: { readonly page: number; readonly perPage: number }) => Promise<ListingPage>,
  signal: AbortSignal,
): Promise<WalkResult> {
  const servers = new Map<string, ListedServer>();
  const problems: Error[] = [];
  let pages = 1;
  let failures = 0;
  for (let page = 1; page <= Math.min(pages, MAX_PAGES) && !signal.aborted; page += 1) {
    try {
      const answer = await read({ page, perPage: PER_PAGE });
      const shown = answer.servers.map(presentable).filter((server) => server !== undefined);
      for (const server of shown) servers.set(server.uuid, server);
      const bad = answer.badEntries + answer.servers.length - shown.length;
      if (bad > 0) problems.push(new Error(`${bad} entries of page ${page} name no server by its UUID`));
      // A page that tells of fewer than one before it ends nothing: what is not read can't be known to be gone.
      pages = Math.max(pages, answer.totalPages);
      if (pages > MAX_PAGES || servers.size > MAX_SERVERS) {
        problems.push(new Error(`it is longer than ${MAX_PAGES} pages or ${MAX_SERVERS} servers`));
      }
      if (servers.size > MAX_SERVERS) break;
    } catch (error) {
      problems.push(error instanceof Error ? error : new Error(String(error)));
      failures += 1;
      if (failures >= FAILURES_TO_GIVE_UP) break;
    }
  }
  const walk = { servers: [...servers.values()], complete: problems.length === 0 };
  return { walk, pages: Math.min(pages, MAX_PAGES), problem: problems.at(-1) };
}
