import picomatch from 'picomatch';
import type { Problem } from '../domain/problems.ts';
import { isSame } from '../domain/same.ts';
import { printable } from '../domain/secrets.ts';
import { counted, NAMES_SHOWN } from '../domain/sentences.ts';
import {
  type DiscoverRules,
  identityOf,
  MATCH_KEYS,
  type QuerySettings,
  type ServerGlobs,
  type ServerTarget,
} from '../domain/server.ts';
import { PanelError } from '../panel/api.ts';
import type { ListedServer, ListingPage, ListingQuery } from '../panel/dialect.ts';
import { AUTO, isProxy, typeOfEgg } from '../query/eggs.ts';

/** The most servers that panels return on one page. */
export const LISTING_PAGE_SIZE = 100;

/** Far more than any panel has, and too few to fill the memory. */
const MAX_PAGES = 500;

/** A walk stops after this many failed pages and leaves the rest for later. */
const MAX_FAILURES = 2;

/** So many entries are read between two turns of the event loop: even hostile ones take only milliseconds. */
const SLICE = 50;
export const afterEvents = () => new Promise((resolve) => setImmediate(resolve));

/** The result of a walk through the pages of a server list. */
export interface ListingWalk {
  /** One entry per UUID, with printable texts. */
  readonly servers: readonly ListedServer[];
  /** The ids that entries which can't be read reveal. */
  readonly unreadable: ReadonlySet<string>;
  /** Every page was read, even if single entries could not be. */
  readonly complete: boolean;
  /** The number of pages, as far as the panel reported it. */
  readonly pages: number;
  /** The latest rejection of `read`, or else the latest reason why a page or an entry was left out. */
  readonly problem: Error | undefined;
}

/**
 * Reads every page of a server list, one after the other, until the signal aborts. Pages have no stable order, so a server may be on
 * two of them: it counts once. Never rejects: what was found before a failure is kept. A server that is listed as it is known is the
 * same object, so that nothing has to compare it again.
 */
export async function walkListing(
  read: (query: Pick<ListingQuery, 'page' | 'perPage'>) => Promise<ListingPage>,
  signal?: AbortSignal,
  known: ListingState['known'] = NEVER_READ.known,
): Promise<ListingWalk> {
  const found = new Map<string, ListedServer>();
  const unreadable = new Set<string>();
  const failures: Error[] = [];
  let flaw: Error | undefined;
  let pages = 1;
  for (let page = 1; page <= Math.min(pages, MAX_PAGES) && failures.length < MAX_FAILURES; page += 1) {
    try {
      signal?.throwIfAborted();
      const answer = await read({ page, perPage: LISTING_PAGE_SIZE });
      let bad = answer.badEntries;
      for (const [index, listed] of answer.servers.entries()) {
        if (index > 0 && index % SLICE === 0) await afterEvents();
        const server = presentable(listed);
        if (server === undefined) {
          bad += 1;
          for (const id of [listed.identifier, listed.uuid]) unreadable.add(identityOf({ id }));
        } else found.set(server.uuid, latestOf(server, known.get(server.uuid)?.entry));
      }
      // A later page that reports fewer pages doesn't end the walk: servers on unread pages may still exist.
      pages = Math.max(pages, answer.totalPages);
      flaw = flawOf(page, bad, answer.totalPages) ?? flaw;
    } catch (error) {
      failures.push(error instanceof Error ? error : new Error(String(error)));
    }
  }
  return {
    servers: [...found.values()],
    unreadable,
    complete: failures.length === 0 && pages <= MAX_PAGES,
    pages: Math.min(pages, MAX_PAGES),
    problem: failures.at(-1) ?? flaw,
  };
}

function latestOf(server: ListedServer, known: ListedServer | undefined): ListedServer {
  return known !== undefined && isSame(known, server) ? known : server;
}

