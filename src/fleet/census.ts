import { identityOf } from '../domain/server.ts';
import type { ListedServer } from '../panel/dialect.ts';
import type { ListingWalk } from '../panel/listing.ts';

/** A listed server, and how many complete walks in a row did not find it. */
export interface CensusEntry {
  readonly server: ListedServer;
  readonly missed: number;
}

/** All servers known to be in the server list, by UUID. */
export type Census = ReadonlyMap<string, CensusEntry>;

/**
 * A server is gone once this many walks in a row did not find it. The server list has no stable order and pages shift while they are
 * read, so a single walk can miss a server.
 */
const WALKS_TO_VANISH = 3;

/** The parts of a walk's result that update the census. */
export type CensusWalk = Pick<ListingWalk, 'servers' | 'complete'> & Partial<Pick<ListingWalk, 'unreadable'>>;

const NONE: ReadonlySet<string> = new Set();

/**
 * The census after a walk. A server that was found gets its new description. A server stays as it was if an incomplete walk did
 * not find it or if its entry can't be read. `notFound` holds the identities of servers whose own calls return 404:
 * for these, one complete walk without them is enough.
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

/** The census with the servers that `reduce` keeps of all: also those that a walk missed, which keep their places. */
export function reduced(
  census: Census,
  reduce: (servers: readonly ListedServer[]) => readonly ListedServer[],
): Census {
  const known = [...census.values()].map(({ server }) => server);
  const kept = new Set(reduce(known).map(({ uuid }) => uuid));
  return kept.size === known.length ? census : new Map([...census].filter(([uuid]) => kept.has(uuid)));
}

/** Did the last walks miss a server, so that another walk should tell whether it is gone? */
export function hasDoubts(census: Census): boolean {
  for (const { missed } of census.values()) if (missed > 0) return true;
  return false;
}
