import { identityOf } from '../domain/server.ts';
import type { ListedServer } from '../panel/dialect.ts';
import type { ListingWalk } from '../panel/listing.ts';

/** A listed server, and how many complete walks in a row were without it. */
export interface CensusEntry {
  readonly server: ListedServer;
  readonly missed: number;
}

/** Every server that the listing is known to hold, by UUID. */
export type Census = ReadonlyMap<string, CensusEntry>;

/**
 * Walks in a row that have to be without a server before it is gone. The listing has no stable order and pages shift while they are
 * read, so that a single walk may pass a server by.
 */
const WALKS_TO_VANISH = 3;

/** What a walk says of the census. */
export type CensusWalk = Pick<ListingWalk, 'servers' | 'complete'> & Partial<Pick<ListingWalk, 'unreadable'>>;

const NONE: ReadonlySet<string> = new Set();

/**
 * The census after a walk. A server that was found is there, with what is said of it now. One that an incomplete walk didn't find
 * stays as it was, and so does one whose entry can't be read. `notFound` holds the identities of servers whose own calls are answered
 * with 404: of these, one complete walk without them is enough.
 */
export function afterWalk(
  census: Census,
  { servers, complete, unreadable = NONE }: CensusWalk,
  notFound: ReadonlySet<string> = NONE,
): Census {
  const next = new Map<string, CensusEntry>();
  for (const [uuid, { server, missed }] of census) {
    const identity = identityOf({ id: uuid });
    const missedNow = complete && !unreadable.has(identity) ? missed + 1 : missed;
    const isGone = missedNow >= WALKS_TO_VANISH || (missedNow > 0 && notFound.has(identity));
    if (!isGone) next.set(uuid, { server, missed: missedNow });
  }
  for (const server of servers) next.set(server.uuid, { server, missed: 0 });
  return next;
}

/** Is there a server that the last walks passed by, so that another should tell whether it is gone? */
export function hasDoubts(census: Census): boolean {
  for (const { missed } of census.values()) if (missed > 0) return true;
  return false;
}
