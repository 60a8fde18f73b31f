// Merges the configured servers with those that the rules add from the server list.

import type { Problem } from '../domain/problems.ts';
import type { QuerySettings, ServerTarget } from '../domain/server.ts';
import { shortId } from '../domain/server-ids.ts';
import type { ListedServer } from '../panel/responses.ts';
import { AUTO, isProxy, typeOfEgg } from '../query/eggs.ts';
import { listed, NAMES_SHOWN, quantity } from '../text/sentences.ts';
import type { CompiledRules } from './discover-rules.ts';

/**
 * The configured servers, and the listed ones that the rules add: the first `maxServers` by UUID.
 * Only one server can have an identifier such as `1a7ce997`, because it distinguishes their series:
 * the configured one, or else the first by UUID.
 */
export function mergeTargets(
  configured: readonly ServerTarget[],
  listed: readonly ListedServer[],
  rules: CompiledRules | undefined,
) {
  const twinsByIdentity = new Map<string, ListedServer[]>();
  for (const server of listed) {
    const identity = shortId({ id: server.uuid });
    const twins = twinsByIdentity.get(identity);
    if (twins === undefined) twinsByIdentity.set(identity, [server]);
    else twins.push(server);
  }
  const owners = new Map(configured.map((target) => [shortId(target), target]));
  const own = configured.map((target) =>
    completed(target, findListed(target, twinsByIdentity.get(shortId(target))), rules),
  );
  const chosen: ListedServer[] = [];
  const ambiguous: ListedServer[] = [];
  for (const [identity, twins] of twinsByIdentity) {
    const owner = owners.get(identity);
    if (owner !== undefined && owner.uuid === undefined) {
      // The panel's responses are about one of the servers with this short id, but it isn't known
      // which.
      if (twins.length > 1) ambiguous.push(...twins);
      continue;
    }
    if (rules === undefined) continue;
    const [first, ...others] = twins
      .filter((server) => server.uuid !== owner?.uuid && rules.selects(server))
      .sort(byUuid);
    if (first === undefined) continue;
    ambiguous.push(...others);
    if (owner === undefined) chosen.push(first);
    else ambiguous.push(first);
  }
  // Sorting all servers would take longer than the rest of the merge.
  const { maxServers = 0 } = rules ?? {};
  if (chosen.length > maxServers) chosen.sort(byUuid);
  const leftOut = chosen.splice(maxServers);
  const added = rules === undefined ? [] : chosen.map((server) => discovered(server, rules)).sort(byName);
  return {
    /** The configured servers in their order, then the discovered ones by name. */
    targets: [...own, ...added],
    discovered: added.length,
    /**
     * Listed servers that can't be monitored because another server of the panel has the same
     * 8-character identifier.
     */
    ambiguous: ambiguous.sort(byUuid),
    /**
     * Listed servers that aren't monitored because there are too many, in the order of their UUIDs.
     */
    leftOut,
  };
}

/**
 * The server list's entry for a configured server; undefined if there is none or the short id is
 * ambiguous.
 */
function findListed({ uuid }: ServerTarget, twins: readonly ListedServer[] = []): ListedServer | undefined {
  if (uuid !== undefined) return twins.find((server) => server.uuid === uuid);
  return twins.length === 1 ? twins[0] : undefined;
}

/** Why some servers of the server list aren't monitored although the rules include them. */
export function mergeProblems({ ambiguous, leftOut }: ReturnType<typeof mergeTargets>, maxServers: number) {
  const reasons = [
    ['listing_too_long', leftOut, `beyond \`max_servers: ${maxServers}\``],
    ['same_identifier', ambiguous, 'another UUID begins with the same 8 characters'],
  ] as const;
  return reasons.flatMap(([cause, servers, why]): readonly Problem[] => {
    const printedName = ({ name, uuid }: ListedServer) =>
      cause === 'same_identifier' ? `${name} (${uuid})` : name;
    const names = listed(servers.map(printedName), NAMES_SHOWN);
    const detail = `${quantity(servers.length, 'server')} not monitored (${why}): ${names}`;
    return servers.length === 0 ? [] : [{ cause, detail }];
  });
}

