// How often a panel's server list is read; pure.

import { LISTING_PAGE_SIZE } from './listing-walk.ts';

/** The server list's maximum share of the budget. A long list is read less often. */
const LISTING_SHARE = 0.1;

/**
 * Calls per minute for a server list that only adds facts about configured servers: the account may
 * see thousands of others. More are allowed if the configured servers fill more pages.
 */
const FACTS_CALLS_PER_MINUTE = 1;

/** Delay before repeating a walk that failed or that missed a known server. */
export const REPEAT_MS = 60_000;

/** The inputs of the pace, except the configured interval. */
interface ListingLoad {
  /** Whether servers are discovered, so that the list is needed for more than facts. */
  readonly isDiscovering: boolean;
  /** The exporter's limit in calls per minute. */
  readonly limitPerMinute: number;
  /** The number of configured servers. */
  readonly configured: number;
  /** The number of pages in the last walk; 0 before the first one. */
  readonly pages: number;
}

/**
 * Milliseconds between two walks, and until the next one after a walk that failed or missed a
 * server.
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
