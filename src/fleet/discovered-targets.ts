import picomatch from 'picomatch';
import { type DiscoverRules, MATCH_KEYS, type MatchKey, type ServerGlobs } from '../domain/discovery.ts';
import type { Problem } from '../domain/problem.ts';
import type { QuerySettings } from '../domain/query.ts';
import { NAMES_SHOWN } from '../domain/sentences.ts';
import {
  type BlockedReason,
  type Complete,
  type Expect,
  identityOf,
  type Limits,
  type ServerTarget,
} from '../domain/server.ts';
import type { ListedServer } from '../panel/dialect.ts';
import { AUTO, isProxy, typeOfEgg } from '../query/eggs.ts';
import { admit, type Census } from './census.ts';

/** What the rules decide about one listed server. */
interface DiscoveryVerdict {
  readonly included: boolean;
  readonly expect: Expect;
  /** The index of the first expectation rule that matches; -1 if none does. */
  readonly rule: number;
  /** The query settings of the first rule that matches (the same object); undefined if the game isn't queried. */
  readonly query?: QuerySettings | undefined;
}

/** The rules for discovered servers, with the globs compiled. */
export interface CompiledRules extends Pick<DiscoverRules, 'labels' | 'mode'> {
  readonly panel: string;
  judge(server: ListedServer): DiscoveryVerdict;
}

/** The servers of a panel to monitor. */
export interface MergedTargets {
  /** The configured servers in their order, then the discovered ones by name. */
  readonly targets: readonly ServerTarget[];
  readonly discovered: number;
  /** Listed servers that can't be monitored because another server of the panel has the same 8-character identifier. */
  readonly ambiguous: readonly ListedServer[];
}

/**
 * Merges the configured servers, completed from the server list, with the listed servers that the rules add; without rules none is
 * added. No identifier occurs twice, since it distinguishes the series: among servers that share one, the configured one wins,
 * then one that is already monitored, then the first by UUID.
 */
export function mergeTargets(
  configured: readonly ServerTarget[],
  census: Census,
  rules: CompiledRules | undefined,
  isObserved: (uuid: string) => boolean = () => false,
): MergedTargets {
  const listed = byIdentity(census);
  const taken = new Map(configured.map((target) => [identityOf(target), target]));
  const own = configured.map((target) => {
    const server = listingOf(target, listed.get(identityOf(target)));
    return server === undefined ? target : described(target, server, rules !== undefined);
  });
  const added: ServerTarget[] = [];
  const ambiguous: ListedServer[] = [];
  for (const [identity, twins] of listed) {
    const owner = taken.get(identity);
    if (owner !== undefined && owner.uuid === undefined) {
      // The panel responds for one of the servers with this short id, and it is unknown for which.
      if (twins.length > 1) ambiguous.push(...twins);
      continue;
    }
    if (rules === undefined) continue;
    const wanted = twins.filter((server) => server.uuid !== owner?.uuid && rules.judge(server).included);
    const [first, ...others] = wanted.length > 1 ? ranked(wanted, isObserved) : wanted;
    if (first === undefined) continue;
    if (owner === undefined) added.push(discovered(first, rules.judge(first), rules));
    else ambiguous.push(first);
    ambiguous.push(...others);
  }
  added.sort(byName);
  return { targets: [...own, ...added], discovered: added.length, ambiguous };
}

function byIdentity(census: Census): ReadonlyMap<string, readonly ListedServer[]> {
  const servers = new Map<string, ListedServer[]>();
  for (const { server } of census.values()) {
    const identity = identityOf({ id: server.uuid });
    const twins = servers.get(identity);
    if (twins === undefined) servers.set(identity, [server]);
    else twins.push(server);
  }
  return servers;
}

/** The server list's entry for a configured server; undefined if there is none or a short id is ambiguous. */
function listingOf({ uuid }: ServerTarget, twins: readonly ListedServer[] = []): ListedServer | undefined {
  if (uuid !== undefined) return twins.find((server) => server.uuid === uuid);
  return twins.length === 1 ? twins[0] : undefined;
}

/** Sorted by precedence; independent of the order of the server list. */
function ranked(
  servers: readonly ListedServer[],
  isObserved: (uuid: string) => boolean,
): readonly ListedServer[] {
  const { admitted, leftOut } = admit(servers, isObserved, 1);
  return [...admitted, ...leftOut];
}

/** The problem of servers that can't be told apart; undefined if there are none. */
export function ambiguityProblem(ambiguous: readonly ListedServer[]): Problem | undefined {
  if (ambiguous.length === 0) return undefined;
  const names = ambiguous.slice(0, NAMES_SHOWN).map(({ name, uuid }) => `${name} (${uuid})`);
  const servers = ambiguous.length === 1 ? 'server' : 'servers';
  const detail = `${ambiguous.length} ${servers} not monitored, because another UUID begins with the same 8 characters; first: ${names.join(', ')}`;
  return { cause: 'same_identifier', detail };
}

/** The configured servers that are missing from a server list with these UUIDs. */
export function unlistedIn(
  configured: readonly ServerTarget[],
  uuids: Iterable<string>,
): readonly ServerTarget[] {
  const listed = new Set([...uuids].map((uuid) => identityOf({ id: uuid })));
  return configured.filter((target) => !listed.has(identityOf(target)));
}

/** Which configured servers are missing from a server list that was read completely; undefined if none are. */
export function unlistedWords(configured: readonly ServerTarget[], census: Census): string | undefined {
  const unlisted = unlistedIn(configured, census.keys());
  if (unlisted.length === 0) return undefined;
  const names = unlisted.slice(0, NAMES_SHOWN).map(({ name }) => name);
  return `the server list of the key's account lacks ${unlisted.length} of ${configured.length} servers, so only their configured limits are known; first: ${names.join(', ')}`;
}

