// How often a panel's server list is read; pure.

import { LISTING_PAGE_SIZE } from './listing-walk.ts';

/** The maximum share of the budget for the server list: a long one is read less often. */
const LISTING_SHARE = 0.1;

/**
 * Calls a minute for a server list that only adds facts about configured servers, unless their own
 * pages need more: an account may see thousands of other servers.
 */
const FACTS_CALLS_PER_MINUTE = 1;

/** Delay before repeating a walk that failed or that missed a known server. */
export const REPEAT_MS = 60_000;

/** The inputs of the pace, beside the configured interval. */
interface ListingLoad {
  /** Servers are discovered, so that the list is needed for more than facts. */
  readonly isDiscovering: boolean;
  /** Calls a minute that the exporter may make. */
  readonly limitPerMinute: number;
  /** The number of configured servers. */
  readonly configured: number;
  /** The pages of the last walk; 0 before the first. */
  readonly pages: number;
}

/**
 * Milliseconds between two walks through the server list, and until the next one after a walk that
 * failed or missed a server.
 */
export function listingPace(
  intervalMs: number,
  { isDiscovering, limitPerMinute, configured, pages }: ListingLoad,
) {
  const most = limitPerMinute * LISTING_SHARE;
  const ownPerMinute = (countPages(configured) * 60_000) / intervalMs;
  const factsPerMinute = Math.max(ownPerMinute, FACTS_CALLS_PER_MINUTE);
  const mostPerMinute = isDiscovering ? most : Math.min(most, factsPerMinute);
  const shortestMs = (Math.max(1, pages) / mostPerMinute) * 60_000;
  const atLeastMs = Math.max(intervalMs, shortestMs);
  return { intervalMs: atLeastMs, repeatMs: Math.min(atLeastMs, Math.max(REPEAT_MS, shortestMs)) };
}

/** The number of pages that this many servers fill. */
export function countPages(servers: number): number {
  return Math.ceil(servers / LISTING_PAGE_SIZE);
}
