import type { Cancel, Clock } from '../domain/clock.ts';
import type { ListingSettings, ListingType } from '../domain/discovery.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { DiscoveryReading } from '../domain/reading.ts';
import { Repeat } from '../domain/repeat.ts';
import { identityOf, type ServerTarget } from '../domain/server.ts';
import type { ListedServer, ListingPage, ListingQuery } from '../panel/dialect.ts';
import { PanelError } from '../panel/errors.ts';
import { type ListingWalk, walkListing } from '../panel/listing.ts';
import { Admission, afterWalk, type Census, hasDoubts, reduced, surplusProblem } from './census.ts';
import {
  ambiguityProblem,
  type CompiledRules,
  compileRules,
  isUnnamed,
  type MergedTargets,
  mergeTargets,
  unblocked,
  unlistedIn,
  unlistedWords,
} from './discovered-targets.ts';
import { ListedPorts } from './listed-ports.ts';
import {
  ListingLog,
  type ListingPace,
  type ListingStanding,
  NEVER_READ,
  paceOf,
  pagesOf,
  standingAfter,
} from './listing-standing.ts';

/** How long configured servers wait for their names from the server list, so that their series don't change names at every start. */
const NAMES_WITHIN_MS = 30_000;

/** How many unmonitored servers are remembered when discovery is off: one of them may be added to the configuration. */
const FACTS_REMEMBERED = 1_000;

/** The deadline of calls that nothing should overtake. */
const AT_ONCE = Number.NEGATIVE_INFINITY;

/** A walk stops after this many failed pages and leaves the rest for later. */
const FAILURES_TO_GIVE_UP = 2;

/** What tells one server from all others. */
export type ServerIdentity = Pick<ServerTarget, 'panel' | 'id' | 'name' | 'uuid'>;

/** What discovery depends on. */
export interface DiscoveryOptions {
  readonly panel: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Reads a page by a deadline in monotonic milliseconds. */
  readonly listing: (query: ListingQuery, deadline: number, signal: AbortSignal) => Promise<ListingPage>;
  /** Does the panel respond and accept the API key? */
  readonly isPanelUp: () => boolean;
  /** Calls a minute that the panel's budget allows. */
  readonly callsPerMinute: () => number;
  /** Identities of the servers whose own calls return 404. */
  readonly notFound: () => ReadonlySet<string>;
  /** Is the server monitored here? Other servers belong to other shards. */
  readonly isOurs: (server: ServerIdentity) => boolean;
  /** Called with the servers to monitor, whenever they may have changed. */
  readonly found: (targets: readonly ServerTarget[]) => void;
  /** The whole server list was read, and its targets were passed to `found`. */
  readonly allRead: () => void;
}

