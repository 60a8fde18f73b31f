import type { Problem } from '../domain/problem.ts';
import type { ListedServer } from '../panel/dialect.ts';
import type { ListingWalk } from '../panel/listing.ts';

/** What the walks so far say about a panel's listing as a whole. */
export interface ListingStanding {
  /** When the last complete walk ended, in monotonic milliseconds; undefined if there was none. */
  readonly completeAt: number | undefined;
  /** It was read recently enough to be believed about servers that are blocked. */
  readonly isCurrent: boolean;
  /** Why no server is discovered, according to the last complete walk; undefined if there is one. */
  readonly empty: Problem | undefined;
}

export const NEVER_READ: ListingStanding = { completeAt: undefined, isCurrent: true, empty: undefined };

/** How old a listing that fails may be, unless it is read less often, before blocked servers are asked themselves. */
const BELIEVED_MS = 300_000;

/** When a walk ended, how often the listing is read, and whether discovery includes a server. */
export interface WalkContext {
  readonly now: number;
  readonly intervalMs: number;
  readonly isIncluded: (server: ListedServer) => boolean;
}

/** The standing after a walk. */
export function standingAfter(
  before: ListingStanding,
  { complete, servers, problem }: Pick<ListingWalk, 'complete' | 'servers' | 'problem'>,
  { now, intervalMs, isIncluded }: WalkContext,
): ListingStanding {
  const completeAt = complete ? now : before.completeAt;
  return {
    completeAt,
    isCurrent: completeAt !== undefined && now - completeAt <= Math.max(BELIEVED_MS, intervalMs),
    empty: servers.some(isIncluded)
      ? undefined
      : complete
        ? emptiness(servers.length, problem)
        : before.empty,
  };
}

/** The problem of a listing from which no server is discovered; one with unreadable entries has another problem. */
function emptiness(listed: number, problem: ListingWalk['problem']): Problem | undefined {
  if (problem !== undefined) return undefined;
  return listed === 0 ? NOTHING_LISTED : allExcluded(listed);
}

const NOTHING_LISTED: Problem = { cause: 'nothing_listed', detail: 'the server list is empty' };

/** The problem of rules that include none of the listed servers. */
export function allExcluded(listed: number): Problem {
  const servers = listed === 1 ? 'the only listed server' : `all ${listed} listed servers`;
  return { cause: 'all_excluded', detail: `discover excludes ${servers}` };
}
