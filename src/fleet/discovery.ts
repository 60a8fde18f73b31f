// Determines which servers of a panel to monitor, from its server list.

import { AT_ONCE, type Cancel, type Clock, NEVER } from '../domain/clock.ts';
import type { ListingSettings, ListingType } from '../domain/listing-settings.ts';
import type { Logger } from '../domain/logger.ts';
import type { Problem } from '../domain/problems.ts';
import type { DiscoveryReading, ProblemReading } from '../domain/reading.ts';
import { type Repeat, repeat } from '../domain/repeated-work.ts';
import type { ServerTarget } from '../domain/server.ts';
import { shortId } from '../domain/server-ids.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import { PanelError } from '../panel/panel-error.ts';
import type { ListedServer } from '../panel/responses.ts';
import { datedProblems } from './dated-problems.ts';
import { type CompiledRules, compileRules, type ServerIdentity } from './discover-rules.ts';
import { isUnnamed, mergeProblems, mergeTargets, unlistedIn } from './discovered-targets.ts';
import { ListingLog } from './listing-log.ts';
import { countPages, listingPace, REPEAT_MS } from './listing-pace.ts';
import { afterWalk, hasDoubts, NEVER_READ } from './listing-state.ts';
import { type ListingWalk, restIfMany, walkListing } from './listing-walk.ts';
import { problemLog } from './problem-log.ts';

/**
 * How long configured servers wait for their names from the server list, so that their series don't
 * change names at every start.
 */
const NAMES_WITHIN_MS = 30_000;

const NOBODY: readonly ServerTarget[] = [];

/**
 * The maximum age of the server list while reading it fails. After that, blocked servers are tried
 * with their own calls. It is longer if the list is read less often.
 */
const BELIEVED_MS = 300_000;

/** The log messages for the end of these problems. */
const ENDED = {
  nothing_listed: 'servers are discovered again',
  all_excluded: 'servers are discovered again',
  listing_too_long: 'every listed server is monitored again',
  same_identifier: 'server identifiers are unique again',
};

/** The dependencies of discovery. */
export interface DiscoveryOptions {
  readonly panel: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly gateway: Pick<PanelGateway, 'listing' | 'health' | 'budget'>;
  /** Identities of the servers whose own calls return 404. */
  readonly notFound: () => ReadonlySet<string>;
  /** Is the server in this exporter's shard? */
  readonly isOurs: (server: ServerIdentity) => boolean;
  /**
   * Called with the servers to monitor whenever they may have changed. `isComplete` is true after a
   * complete walk. The walk ends when the result resolves.
   */
  readonly found: (targets: readonly ServerTarget[], isComplete: boolean) => unknown;
}

/**
 * Determines which servers to monitor from the panel's server list, which it reads periodically.
 */