/** Reads a panel's server list periodically and determines which servers to monitor. */
export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #walks: Repeat;
  readonly #log: ListingLog;
  #settings: ListingSettings | undefined;
  #rules: CompiledRules | undefined;
  #configured: readonly ServerTarget[] = [];
  #census: Census = new Map();
  /** Of a census that may be older. */
  #ports: { readonly census: Census; readonly listed: ListedPorts } | undefined;
  /**
   * Servers that were removed from the configuration when discovery began: the server list has yet to show whether they are
   * discovered.
   */
  #undecided: readonly ServerTarget[] = [];
  #merged: MergedTargets = { targets: [], discovered: 0, ambiguous: [] };
  /** The configured servers no longer wait for their names. */
  #isNamed = false;
  /** The account is an administrator's, as far as that was needed to describe the configured servers. */
  #isAdmins: boolean | undefined;
  #standing: ListingStanding = NEVER_READ;
  #cancelPatience: Cancel = () => {};
  #isRunning = false;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#walks = new Repeat(options.clock);
    this.#log = new ListingLog(options.panel, options.log);
  }

  /** The servers to monitor, as far as they are known yet. */
  get targets(): readonly ServerTarget[] {
    return this.#merged.targets;
  }

  /** The servers of the server list, as far as they are known and remembered. */
  get listed(): readonly ListedServer[] {
    return [...this.#census.values()].map(({ server }) => server);
  }

  /** Does a port of the address of a server, which may be another panel's, belong to another one, as far as the server list shows? */
  isTaken(server: ServerTarget, port: number): boolean {
    const census = this.#census;
    if (this.#ports?.census !== census) {
      this.#ports = { census, listed: new ListedPorts(this.#options.panel, this.listed) };
    }
    return this.#ports.listed.isTaken(server, port);
  }

  /** Calls a minute that the server list makes. */
  get callsPerMinute(): number {
    return this.#settings === undefined
      ? 0
      : (this.#standing.pages * 60_000) / this.#pace(this.#settings).intervalMs;
  }

  /** Undefined if the server list isn't used. */
  get reading(): DiscoveryReading | undefined {
    if (this.#settings === undefined) return undefined;
    const { discovered, ambiguous } = this.#merged;
    const { completeAt, surplus, surplusEntries, failures } = this.#standing;
    return {
      isPending: !this.#isNamed,
      servers: discovered,
      ambiguous: ambiguous.length,
      leftOut: surplus.servers + surplusEntries,
      succeededUnixMs: completeAt === undefined ? undefined : this.#options.clock.toUnixMs(completeAt),
      failures,
    };
  }

  /** Why servers of the server list that should be monitored are not. */
  get problems(): readonly Problem[] {
    return this.#problems(this.#standing.surplusEntries);
  }

  #problems(surplusEntries: number): readonly Problem[] {
    const { empty, surplus: servers } = this.#standing;
    const surplus = surplusProblem(servers, surplusEntries, this.#maxServers);
    const problems = [this.#rules && empty, surplus, ambiguityProblem(this.#merged.ambiguous)];
    return problems.filter((problem) => problem !== undefined);
  }

  get #maxServers(): number {
    return this.#settings?.discover?.maxServers ?? FACTS_REMEMBERED;
  }

  /**
   * Applies new configured servers and new settings for the server list (undefined if it isn't used), then publishes the servers
   * to monitor.
   */
  configure(
    configured: readonly ServerTarget[],
    settings: ListingSettings | undefined,
  ): readonly ServerTarget[] {
    const isSame = JSON.stringify(settings) === JSON.stringify(this.#settings);
    this.#configured = configured;
    if (!isSame) {
      // Servers that are already monitored by their ids are not dropped to wait for a name.
      if (this.#isRunning) this.#isNamed = true;
      this.#settings = settings;
      const rules = settings?.discover;
      this.#rules = rules && compileRules(this.#options.panel, rules);
      if (rules === undefined) this.#log.forget();
      const isUnread = this.#isRunning && rules !== undefined && this.#census.size === 0;
      this.#undecided = isUnread ? this.#merged.targets : [];
      if (settings === undefined) {
        this.#census = new Map();
        this.#standing = NEVER_READ;
      }
      // Other rules may need more of the remembered servers.
      const admission = this.#admission();
      this.#census = reduced(this.#census, (servers) => admission.reduce(servers));
    }
    this.#merge();
    if (!isSame) this.restart();
    return this.#merged.targets;
  }

  start(): void {
    this.#isRunning = true;
    this.#begin();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancelAll();
  }

  /** Reads the server list at once, because it may have changed completely. */
  restart(): void {
    if (this.#isRunning) this.#begin();
  }

  #begin(): void {
    this.#cancelAll();
    this.#isAdmins = undefined;
    const settings = this.#settings;
    if (settings === undefined) return;
    if (!this.#isNamed) {
      this.#cancelPatience = this.#options.clock.schedule(NAMES_WITHIN_MS, () => this.#publish());
    }
    this.#walks.start((signal) => this.#walk(settings, signal));
  }

  #cancelAll(): void {
    this.#cancelPatience();
    this.#walks.stop();
  }

  /** Resolves with the time until the next walk. */
  async #walk(settings: ListingSettings, signal: AbortSignal): Promise<number> {
    const { listing, clock } = this.#options;
    const optional = settings.discover === undefined;
    const urgentPages = this.#standing.hasWalked
      ? 0
      : optional
        ? pagesOf(this.#configured.length)
        : Number.POSITIVE_INFINITY;
    const admission = this.#admission();
    // All pages of a walk are due together.
    const by = clock.now() + settings.intervalMs;
    const read = (type: ListingType | undefined) =>
      walkListing(
        // The first pages show which servers there are, and on which nodes.
        (query) =>
          listing(
            type === undefined ? query : { ...query, type },
            query.page <= urgentPages ? AT_ONCE : by,
            signal,
          ),
        {
          maxFailures: FAILURES_TO_GIVE_UP,
          signal,
          reduction: { above: this.#maxServers, reduce: (servers) => admission.reduce(servers) },
        },
      );
    let walk = await read(this.#isAdmins === true ? 'admin-all' : settings.type);
    if (this.#maySeeMore(walk, settings)) {
      const all = await read('admin-all');
      if (all.complete) this.#isAdmins = all.servers.length > 0;
      if (this.#isAdmins === true) walk = all;
    }
    if (signal.aborted) return 0;
    if (walk.complete) this.#undecided = [];
    const census = afterWalk(this.#census, walk, this.#options.notFound());
    this.#census = reduced(census, (servers) => admission.reduce(servers));
    const isPanelUp = this.#options.isPanelUp();
    const isRefused = optional && isRefusal(walk.failure?.error);
    const knowsServers = this.#census.size + this.#configured.length > 0;
    this.#log.walked(walk, { discovers: !optional, isRefused, knowsServers, isPanelUp });
    if (walk.problem === undefined && optional && this.#standing.completeAt === undefined)
      this.#logUnlisted();
    const { intervalMs, repeatMs } = this.#pace(settings, walk.pages);
    const { surplus } = admission;
    // Without discovery, no server is missing from what is monitored.
    const surplusEntries = optional ? 0 : walk.surplusEntries;
    const ended = { ...walk, surplus, surplusEntries };
    const isIncluded = (server: ListedServer) => this.#rules?.judge(server).included === true;
    this.#standing = standingAfter(this.#standing, ended, { now: clock.now(), intervalMs, isIncluded });
    this.#publish();
    // Surplus entries are logged as the walk's problem.
    this.#log.problems(this.#problems(0));
    if (walk.complete) this.#options.allRead();
    const isSettled = (isRefused && isPanelUp) || (walk.complete && !hasDoubts(this.#census));
    return isSettled ? intervalMs : repeatMs;
  }

  /**
   * A configured server is missing from what the account has itself: an administrator has access to it nevertheless, and is shown it
   * among all servers. Panels list nothing to others.
   */
  #maySeeMore({ complete, servers }: ListingWalk, { discover, type }: ListingSettings): boolean {
    if (!complete || discover !== undefined || type !== undefined || this.#isAdmins !== undefined)
      return false;
    const uuids = servers.map(({ uuid }) => uuid);
    return unlistedIn(this.#configured, uuids).length > 0;
  }

  #admission(): Admission {
    const { isOurs, panel } = this.#options;
    const rules = this.#rules;
    const observed = new Set(this.#merged.targets.map(({ uuid }) => uuid));
    return new Admission({
      maxServers: this.#maxServers,
      configured: this.#configured,
      isDiscovered: (server) => rules?.judge(server).included === true && isOurs(identifiedIn(panel, server)),
      isObserved: (uuid) => observed.has(uuid),
    });
  }

  #logUnlisted(): void {
    const words = unlistedWords(this.#configured, this.#census);
    if (words !== undefined) this.#log.info(words);
  }

  /** The names from the server list are known, or the wait for them is over. */
  #publish(): void {
    this.#cancelPatience();
    this.#isNamed = true;
    const before = this.#merged.discovered;
    this.#merge();
    const { discovered, targets } = this.#merged;
    this.#log.discovered(discovered, before);
    this.#options.found(targets);
  }

  #merge(): void {
    const { isOurs, panel } = this.#options;
    const observed = new Set(this.#merged.targets.map(({ uuid }) => uuid));
    const waits = this.#rules !== undefined && !this.#isNamed;
    const configured = waits ? this.#configured.filter((target) => !isUnnamed(target)) : this.#configured;
    const { targets, ambiguous } = mergeTargets(configured, this.#census, this.#rules, (uuid) =>
      observed.has(uuid),
    );
    const own = targets.slice(0, configured.length);
    const added = targets.slice(configured.length).filter(isOurs);
    const known = new Set([...this.#configured, ...added].map(identityOf));
    const undecided = this.#undecided.filter((target) => !known.has(identityOf(target)));
    const all = [...own, ...added, ...undecided];
    this.#merged = {
      targets: this.#standing.isCurrent ? all : all.map(unblocked),
      discovered: added.length,
      ambiguous: ambiguous.filter((server) => isOurs(identifiedIn(panel, server))),
    };
  }

  #pace(settings: ListingSettings, pages = this.#standing.pages): ListingPace {
    return paceOf(settings, pages, this.#configured.length, this.#options.callsPerMinute());
  }
}

function identifiedIn(panel: string, { uuid, name }: ListedServer): ServerIdentity {
  return { panel, id: uuid, uuid, name };
}

/** Did the panel or a firewall deny the account access to the server list, or does the panel have none? */
function isRefusal(error: unknown): boolean {
  return error instanceof PanelError && REFUSALS.has(error.status ?? 0);
}

const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);
