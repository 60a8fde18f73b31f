import picomatch from 'picomatch';
import { type DiscoverRules, MATCH_KEYS, type MatchKey, type ServerGlobs } from '../domain/discovery.ts';
import type { Problem } from '../domain/problem.ts';
import type { QuerySettings } from '../domain/query.ts';
import { NAMES_SHOWN } from '../domain/sentences.ts';
import { type BlockedReason, type Expect, identityOf, type ServerTarget } from '../domain/server.ts';
import type { ListedServer } from '../panel/dialect.ts';
import { LISTING_PAGE_SIZE } from '../panel/listing.ts';
import { AUTO, isProxy, typeOfEgg } from '../query/eggs.ts';
import { byUuid } from './listing-state.ts';

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
export interface CompiledRules extends Pick<DiscoverRules, 'labels' | 'mode' | 'maxServers'> {
  readonly panel: string;
  judge(server: ListedServer): DiscoveryVerdict;
  /** Do the rules include the server, and is it monitored here? */
  selects(server: ListedServer): boolean;
}

/** What tells one server from all others. */
export type ServerIdentity = Pick<ServerTarget, 'panel' | 'id' | 'name' | 'uuid'>;

/** The servers of a panel to monitor. */
export interface MergedTargets {
  /** The configured servers in their order, then the discovered ones by name. */
  readonly targets: readonly ServerTarget[];
  readonly discovered: number;
  /** Listed servers that can't be monitored because another server of the panel has the same 8-character identifier. */
  readonly ambiguous: readonly ListedServer[];
  /** Listed servers that aren't monitored because there are too many, in the order of their UUIDs. */
  readonly leftOut: readonly ListedServer[];
}

/**
 * Merges the configured servers, completed from the server list, with the listed servers that the rules add; without rules none is
 * added. Above `maxServers`, the first by UUID are added. No identifier occurs twice, since it distinguishes the series: among
 * servers that share one, the configured one wins, then the first by UUID.
 */
export function mergeTargets(
  configured: readonly ServerTarget[],
  listed: readonly ListedServer[],
  rules: CompiledRules | undefined,
): MergedTargets {
  const twinsOf = byIdentity(listed);
  const owners = new Map(configured.map((target) => [identityOf(target), target]));
  const own = configured.map((target) => {
    const server = listingOf(target, twinsOf.get(identityOf(target)));
    if (server === undefined) return target;
    const isRenamed = rules !== undefined && isUnnamed(target);
    return targetOf(server, isRenamed ? { ...target, name: server.name } : target);
  });
  const added: ServerTarget[] = [];
  const ambiguous: ListedServer[] = [];
  const leftOut: ListedServer[] = [];
  for (const [identity, twins] of twinsOf) {
    const owner = owners.get(identity);
    if (owner !== undefined && owner.uuid === undefined) {
      // The panel responds for one of the servers with this short id, and it is unknown for which.
      if (twins.length > 1) ambiguous.push(...twins);
      continue;
    }
    if (rules === undefined) continue;
    const [first, ...others] = twins.filter((server) => server.uuid !== owner?.uuid && rules.selects(server));
    if (first === undefined) continue;
    ambiguous.push(...others);
    if (owner !== undefined) ambiguous.push(first);
    else if (added.length < rules.maxServers) added.push(discovered(first, rules));
    else leftOut.push(first);
  }
  added.sort(byName);
  return { targets: [...own, ...added], discovered: added.length, ambiguous, leftOut };
}