export class Discovery {
  readonly #options: DiscoveryOptions;
  #walks: Repeat | undefined;
  #logProblems: ReturnType<typeof problemLog>;
  #settings: ListingSettings | undefined;
  #rules: CompiledRules | undefined;
  #configured: readonly ServerTarget[] = [];
  #state = NEVER_READ;
  /** The known servers of the server list; a new array whenever they may have changed. */
  listed: readonly ListedServer[] = [];
  /**
   * Servers removed from the configuration when discovery was enabled. The server list will show
   * whether they are discovered.
   */
  #undecided = NOBODY;
  readonly #ours = new WeakMap<ServerTarget, boolean>();
  #merged = mergeTargets([], [], undefined);
  /** The inputs of the last merge, except the server list. */
  #mergedFrom: readonly unknown[] = [];
  #problems: readonly ProblemReading[] = [];
  /** Whether the configured servers no longer wait for their names. */
  #isNamed = false;
  /** Whether the account is an administrator's; undefined if that wasn't needed yet. */
  #isAdmins: boolean | undefined;
  #cancelPatience: Cancel = () => {};
  #isRunning = false;
  /** When the last walk began, and when a deleted server was last noticed. */
  #walkedAt = NEVER;
  #deletedAt = NEVER;
  readonly #log: ListingLog;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#logProblems = problemLog(options.panel, options.log, ENDED);
    this.#log = new ListingLog(options);
  }

  /** API calls per minute for the server list. */
  get callsPerMinute(): number {
    if (this.#settings === undefined) return 0;
    return (Math.max(1, this.#state.pages) * 60_000) / this.#pace(this.#settings).intervalMs;
  }

  /** Undefined if the server list isn't used. */
  get reading(): DiscoveryReading | undefined {
    if (this.#settings === undefined) return undefined;
    const { discovered, ambiguous, leftOut } = this.#merged;
    const { completeAt, failures } = this.#state;
    return {
      isPending: !this.#isNamed,
      servers: discovered,
      ambiguous: ambiguous.length,
      leftOut: leftOut.length,
      succeededUnixMs: completeAt === undefined ? undefined : this.#options.clock.toUnixMs(completeAt),
      failures,
    };
  }

  /** Why some servers of the server list aren't monitored although the rules include them. */
  get problems(): readonly ProblemReading[] {
    return this.#problems;
  }

  /**
   * Applies new configured servers and server list settings (undefined if the list isn't used), and
   * returns the servers to monitor.
   */
  configure(
    configured: readonly ServerTarget[],
    settings: ListingSettings | undefined,
  ): readonly ServerTarget[] {
    const before = this.#settings;
    const isSame = JSON.stringify(settings) === JSON.stringify(before);
    this.#configured = configured;
    if (!isSame) {
      // Servers that are already monitored under their ids don't stop to wait for a name.
      if (this.#isRunning) this.#isNamed = true;
      this.#settings = settings;
      const { panel, log, isOurs } = this.#options;
      const rules = settings?.discover;
      this.#rules = rules && compileRules(panel, rules, isOurs);
      // Without discovery, its problems are dropped and not logged as ended.
      if (rules === undefined) this.#logProblems = problemLog(panel, log, ENDED);
      const isUnread = this.#isRunning && rules !== undefined && this.#state.known.size === 0;
      this.#undecided = isUnread ? this.#merged.targets : NOBODY;
      if (settings === undefined) this.#state = NEVER_READ;
      // A list of another type may contain none of the known servers, so a shorter list is believed
      // at once.
      else if (settings.type !== before?.type)
        this.#state = { ...this.#state, shortSince: Number.NEGATIVE_INFINITY };
    }
    this.#merge();
    if (!isSame) this.restart();
    return this.#merged.targets;
  }

  start(): void {
    this.#isRunning = true;
    this.restart();
  }

  stop(): void {
    this.#isRunning = false;
    this.restart();
  }

  /**
   * Reads the list after a server's own calls showed that it was deleted, but at most once a
   * minute.
   */
  serverDeleted(): void {
    this.#deletedAt = this.#options.clock.now();
    this.#walks?.hasten(this.#walkedAt + REPEAT_MS - this.#deletedAt);
  }

  /** Reads the server list at once, because it may have changed completely. */
  restart(): void {
    this.#cancelPatience();
    this.#walks?.stop();
    this.#isAdmins = undefined;
    const settings = this.#settings;
    if (!this.#isRunning || settings === undefined) return;
    if (!this.#isNamed)
      this.#cancelPatience = this.#options.clock.schedule(NAMES_WITHIN_MS, () => {
        this.#name();
        void this.#options.found(this.#merged.targets, false);
      });
    this.#walks = repeat(this.#options.clock, (signal) => this.#walk(settings, signal));
  }

  /** Resolves with the time until the next walk. */
  async #walk(settings: ListingSettings, signal: AbortSignal): Promise<number> {
    const { clock, gateway, notFound } = this.#options;
    const before = this.#state;
    const startedAt = clock.now();
    const isUrgent = this.#deletedAt > this.#walkedAt;
    this.#walkedAt = startedAt;
    // The first pages are urgent: they show which servers exist, and on which nodes.
    const firstPages =
      settings.discover === undefined ? countPages(this.#configured.length) : Number.POSITIVE_INFINITY;
    const urgentPages = before.pages === 0 ? firstPages : 0;
    // All other pages are due at the same time.
    const dueAt = startedAt + (isUrgent ? REPEAT_MS : settings.intervalMs);
    const read = (type: ListingType | undefined) =>
      walkListing(
        (query) => gateway.listing({ ...query, type }, query.page <= urgentPages ? AT_ONCE : dueAt, signal),
        signal,
        before.known,
      );
    let walk = await read(this.#isAdmins === true ? 'admin-all' : settings.type);
    if (this.#maySeeMore(walk, settings)) {
      const all = await read('admin-all');
      if (all.complete) this.#isAdmins = all.servers.length > 0;
      if (this.#isAdmins === true) walk = all;
    }
    if (signal.aborted) return 0;
    if (walk.complete) this.#undecided = NOBODY;
    const isIncluded = (server: ListedServer) => this.#rules?.judge(server).included === true;
    this.#state = afterWalk(before, walk, clock.now(), isIncluded, notFound());
    const status = walk.problem instanceof PanelError ? walk.problem.status : undefined;
    const isRefused = settings.discover === undefined && REFUSALS.has(status);
    const isDiscovering = this.#rules !== undefined;
    const seen = { configured: this.#configured, before, after: this.#state, isDiscovering, isRefused };
    this.#log.walked(walk, seen);
    await restIfMany({ length: this.#state.known.size });
    if (signal.aborted) return 0;
    this.#name();
    await restIfMany({ length: this.#state.known.size });
    if (signal.aborted) return 0;
    await this.#options.found(this.#merged.targets, walk.complete);
    if (signal.aborted) return 0;
    this.#logProblems(this.problems);
    const { intervalMs, repeatMs } = this.#pace(settings);
    const isSettled = walk.complete ? !hasDoubts(this.#state) : isRefused && gateway.health === 'up';
    // The page with the deleted server may have been read before the deletion.
    return isSettled && this.#deletedAt < startedAt ? intervalMs : repeatMs;
  }

  /**
   * Is a configured server missing in the account's own list? An administrator can access it
   * nevertheless, and it is in the list of all servers. Panels don't return that list to other
   * accounts.
   */
  #maySeeMore({ complete, servers }: ListingWalk, { discover, type }: ListingSettings): boolean {
    if (!complete || discover !== undefined || type !== undefined || this.#isAdmins !== undefined)
      return false;
    const uuids = servers.map(({ uuid }) => uuid);
    return unlistedIn(this.#configured, uuids).length > 0;
  }

  /** Ends the wait for names from the server list. */
  #name(): void {
    const { panel, log } = this.#options;
    this.#cancelPatience();
    this.#isNamed = true;
    const before = this.#merged.discovered;
    this.#merge();
    const { discovered } = this.#merged;
    // At the start, the number is part of the log line about needs.
    if (discovered !== before)
      log[before === 0 ? 'debug' : 'info'](
        { panel, discovered, before },
        `panel ${panel}: ${discovered} servers discovered, previously ${before}`,
      );
  }

  #merge(): void {
    const { known } = this.#state;
    const basis = [this.#configured, this.#rules, this.#isNamed, this.#undecided, this.#isCurrent];
    // Most walks find nothing new, and sorting thousands of servers is slow.
    const isSame =
      basis.every((part, index) => part === this.#mergedFrom[index]) &&
      known.size === this.listed.length &&
      this.listed.every((entry) => known.get(entry.uuid)?.entry === entry);
    if (!isSame) this.#mergeAgain();
    this.#mergedFrom = basis;
    this.#problems = datedProblems(this.#findProblems(), this.#problems, this.#options.clock.now());
  }

  #mergeAgain(): void {
    this.listed = [...this.#state.known.values()].map(({ entry }) => entry);
    const waits = this.#rules !== undefined && !this.#isNamed;
    const configured = waits ? this.#configured.filter((target) => !isUnnamed(target)) : this.#configured;
    const merged = mergeTargets(configured, this.listed, this.#rules);
    // The server list may have named a configured server, which is then in another shard.
    const ours = merged.targets.filter((target) => this.#isOurs(target));
    const targets = [...ours, ...this.#stillUndecided(merged.targets)];
    // Without a current list, calls for each server show whether it is blocked.
    const unblocked = () => targets.map((target) => ({ ...target, blocked: undefined }));
    this.#merged = { ...merged, targets: this.#isCurrent ? targets : unblocked() };
  }

  #findProblems(): readonly Problem[] {
    const { empty = [] } = this.#rules === undefined ? {} : this.#state;
    return [empty, mergeProblems(this.#merged, this.#rules?.maxServers ?? 0)].flat();
  }

  /** Cached for each description of a server, because shards hash its identity. */
  #isOurs(target: ServerTarget): boolean {
    const known = this.#ours.get(target);
    if (known !== undefined) return known;
    const isOurs = this.#options.isOurs(target);
    this.#ours.set(target, isOurs);
    return isOurs;
  }

  #stillUndecided(merged: readonly ServerTarget[]): readonly ServerTarget[] {
    if (this.#undecided.length === 0) return [];
    const known = new Set([...this.#configured, ...merged].map(shortId));
    return this.#undecided.filter((target) => !known.has(shortId(target)));
  }

  #pace({ intervalMs, discover }: ListingSettings) {
    const { limitPerMinute } = this.#options.gateway.budget();
    return listingPace(intervalMs, {
      isDiscovering: discover !== undefined,
      limitPerMinute,
      configured: this.#configured.length,
      pages: this.#state.pages,
    });
  }

  /** Whether the server list is recent enough to be believed about blocked servers. */
  get #isCurrent(): boolean {
    const { pages, completeAt = NEVER } = this.#state;
    if (pages === 0 || this.#settings === undefined) return true;
    const believedMs = Math.max(BELIEVED_MS, this.#pace(this.#settings).intervalMs);
    return this.#options.clock.now() - completeAt <= believedMs;
  }
}

/**
 * Statuses of a panel or firewall that denies access to the server list, or of a panel without one.
 */
const REFUSALS: ReadonlySet<number | undefined> = new Set([401, 403, 404]);
