// The knowledge gained from the walks through a panel's server list; pure.

import type { Problem } from '../domain/problems.ts';
import { shortId } from '../domain/server-ids.ts';
import type { ListedServer } from '../panel/responses.ts';
import { LISTING_PAGE_SIZE, type ListingWalk, MAX_PAGES } from './listing-walk.ts';

/**
 * The knowledge gained from the walks through a panel's server list. Times are in monotonic
 * milliseconds.
 */
export interface ListingState {
  /** By UUID: the latest entry, and how many complete walks in a row have missed it. */
  readonly known: ReadonlyMap<string, { readonly entry: ListedServer; readonly missedWalks: number }>;
  /** When complete walks began to find no server, or less than half of them. */
  readonly shortSince?: number | undefined;
  /** When the last complete walk ended. */
  readonly completeAt?: number | undefined;
  /** Why the last complete walk discovered no server. */
  readonly empty?: Problem | undefined;
  /** The number of pages; 0 before the first walk. */
  readonly pages: number;
  /** The number of walks with a problem. */
  readonly failures: number;
}

export const NEVER_READ: ListingState = { known: new Map(), pages: 0, failures: 0 };

/**
 * Pages have no stable order and change while they are read, so a single walk can miss a server.
 */
const WALKS_TO_VANISH = 3;

/**
 * A failing panel may respond successfully with too few servers, and the counters of the missing
 * ones would be lost.
 */
const SHORT_FOR_MS = 30 * 60_000;

/**
 * The state after a walk; pure. A server is removed after three complete walks without it, or after
 * one if its own calls return 404. If 40 servers are known, a list of 19 or fewer counts only once
 * such walks have lasted for half an hour.
 */
export function afterWalk(
  before: ListingState,
  { servers, unreadable, complete, problem, pages }: ListingWalk,
  now: number,
  isIncluded: (server: ListedServer) => boolean,
  /** Identities of the servers whose own calls return 404. */
  notFound: ReadonlySet<string>,
): ListingState {
  const known = new Map(servers.map((entry) => [entry.uuid, { entry, missedWalks: 0 }]));
  const isMissing = (uuid: string) => !known.has(uuid) && !unreadable.has(shortId({ id: uuid }));
  const found = [...before.known].filter(([, { missedWalks }]) => missedWalks === 0);
  const isShort = 2 * found.filter(([uuid]) => isMissing(uuid)).length > found.length;
  const shortSince = isShort ? (before.shortSince ?? now) : undefined;
  const counts = complete && (shortSince === undefined || now - shortSince >= SHORT_FOR_MS);
  for (const [uuid, { entry, missedWalks: missedBefore }] of before.known) {
    if (known.has(uuid)) continue;
    // A hostile list may contain different servers in each walk.
    if (known.size >= MAX_PAGES * LISTING_PAGE_SIZE) break;
    const missedWalks = counts && isMissing(uuid) ? missedBefore + 1 : missedBefore;
    const walksToVanish = notFound.has(shortId({ id: uuid })) ? 1 : WALKS_TO_VANISH;
    if (missedWalks < walksToVanish) known.set(uuid, { entry, missedWalks });
  }
  return {
    ...before,
    ...(complete && { completeAt: now, shortSince, empty: emptyProblem(servers.length, problem) }),
    ...(servers.some(isIncluded) && { empty: undefined }),
    known,
    pages,
    failures: before.failures + (problem === undefined ? 0 : 1),
  };
}

/**
 * The problem of a complete server list from which no server is discovered. Unreadable entries are
 * a different problem.
 */
function emptyProblem(listed: number, problem: Error | undefined): Problem | undefined {
  if (problem !== undefined) return undefined;
  if (listed === 0) return { cause: 'nothing_listed', detail: 'the server list is empty' };
  const which = listed === 1 ? 'the only listed server' : `all ${listed} listed servers`;
  return { cause: 'all_excluded', detail: `\`discover\` excludes ${which}` };
}

/** Did the last walk miss servers, so that another walk has to show whether they are gone? */
export function hasDoubts({ known, shortSince }: ListingState): boolean {
  return shortSince !== undefined || [...known.values()].some(({ missedWalks }) => missedWalks > 0);
}