/** The configured servers that are missing from a server list with these UUIDs. */
export function unlistedIn(configured: readonly ServerTarget[], uuids: Iterable<string>) {
  const listed = new Set([...uuids].map((uuid) => shortId({ id: uuid })));
  return configured.filter((target) => !listed.has(shortId(target)));
}

/** Does the server lack a configured name, so that the server list may give it one? */
export function isUnnamed(target: Pick<ServerTarget, 'name' | 'id'>): boolean {
  return target.name === shortId(target);
}

/** The description of a listed server. Settings and rules take precedence over the server list. */
function toTarget(server: ListedServer, own: ServerTarget): ServerTarget {
  const { identifier: _identifier, name: _name, daemon, ...facts } = server;
  const { memoryBytes: listed, diskBytes, cpuCores, swapBytes, ioWeight } = facts.limits;
  // The node grants slightly more memory than the panel lists. Its number therefore takes
  // precedence over a listed number, but not over "unlimited".
  const isNumber = typeof listed === 'number';
  return {
    ...own,
    ...facts,
    // An explicit list of fields gives all objects the same shape in V8, because every sample reads
    // the limits. A rest pattern would not.
    limits: {
      memoryBytes: own.limits.memoryBytes ?? (isNumber ? undefined : listed),
      diskBytes: own.limits.diskBytes ?? diskBytes,
      cpuCores: own.limits.cpuCores ?? cpuCores,
      swapBytes,
      ioWeight,
      listedMemoryBytes: isNumber ? listed : undefined,
    },
    daemon: daemon ?? own.daemon,
    isProxy: isProxy(facts.egg ?? '') || undefined,
  };
}

/**
 * The description of a discovered server by rules and list entry. It stays the same object as long
 * as both do.
 */
const DISCOVERED = new WeakMap<CompiledRules, WeakMap<ListedServer, ServerTarget>>();

function discovered(server: ListedServer, rules: CompiledRules): ServerTarget {
  const ofRules = DISCOVERED.get(rules) ?? new WeakMap<ListedServer, ServerTarget>();
  DISCOVERED.set(rules, ofRules);
  const known = ofRules.get(server);
  if (known !== undefined) return known;
  const { panel, mode } = rules;
  const { uuid: id, name } = server;
  const { expect, query, labels } = rules.judge(server);
  const own = { panel, id, name, labels, expect, mode, limits: {}, query: chooseQuery(query, server) };
  const target = toTarget(server, { ...own, isDiscovered: true });
  ofRules.set(server, target);
  return target;
}

/**
 * For each configured server, the inputs of its last complete description and that description,
 * which stays the same object until the inputs change.
 */
const COMPLETED = new WeakMap<
  ServerTarget,
  { readonly server: ListedServer; readonly isRenamed: boolean; readonly target: ServerTarget }
>();

/** A configured server, with the facts from the server list if it is listed. */
function completed(
  target: ServerTarget,
  server: ListedServer | undefined,
  rules: CompiledRules | undefined,
): ServerTarget {
  if (server === undefined) return target;
  const isRenamed = rules !== undefined && isUnnamed(target);
  const last = COMPLETED.get(target);
  if (last?.server === server && last.isRenamed === isRenamed) return last.target;
  const result = toTarget(server, isRenamed ? { ...target, name: server.name } : target);
  COMPLETED.set(target, { server, isRenamed, target: result });
  return result;
}

/**
 * The rule's query for this server; undefined if the type depends on the egg and the egg's game
 * isn't known.
 */
export function chooseQuery(
  query: QuerySettings | undefined,
  { egg = '', namedPort }: ListedServer,
): QuerySettings | undefined {
  if (query?.type !== AUTO) return query;
  const type = typeOfEgg(egg, namedPort !== undefined);
  return type === undefined ? undefined : { ...query, type, isGuess: true };
}

function byUuid(one: ListedServer, other: ListedServer): number {
  return one.uuid < other.uuid ? -1 : 1;
}

function byName(one: ServerTarget, other: ServerTarget): number {
  if (one.name !== other.name) return one.name < other.name ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}