/** What is wrong with a page that was read. */
function flawOf(page: number, bad: number, totalPages: number): Error | undefined {
  const isLong = totalPages > MAX_PAGES;
  if (!isLong && bad === 0) return undefined;
  const detail = isLong
    ? `the server list is longer than ${MAX_PAGES} pages`
    : `${bad} entries on page ${page} have no valid UUID, or are beyond the ${LISTING_PAGE_SIZE} requested`;
  return new PanelError({ cause: 'bad_answer', detail });
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The server with texts that can be used as labels; undefined if its UUID isn't valid. */
function presentable(server: ListedServer): ListedServer | undefined {
  const uuid = server.uuid.toLowerCase();
  // An API key may look like a UUID, and an id can't be partly redacted.
  if (!UUID.test(uuid) || printable(uuid) !== uuid) return undefined;
  const { identifier, name, node = '', egg = '', address = '' } = server;
  return {
    ...server,
    uuid,
    identifier: printable(identifier) || uuid.slice(0, 8),
    name: printable(name) || uuid.slice(0, 8),
    node: printable(node) || undefined,
    egg: printable(egg) || undefined,
    address: printable(address) === address ? server.address : undefined,
  };
}

/** What the walks through a panel's server list have shown so far; times are in monotonic milliseconds. */
export interface ListingState {
  /** By UUID: the latest entry, and how many of the walks that count have missed it in a row. */
  readonly known: ReadonlyMap<string, { readonly entry: ListedServer; readonly missedWalks: number }>;
  /** When complete walks began to find none, or less than half, of the servers. */
  readonly shortSince?: number | undefined;
  /** When the last complete walk ended. */
  readonly completeAt?: number | undefined;
  /** Why no server is discovered, according to the last complete walk. */
  readonly empty?: Problem | undefined;
  /** 0 before the first walk. */
  readonly pages: number;
  /** Walks that found a problem. */
  readonly failures: number;
}

export const NEVER_READ: ListingState = { known: new Map(), pages: 0, failures: 0 };

/** Pages have no stable order and shift while they are read, so a single walk can miss a server. */
const WALKS_TO_VANISH = 3;

/** A panel that fails in some way may list too few servers with a success, and a fleet's counters would be lost. */
const SHORT_FOR_MS = 30 * 60_000;

/**
 * The state after a walk; pure. A server is gone once three complete walks in a row did not find it, or one if its own calls return
 * 404. A walk that finds none, or less than half, of the servers that were found before counts only once such walks have lasted for
 * half an hour.
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
  const isMissing = (uuid: string) => !known.has(uuid) && !unreadable.has(identityOf({ id: uuid }));
  const found = [...before.known].filter(([, { missedWalks }]) => missedWalks === 0);
  const isShort = 2 * found.filter(([uuid]) => isMissing(uuid)).length > found.length;
  const shortSince = isShort ? (before.shortSince ?? now) : undefined;
  const counts = complete && (shortSince === undefined || now - shortSince >= SHORT_FOR_MS);
  for (const [uuid, { entry, missedWalks: missedBefore }] of before.known) {
    if (known.has(uuid)) continue;
    // A list may show other servers each time.
    if (known.size >= MAX_PAGES * LISTING_PAGE_SIZE) break;
    const missedWalks = counts && isMissing(uuid) ? missedBefore + 1 : missedBefore;
    const walksToVanish = notFound.has(identityOf({ id: uuid })) ? 1 : WALKS_TO_VANISH;
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

/** The problem of a complete server list with so many servers from which none is discovered; unreadable entries are another. */
function emptyProblem(listed: number, problem: Error | undefined): Problem | undefined {
  if (problem !== undefined) return undefined;
  if (listed === 0) return { cause: 'nothing_listed', detail: 'the server list is empty' };
  const which = listed === 1 ? 'the only listed server' : `all ${listed} listed servers`;
  return { cause: 'all_excluded', detail: `discover excludes ${which}` };
}

/** Did the last walk miss servers, so that another walk should tell whether they are gone? */
export function hasDoubts({ known, shortSince }: ListingState): boolean {
  return shortSince !== undefined || [...known.values()].some(({ missedWalks }) => missedWalks > 0);
}

/** The rules for discovered servers, with the globs compiled. */
export type CompiledRules = ReturnType<typeof compileRules>;

/** What tells one server from all others. */
export type ServerIdentity = Pick<ServerTarget, 'panel' | 'id' | 'name' | 'uuid'>;

/**
 * Merges the configured servers, completed from the server list, with the listed servers that the rules add; without rules none is
 * added. Above `maxServers`, the first by UUID are added. No identifier occurs twice, since it distinguishes the series: among
 * servers that share one, the configured one wins, then the first by UUID.
 */
export function mergeTargets(
  configured: readonly ServerTarget[],
  listed: readonly ListedServer[],
  rules: CompiledRules | undefined,
) {
  const twinsOf = new Map<string, ListedServer[]>();
  for (const server of [...listed].sort((one, other) => (one.uuid < other.uuid ? -1 : 1))) {
    const identity = identityOf({ id: server.uuid });
    const twins = twinsOf.get(identity);
    if (twins === undefined) twinsOf.set(identity, [server]);
    else twins.push(server);
  }
  const owners = new Map(configured.map((target) => [identityOf(target), target]));
  const own = configured.map((target) =>
    completed(target, listingOf(target, twinsOf.get(identityOf(target))), rules),
  );
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
  return {
    /** The configured servers in their order, then the discovered ones by name. */
    targets: [...own, ...added],
    discovered: added.length,
    /** Listed servers that can't be monitored because another server of the panel has the same 8-character identifier. */
    ambiguous,
    /** Listed servers that aren't monitored because there are too many, in the order of their UUIDs. */
    leftOut,
  };
}

/** The server list's entry for a configured server; undefined if there is none or a short id is ambiguous. */
function listingOf({ uuid }: ServerTarget, twins: readonly ListedServer[] = []): ListedServer | undefined {
  if (uuid !== undefined) return twins.find((server) => server.uuid === uuid);
  return twins.length === 1 ? twins[0] : undefined;
}

/** Why servers of the server list that should be monitored are not. */
export function mergeProblems({ ambiguous, leftOut }: ReturnType<typeof mergeTargets>, maxServers: number) {
  const reasons = [
    ['listing_too_long', leftOut, `max_servers: ${maxServers}`],
    ['same_identifier', ambiguous, 'another UUID begins with the same 8 characters'],
  ] as const;
  return reasons.flatMap(([cause, servers, why]): readonly Problem[] => {
    const nameOf = ({ name, uuid }: ListedServer) =>
      cause === 'same_identifier' ? `${name} (${uuid})` : name;
    const names = servers.slice(0, NAMES_SHOWN).map(nameOf);
    const detail = `${counted(servers.length, 'server')} left out (${why}); first: ${names.join(', ')}`;
    return servers.length === 0 ? [] : [{ cause, detail }];
  });
}

/** The configured servers that are missing from a server list with these UUIDs. */
export function unlistedIn(configured: readonly ServerTarget[], uuids: Iterable<string>) {
  const listed = new Set([...uuids].map((uuid) => identityOf({ id: uuid })));
  return configured.filter((target) => !listed.has(identityOf(target)));
}

/** Has the configuration given the server no name, so that the server list may name it? */
export function isUnnamed(target: Pick<ServerTarget, 'name' | 'id'>): boolean {
  return target.name === identityOf(target);
}

/** A listed server as it is monitored: what the configuration or the rules determine takes precedence over the server list. */
function targetOf(server: ListedServer, own: ServerTarget): ServerTarget {
  const { identifier: _identifier, name: _name, daemon, ...facts } = server;
  const { memoryBytes: listed, diskBytes, cpuCores, swapBytes, ioWeight } = facts.limits;
  // The node grants somewhat more memory than the panel lists, so its own figure takes precedence over a number, but not over "unlimited".
  const isNumber = typeof listed === 'number';
  return {
    ...own,
    ...facts,
    // Every sample reads them: V8 would give each object that is made of the rest of another a shape of its own.
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

/** By rules and listed server: how it is monitored, which is the same object as long as they are. */
const DISCOVERED = new WeakMap<CompiledRules, WeakMap<ListedServer, ServerTarget>>();

function discovered(server: ListedServer, rules: CompiledRules): ServerTarget {
  const ofRules = DISCOVERED.get(rules) ?? new WeakMap<ListedServer, ServerTarget>();
  DISCOVERED.set(rules, ofRules);
  const known = ofRules.get(server);
  if (known !== undefined) return known;
  const { panel, labels, mode } = rules;
  const { uuid: id, name } = server;
  const { expect, query } = rules.judge(server);
  const own = { panel, id, name, labels, expect, mode, limits: {}, query: queryOf(query, server) };
  const target = targetOf(server, { ...own, isDiscovered: true });
  ofRules.set(server, target);
  return target;
}

/** By configured server: what it was last completed from, and the result, which is the same object until that changes. */
const COMPLETED = new WeakMap<
  ServerTarget,
  { readonly server: ListedServer; readonly isRenamed: boolean; readonly target: ServerTarget }
>();

/** A configured server with what the server list shows of it, if it is listed. */
function completed(
  target: ServerTarget,
  server: ListedServer | undefined,
  rules: CompiledRules | undefined,
): ServerTarget {
  if (server === undefined) return target;
  const isRenamed = rules !== undefined && isUnnamed(target);
  const last = COMPLETED.get(target);
  if (last?.server === server && last.isRenamed === isRenamed) return last.target;
  const result = targetOf(server, isRenamed ? { ...target, name: server.name } : target);
  COMPLETED.set(target, { server, isRenamed, target: result });
  return result;
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

function byName(one: ServerTarget, other: ServerTarget): number {
  if (one.name !== other.name) return one.name < other.name ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

/** Compiles a panel's rules, so that each listed server can be matched against them. */
export function compileRules(
  panel: string,
  { include, exclude, expect, query = [], labels, mode, maxServers }: DiscoverRules,
  isOurs: (server: ServerIdentity) => boolean = () => true,
) {
  const [included, excluded] = [testsOf(include), testsOf(exclude)];
  const tested = <Rule extends { readonly match: ServerGlobs }>(rules: readonly Rule[]) =>
    rules.map((rule) => ({ ...rule, tests: testsOf(rule.match) }));
  const [expectations, queries] = [tested(expect), tested(query)];
  /** What the rules decide about a listed server. */
  const judge = (server: ListedServer) => {
    const isFor = ({ tests }: Pick<(typeof queries)[number], 'tests'>) => tests.every((fits) => fits(server));
    const rule = expectations.findIndex(isFor);
    return {
      included: isFor({ tests: included }) && !excluded.some((fits) => fits(server)),
      expect: expectations[rule]?.state ?? 'auto',
      /** The index of the first expectation rule that matches; -1 if none does. */
      rule,
      /** The query settings of the first rule that matches (the same object); undefined if the game isn't queried. */
      query: queries.find(isFor)?.query,
    };
  };
  /** Do the rules include the server, and is it monitored here? */
  const selects = onceFor(
    (server) => judge(server).included && isOurs({ panel, id: server.uuid, ...server }),
  );
  return { panel, labels, mode, maxServers, judge, selects };
}

/** The same function, which is called once for each entry of the server list: most are the same in the next walk. */
function onceFor<Result>(read: (server: ListedServer) => Result): (server: ListedServer) => Result {
  const known = new WeakMap<ListedServer, { readonly result: Result }>();
  return (server) => {
    const found = known.get(server) ?? { result: read(server) };
    known.set(server, found);
    return found.result;
  };
}

// Names are not paths: a star also matches slashes and a leading dot.
const OPTIONS = { nocase: true, dot: true, bash: true };

/** One test for each key that has globs. */
function testsOf(globs: ServerGlobs) {
  return MATCH_KEYS.flatMap((key) => {
    const fits = globs[key] && picomatch([...globs[key]], OPTIONS);
    const valuesOf = ({ uuid, identifier, ...server }: ListedServer) =>
      key === 'id' ? [uuid, identifier, identityOf({ id: uuid })] : [server[key] ?? []].flat();
    return fits === undefined ? [] : [(server: ListedServer) => valuesOf(server).some((text) => fits(text))];
  });
}