/** In the order of their UUIDs. */
function byIdentity(listed: readonly ListedServer[]): ReadonlyMap<string, readonly ListedServer[]> {
  const servers = new Map<string, ListedServer[]>();
  for (const server of [...listed].sort(byUuid)) {
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

/** Why servers of the server list that should be monitored are not; `forgotten` counts those that aren't even remembered. */
export function mergeProblems(
  { ambiguous, leftOut }: MergedTargets,
  counts: { readonly maxServers: number; readonly forgotten: number; readonly surplusEntries: number },
): readonly Problem[] {
  const namesOf = (servers: readonly ListedServer[], toName: (server: ListedServer) => string) =>
    servers.slice(0, NAMES_SHOWN).map(toName).join(', ');
  const tooMany: string[] = [];
  if (leftOut.length > 0)
    tooMany.push(
      `${leftOut.length + counts.forgotten} servers left out (max_servers: ${counts.maxServers}); first: ${namesOf(leftOut, ({ name }) => name)}`,
    );
  if (counts.surplusEntries > 0)
    tooMany.push(
      `${counts.surplusEntries} entries left out on pages with more than the requested ${LISTING_PAGE_SIZE}`,
    );
  const problems: Problem[] = [];
  if (tooMany.length > 0) problems.push({ cause: 'listing_too_long', detail: tooMany.join('; ') });
  if (ambiguous.length > 0) {
    const names = namesOf(ambiguous, ({ name, uuid }) => `${name} (${uuid})`);
    const servers = ambiguous.length === 1 ? 'server' : 'servers';
    const detail = `${ambiguous.length} ${servers} not monitored, because another UUID begins with the same 8 characters; first: ${names}`;
    problems.push({ cause: 'same_identifier', detail });
  }
  return problems;
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
export function unlistedWords(
  configured: readonly ServerTarget[],
  uuids: Iterable<string>,
): string | undefined {
  const unlisted = unlistedIn(configured, uuids);
  if (unlisted.length === 0) return undefined;
  const names = unlisted.slice(0, NAMES_SHOWN).map(({ name }) => name);
  return `the server list of the key's account lacks ${unlisted.length} of ${configured.length} servers, so only their configured limits are known; first: ${names.join(', ')}`;
}

/** Has the configuration given the server no name, so that the server list may name it? */
export function isUnnamed(target: Pick<ServerTarget, 'name' | 'id'>): boolean {
  return target.name === identityOf(target);
}

/** A listed server as it is monitored: what the configuration or the rules determine takes precedence over the server list. */
function targetOf(server: ListedServer, own: ServerTarget): ServerTarget {
  const { uuid, node, egg = '', address, allocation, namedPort, otherPorts } = server;
  const { memoryBytes: listed, ...limits } = server.limits;
  // The node grants somewhat more memory than the panel lists, so its own figure takes precedence over a number, but not over "unlimited".
  const isNumber = typeof listed === 'number';
  return {
    ...own,
    limits: {
      ...limits,
      memoryBytes: own.limits.memoryBytes ?? (isNumber ? undefined : listed),
      diskBytes: own.limits.diskBytes ?? limits.diskBytes,
      cpuCores: own.limits.cpuCores ?? limits.cpuCores,
      listedMemoryBytes: isNumber ? listed : undefined,
    },
    uuid,
    node,
    egg: server.egg,
    daemon: server.daemon ?? own.daemon,
    address,
    allocation,
    namedPort,
    otherPorts,
    blocked: blockedByListing(server),
    isProxy: isProxy(egg) || undefined,
    withoutBackups: server.withoutBackups || undefined,
  };
}

function discovered(server: ListedServer, rules: CompiledRules): ServerTarget {
  const { panel, labels, mode } = rules;
  const { uuid: id, name } = server;
  const { expect, query } = rules.judge(server);
  const own = { panel, id, name, labels, expect, mode, limits: {}, query: queryOf(query, server) };
  return targetOf(server, { ...own, isDiscovered: true });
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

/** Why a server can't be monitored, according to its flags in the server list. */
export function blockedByListing(server: ListedServer): BlockedReason | undefined {
  if (server.suspended) return 'suspended';
  if (server.transferring) return 'transferring';
  if (server.restoring) return 'restoring';
  if (server.installing) return 'installing';
  return server.underMaintenance ? 'maintenance' : undefined;
}

function byName(one: ServerTarget, other: ServerTarget): number {
  if (one.name !== other.name) return one.name < other.name ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

type ServerTest = (server: ListedServer) => boolean;

/** Compiles a panel's rules, so that each listed server can be matched against them. */
export function compileRules(
  panel: string,
  rules: DiscoverRules,
  isOurs: (server: ServerIdentity) => boolean = () => true,
): CompiledRules {
  const included = testsOf(rules.include);
  const excluded = testsOf(rules.exclude);
  const expectations = rules.expect.map(({ match, state }) => ({ tests: testsOf(match), state }));
  const queries = (rules.query ?? []).map(({ match, query }) => ({ tests: testsOf(match), query }));
  const includes = (server: ListedServer) =>
    included.every((fits) => fits(server)) && !excluded.some((fits) => fits(server));
  const judge = (server: ListedServer): DiscoveryVerdict => {
    const isFor = ({ tests }: { readonly tests: readonly ServerTest[] }) =>
      tests.every((fits) => fits(server));
    const rule = expectations.findIndex(isFor);
    return {
      included: includes(server),
      expect: expectations[rule]?.state ?? 'auto',
      rule,
      query: queries.find(isFor)?.query,
    };
  };
  return {
    ...rules,
    panel,
    judge,
    selects: (server) => includes(server) && isOurs({ panel, id: server.uuid, ...server }),
  };
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
