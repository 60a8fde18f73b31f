import picomatch from 'picomatch';
import { type DiscoverRules, MATCH_KEYS, type MatchKey, type ServerGlobs } from '../domain/discovery.ts';
import {
  type BlockedReason,
  type Expect,
  identityOf,
  type Limits,
  type ServerTarget,
} from '../domain/server.ts';
import type { ListedServer } from '../panel/dialect.ts';
import type { Census } from './census.ts';

/** What the rules say of one listed server. */
interface DiscoveryVerdict {
  readonly included: boolean;
  readonly expect: Expect;
}

/** The rules for discovered servers, with the globs compiled. */
export interface CompiledRules extends Pick<DiscoverRules, 'labels' | 'mode'> {
  readonly panel: string;
  judge(server: ListedServer): DiscoveryVerdict;
}

/** What is to be observed of a panel. */
export interface MergedTargets {
  /** The configured servers in their order, then the discovered ones by name. */
  readonly targets: readonly ServerTarget[];
  readonly discovered: number;
}

/**
 * The configured servers with what the listing says of them, and the listed ones that the rules add; without rules none is added. No
 * server is there twice.
 */
export function mergeTargets(
  configured: readonly ServerTarget[],
  census: Census,
  rules: CompiledRules | undefined,
): MergedTargets {
  const byIdentity = new Map<string, ListedServer>();
  for (const { server } of census.values()) byIdentity.set(identityOf({ id: server.uuid }), server);
  const taken = new Set(configured.map(identityOf));
  const own = configured.map((target) => {
    const listed = byIdentity.get(identityOf(target));
    const isSame = target.uuid === undefined || target.uuid === listed?.uuid;
    return listed !== undefined && isSame ? described(target, listed, rules !== undefined) : target;
  });
  if (rules === undefined) return { targets: own, discovered: 0 };
  const added: ServerTarget[] = [];
  for (const [identity, server] of byIdentity) {
    if (taken.has(identity)) continue;
    const { included, expect } = rules.judge(server);
    if (included) added.push(discovered(server, expect, rules));
  }
  added.sort(byName);
  return { targets: [...own, ...added], discovered: added.length };
}

/** Was the server given no name in the configuration, so that the listing may name it? */
export function isUnnamed(target: Pick<ServerTarget, 'name' | 'id'>): boolean {
  return target.name === identityOf(target);
}

function described(target: ServerTarget, listed: ListedServer, renames: boolean): ServerTarget {
  return {
    ...target,
    ...factsOf(listed),
    ...(renames && isUnnamed(target) && { name: listed.name }),
    limits: { ...limitsOf(listed), ...target.limits },
  };
}

function discovered(
  server: ListedServer,
  expect: Expect,
  { panel, labels, mode }: CompiledRules,
): ServerTarget {
  const { uuid, name } = server;
  return { panel, id: uuid, name, labels, expect, mode, ...factsOf(server), limits: limitsOf(server) };
}

function factsOf(
  server: ListedServer,
): Pick<ServerTarget, 'uuid' | 'node' | 'egg' | 'blocked' | 'withoutBackups'> {
  const { uuid, node, egg } = server;
  const blocked = blockedByListing(server);
  return {
    uuid,
    ...(node !== undefined && { node }),
    ...(egg !== undefined && { egg }),
    ...(blocked !== undefined && { blocked }),
    ...(server.withoutBackups && { withoutBackups: true }),
  };
}

/** The node grants some memory over the limit that the panel lists, so its own word goes before a number, but not before "unlimited". */
function limitsOf({ limits }: ListedServer): Limits {
  const { memoryBytes, ...rest } = limits;
  if (typeof memoryBytes === 'number') return { ...rest, listedMemoryBytes: memoryBytes };
  return memoryBytes === undefined ? rest : { ...rest, memoryBytes };
}

/** What keeps a server from being observed, going by its flags in the listing. */
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

/** A panel's rules, ready to judge each listed server by. */
export function compileRules(panel: string, rules: DiscoverRules): CompiledRules {
  const included = testsOf(rules.include);
  const excluded = testsOf(rules.exclude);
  const expectations = rules.expect.map(({ match, state }) => ({ tests: testsOf(match), state }));
  const judge = (server: ListedServer): DiscoveryVerdict => ({
    included: included.every((fits) => fits(server)) && !excluded.some((fits) => fits(server)),
    expect: expectations.find(({ tests }) => tests.every((fits) => fits(server)))?.state ?? 'auto',
  });
  return { panel, labels: rules.labels, mode: rules.mode, judge };
}

// Names are no paths: a star goes over slashes, and over a dot in front.
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
