import type { Problem } from '../domain/problem.ts';
import { identityOf, type ServerTarget } from '../domain/server.ts';
import type { ListedServer } from '../panel/dialect.ts';
import { LISTING_PAGE_SIZE } from '../panel/listing.ts';

/** Servers by whether they are admitted. */
export interface Admitted<Server> {
  readonly admitted: readonly Server[];
  readonly leftOut: readonly Server[];
}

/**
 * Admits at most `most` of these servers, each of which is there once; pure. Those that are observed already stay, and the places left
 * go to the others in the order of their UUIDs, so that the choice depends neither on the order of the listing nor on chance.
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

/** The problem with a listing that holds more than is admitted; `entries` are those that no page was asked for. */
export function surplusProblem(
  { servers, firstNames }: Surplus,
  entries: number,
  maxServers: number,
): Problem | undefined {
  const parts = [
    ...(servers > 0
      ? [`${servers} servers left out, max_servers is ${maxServers}; first: ${firstNames.join(', ')}`]
      : []),
    ...(entries > 0
      ? [`${entries} entries left out, on pages with more than the ${LISTING_PAGE_SIZE} asked for`]
      : []),
  ];
  return parts.length === 0 ? undefined : { cause: 'listing_too_long', detail: parts.join('; ') };
}

/** What listed servers are admitted by. */
export interface AdmissionRules {
  /** The most servers that are observed because the listing names them. */
  readonly maxServers: number;
  readonly configured: readonly ServerTarget[];
  /** Would the server be observed because the listing names it, if it isn't configured? */
  readonly isDiscovered: (server: ListedServer) => boolean;
  /** Is the server with this UUID observed because the listing names it? */
  readonly isObserved: (uuid: string) => boolean;
}

/** The names that a report of servers begins with. */
const NAMES_REPORTED = 3;

/**
 * The admission of listed servers to what is remembered of a listing, over one walk. Configured servers and servers that aren't
 * observed here are remembered too, for another configuration may need them at once: each kind has as many places of its own.
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

  /** The servers that were left out so far, though they would be observed if there were places for them. */
  get surplus(): Surplus {
    return { servers: this.#leftOut.size, firstNames: this.#names };
  }

  /** The servers of these that are remembered; each may be there once. */
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
      if (!this.#leftOut.has(uuid) && this.#names.length < NAMES_REPORTED) this.#names.push(name);
      this.#leftOut.add(uuid);
    }
    return [
      ...admit(own, isObserved, Math.max(maxServers, configured.length)).admitted,
      ...admitted,
      ...admit(others, isObserved, maxServers).admitted,
    ];
  }
}
