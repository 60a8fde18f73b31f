import type { Problem } from '../domain/problem.ts';
import { NAMES_SHOWN } from '../domain/sentences.ts';
import { identityOf, type ServerTarget } from '../domain/server.ts';
import type { ListedServer } from '../panel/dialect.ts';
import { LISTING_PAGE_SIZE, type ListingWalk } from '../panel/listing.ts';

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

/** Servers, divided into those that are admitted and those that are not. */
interface Admitted<Server> {
  readonly admitted: readonly Server[];
  readonly leftOut: readonly Server[];
}

/**
 * Admits at most `most` of these distinct servers; pure. Servers that are already monitored stay; the remaining places go to the
 * others in order of UUID, so the choice doesn't depend on the order of the server list or on chance.
 */
export function admit<Server extends Pick<ListedServer, 'uuid'>>(
  servers: readonly Server[],
  isObserved: (uuid: string) => boolean,
  most: number,
): Admitted<Server> {
  if (servers.length <= most) return { admitted: servers, leftOut: [] };
  const observed = servers.filter(({ uuid }) => isObserved(uuid));
  const others = servers.filter(({ uuid }) => !isObserved(uuid));
  const ranked = [...observed.sort(byUuid), ...others.sort(byUuid)];
  return { admitted: ranked.slice(0, most), leftOut: ranked.slice(most) };
}

function byUuid(one: Pick<ListedServer, 'uuid'>, other: Pick<ListedServer, 'uuid'>): number {
  return one.uuid < other.uuid ? -1 : 1;
}

/** Servers that were left out. */
export interface Surplus {
  readonly servers: number;
  readonly firstNames: readonly string[];
}

export const NO_SURPLUS: Surplus = { servers: 0, firstNames: [] };

/**
 * The problem of a server list that holds more servers than are admitted; `entries` counts those on pages that were never requested.
 */
export function surplusProblem(
  { servers, firstNames }: Surplus,
  entries: number,
  maxServers: number,
): Problem | undefined {
  const parts = [
    ...(servers > 0
      ? [`${servers} servers left out (max_servers: ${maxServers}); first: ${firstNames.join(', ')}`]
      : []),
    ...(entries > 0
      ? [`${entries} entries left out on pages with more than the requested ${LISTING_PAGE_SIZE}`]
      : []),
  ];
  return parts.length === 0 ? undefined : { cause: 'listing_too_long', detail: parts.join('; ') };
}

/** The rules by which listed servers are admitted. */
interface AdmissionRules {
  /** The maximum number of discovered servers (monitored because the server list contains them). */
  readonly maxServers: number;
  readonly configured: readonly ServerTarget[];
  /** Would the server be discovered if it isn't configured? */
  readonly isDiscovered: (server: ListedServer) => boolean;
  /** Is the server with this UUID monitored because it was discovered? */
  readonly isObserved: (uuid: string) => boolean;
}

/**
 * Decides which listed servers are remembered over one walk of the server list. Configured servers and servers that aren't monitored
 * here are remembered too, since another configuration may need them at once: each kind has its own places.
 */
export class Admission {
  readonly #rules: AdmissionRules;
  readonly #configured: ReadonlySet<string>;
  readonly #leftOut = new Set<string>();
  readonly #names: string[] = [];

  constructor(rules: AdmissionRules) {
    this.#rules = rules;
    this.#configured = new Set(rules.configured.map(identityOf));
  }

  /** The servers left out so far that would be monitored if there were places for them. */
  get surplus(): Surplus {
    return { servers: this.#leftOut.size, firstNames: this.#names };
  }

  /** Those of the (distinct) servers that are remembered. */
  reduce(servers: readonly ListedServer[]): readonly ListedServer[] {
    const { maxServers, configured, isDiscovered, isObserved } = this.#rules;
    if (servers.length <= maxServers) return servers;
    const own: ListedServer[] = [];
    const discovered: ListedServer[] = [];
    const others: ListedServer[] = [];
    for (const server of servers) {
      if (this.#configured.has(identityOf({ id: server.uuid }))) own.push(server);
      else (isDiscovered(server) ? discovered : others).push(server);
    }
    const { admitted, leftOut } = admit(discovered, isObserved, maxServers);
    for (const { uuid, name } of leftOut) {
      if (!this.#leftOut.has(uuid) && this.#names.length < NAMES_SHOWN) this.#names.push(name);
      this.#leftOut.add(uuid);
    }
    return [
      ...admit(own, isObserved, Math.max(maxServers, configured.length)).admitted,
      ...admitted,
      ...admit(others, isObserved, maxServers).admitted,
    ];
  }
}