/** Has the configuration given the server no name, so that the server list may name it? */
export function isUnnamed(target: Pick<ServerTarget, 'name' | 'id'>): boolean {
  return target.name === identityOf(target);
}

function described(target: ServerTarget, listed: ListedServer, renames: boolean): Complete<ServerTarget> {
  const { panel, id, labels, expect, mode, limits, query } = target;
  const fromListing = limitsOf(listed);
  return {
    panel,
    id,
    name: renames && isUnnamed(target) ? listed.name : target.name,
    labels,
    expect,
    mode,
    limits: {
      ...fromListing,
      memoryBytes: limits.memoryBytes ?? fromListing.memoryBytes,
      diskBytes: limits.diskBytes ?? fromListing.diskBytes,
      cpuCores: limits.cpuCores ?? fromListing.cpuCores,
    },
    query,
    isDiscovered: undefined,
    ...factsOf(listed),
  };
}

function discovered(
  server: ListedServer,
  { expect, query }: DiscoveryVerdict,
  { panel, labels, mode }: CompiledRules,
): Complete<ServerTarget> {
  const { uuid, name } = server;
  const limits = limitsOf(server);
  return {
    panel,
    id: uuid,
    name,
    labels,
    expect,
    mode,
    limits,
    query: queryOf(query, server),
    isDiscovered: true,
    ...factsOf(server),
  };
}

/** The query of a rule for this server; undefined if its type depends on an egg whose game isn't known. */
export function queryOf(
  query: QuerySettings | undefined,
  { egg = '', namedPort }: ListedServer,
): QuerySettings | undefined {
  if (query?.type !== AUTO) return query;
  const type = typeOfEgg(egg, namedPort !== undefined);
  return type === undefined ? undefined : { ...query, type, isGuess: true };
}

function factsOf(
  server: ListedServer,
): Complete<
  Pick<
    ServerTarget,
    | 'uuid'
    | 'node'
    | 'egg'
    | 'daemon'
    | 'address'
    | 'allocation'
    | 'namedPort'
    | 'otherPorts'
    | 'blocked'
    | 'isProxy'
    | 'withoutBackups'
  >
> {
  const { uuid, node, egg, daemon, address, allocation, namedPort, otherPorts, withoutBackups } = server;
  return {
    uuid,
    node,
    egg,
    daemon,
    address,
    allocation,
    namedPort,
    otherPorts,
    blocked: blockedByListing(server),
    isProxy: isProxy(egg ?? '') ? true : undefined,
    withoutBackups: withoutBackups ? true : undefined,
  };
}

/**
 * The node grants somewhat more memory than the panel lists, so the node's own figure takes precedence over a number, but not
 * over "unlimited".
 */
function limitsOf({ limits }: ListedServer): Complete<Limits> {
  const { memoryBytes, diskBytes, cpuCores, swapBytes, ioWeight } = limits;
  const isNumber = typeof memoryBytes === 'number';
  return {
    memoryBytes: isNumber ? undefined : memoryBytes,
    diskBytes,
    cpuCores,
    swapBytes,
    ioWeight,
    listedMemoryBytes: isNumber ? memoryBytes : undefined,
  };
}

/** Why a server can't be monitored, according to its flags in the server list. */
export function blockedByListing(server: ListedServer): BlockedReason | undefined {
  if (server.suspended) return 'suspended';
  if (server.transferring) return 'transferring';
  if (server.restoring) return 'restoring';
  if (server.installing) return 'installing';
  return server.underMaintenance ? 'maintenance' : undefined;
}

/** The server as it is monitored if the server list isn't current: its own calls show whether it is blocked. */
export function unblocked(target: ServerTarget): ServerTarget {
  return { ...target, blocked: undefined };
}

function byName(one: ServerTarget, other: ServerTarget): number {
  if (one.name !== other.name) return one.name < other.name ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

type ServerTest = (server: ListedServer) => boolean;

/** Compiles a panel's rules, so that each listed server can be matched against them. */
export function compileRules(panel: string, rules: DiscoverRules): CompiledRules {
  const included = testsOf(rules.include);
  const excluded = testsOf(rules.exclude);
  const expectations = rules.expect.map(({ match, state }) => ({ tests: testsOf(match), state }));
  const queries = (rules.query ?? []).map(({ match, query }) => ({ tests: testsOf(match), query }));
  const judge = (server: ListedServer): DiscoveryVerdict => {
    const isFor = ({ tests }: { readonly tests: readonly ServerTest[] }) =>
      tests.every((fits) => fits(server));
    const rule = expectations.findIndex(isFor);
    return {
      included: included.every((fits) => fits(server)) && !excluded.some((fits) => fits(server)),
      expect: expectations[rule]?.state ?? 'auto',
      rule,
      query: queries.find(isFor)?.query,
    };
  };
  return { panel, labels: rules.labels, mode: rules.mode, judge };
}

// Names are not paths: a star also matches slashes and a leading dot.
const OPTIONS = { nocase: true, dot: true, bash: true };

/** One test for each key that has globs. */
function testsOf(globs: ServerGlobs): readonly ServerTest[] {
  return MATCH_KEYS.flatMap((key) => {
    const wanted = globs[key];
    if (wanted === undefined) return [];
    const matches = wanted.map((glob) => picomatch(glob, OPTIONS));
    return [
      (server: ListedServer) => valuesOf(server, key).some((value) => matches.some((fits) => fits(value))),
    ];
  });
}

function valuesOf(server: ListedServer, key: MatchKey): readonly string[] {
  if (key === 'id') return [server.uuid, server.identifier];
  const value = server[key];
  return value === undefined ? [] : [value];
}
