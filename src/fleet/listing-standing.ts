import type { Problem } from '../domain/problem.ts';
import type { ListingWalk } from '../panel/listing.ts';

/** What the walks so far say about a panel's listing as a whole. */
export interface ListingStanding {
  /** When the last complete walk ended, in monotonic milliseconds; undefined if there was none. */
  readonly completeAt: number | undefined;
  /** It was read recently enough to be believed about servers that are blocked. */
  readonly isCurrent: boolean;
  /** The last complete walk found no server. */
  readonly isEmpty: boolean;
}

export const NEVER_READ: ListingStanding = { completeAt: undefined, isCurrent: true, isEmpty: false };

/** How old a listing that fails may be, unless it is read less often, before blocked servers are asked themselves. */
const BELIEVED_MS = 300_000;

/** The standing after a walk that ended at `now`; the listing is read every `intervalMs`. */
export function standingAfter(
  before: ListingStanding,
  { complete, servers, problem }: Pick<ListingWalk, 'complete' | 'servers' | 'problem'>,
  { now, intervalMs }: { readonly now: number; readonly intervalMs: number },
): ListingStanding {
  const completeAt = complete ? now : before.completeAt;
  return {
    completeAt,
    isCurrent: completeAt !== undefined && now - completeAt <= Math.max(BELIEVED_MS, intervalMs),
    // A listing with unreadable entries isn't empty.
    isEmpty: servers.length === 0 && (complete ? problem === undefined : before.isEmpty),
  };
}

/** The problem of a listing without servers that are to be discovered. */
export const NOTHING_LISTED: Problem = {
  cause: 'nothing_listed',
  detail: 'the listing contains no servers',
};
