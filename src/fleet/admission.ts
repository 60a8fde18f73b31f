import type { Problem } from '../domain/problem.ts';
import { NAMES_SHOWN } from '../domain/sentences.ts';
import { identityOf, type ServerTarget } from '../domain/server.ts';
import type { ListedServer } from '../panel/dialect.ts';
import { LISTING_PAGE_SIZE } from '../panel/listing.ts';

/** Servers, divided into those that are admitted and those that are not. */
export interface Admitted<Server> {
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
export interface AdmissionRules {
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
