import { CAUSES, isPanelWide } from '../diagnosis/causes.ts';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { ListingSettings } from '../domain/discovery.ts';
import type { Logger } from '../domain/log.ts';
import { printable } from '../domain/printable.ts';
import type { Problem } from '../domain/problem.ts';
import type { DiscoveryReading } from '../domain/reading.ts';
import { identityOf, type ServerTarget } from '../domain/server.ts';
import type { ListedServer, ListingPage, ListingQuery } from '../panel/dialect.ts';
import { PanelError, problemOf } from '../panel/errors.ts';
import { LISTING_PAGE_SIZE, type ListingWalk, walkListing } from '../panel/listing.ts';
import type { ListingCall } from '../panel/purpose.ts';
import { Admission, NO_SURPLUS, type Surplus, surplusProblem } from './admission.ts';
import { afterWalk, type Census, hasDoubts } from './census.ts';
import {
  ambiguityProblem,
  type CompiledRules,
  compileRules,
  isUnnamed,
  type MergedTargets,
  mergeTargets,
} from './discovered-targets.ts';

/** How soon a walk is repeated that failed, or that passed by a server which was there before. */
const REPEAT_MS = 60_000;

/** Configured servers that the listing is to name wait this long for it, so that their series don't change names at every start. */
const NAMES_WITHIN_MS = 30_000;

/** The part of the budget that the listing takes at most: a long one is read less often. */
const LISTING_SHARE = 0.1;

/**
 * Calls a minute that a listing may take where it adds nothing but facts about the configured servers, unless their own pages need more:
 * an account may see thousands of others.
 */
const FACTS_CALLS_PER_MINUTE = 1;

/** So many servers that are not observed are remembered where none is discovered: one may be added to the configuration. */
const FACTS_REMEMBERED = 1_000;

/** After so many pages that failed, the rest is left for another time. */
const FAILURES_TO_GIVE_UP = 2;

/** The names that a report of servers begins with. */
const NAMES_REPORTED = 3;

/** What discovery works with. */
export interface DiscoveryOptions {
  readonly panel: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly listing: (query: ListingQuery, signal: AbortSignal, call: ListingCall) => Promise<ListingPage>;
  /** Does the panel answer, and accept the key? */
  readonly isPanelUp: () => boolean;
  /** Calls a minute that the panel's budget carries. */
  readonly callsPerMinute: () => number;
  /** Identities of the servers whose own calls are answered with 404. */
  readonly notFound: () => ReadonlySet<string>;
  /** Is the server this shard's? */
  readonly isOurs: (server: Pick<ServerTarget, 'panel' | 'id'>) => boolean;
  /** Given what is to be observed, whenever that may have changed. */
  readonly found: (targets: readonly ServerTarget[]) => void;
}

/** Reads a panel's listing again and again, and says what is to be observed. */
export class Discovery {
  readonly #options: DiscoveryOptions;
  #settings: ListingSettings | undefined;
  #rules: CompiledRules | undefined;
  #configured: readonly ServerTarget[] = [];
  #census: Census = new Map();
  /** Servers that left the configuration as discovery began: the listing is yet to say whether they are discovered. */
  #undecided: readonly ServerTarget[] = [];
  #merged: MergedTargets = { targets: [], discovered: 0, ambiguous: [] };
  /** The configured servers need not wait for their names any longer. */
  #isNamed = false;
  #pages = 1;
  #failures = 0;
  #surplus: Surplus = NO_SURPLUS;
  #surplusEntries = 0;
  #hasWalked = false;
  #isFailing = false;
  #succeededUnixMs: number | undefined;
  #inFlight: AbortController | undefined;
  #cancelWalk: Cancel = () => {};
  #cancelPatience: Cancel = () => {};
  #isRunning = false;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  /** What is to be observed, as far as it is known by now. */
  get targets(): readonly ServerTarget[] {
    return this.#merged.targets;
  }

  /** Calls a minute that it makes. */
  get callsPerMinute(): number {
    return this.#settings === undefined ? 0 : (this.#pages * 60_000) / this.#intervalMs(this.#settings);
  }

  /** Absent where the listing isn't used. */
  get reading(): DiscoveryReading | undefined {
    if (this.#settings === undefined) return undefined;
    const { discovered, ambiguous } = this.#merged;
    return {
      isPending: !this.#isNamed,
      servers: discovered,
      ambiguous: ambiguous.length,
      leftOut: this.#surplus.servers + this.#surplusEntries,
      succeededUnixMs: this.#succeededUnixMs,
      failures: this.#failures,
    };
  }

  /** Why servers of the listing are not observed that should be. */
  get problems(): readonly Problem[] {
    const surplus = surplusProblem(this.#surplus, this.#surplusEntries, this.#maxServers);
    return [surplus, ambiguityProblem(this.#merged.ambiguous)].filter((problem) => problem !== undefined);
  }

  get #maxServers(): number {
    return this.#settings?.discover?.maxServers ?? FACTS_REMEMBERED;
  }

  /** Takes on the configured servers, and how the listing is used, if it is; says what is to be observed then. */
  configure(
    configured: readonly ServerTarget[],
    settings: ListingSettings | undefined,
  ): readonly ServerTarget[] {
    const isSame = JSON.stringify(settings) === JSON.stringify(this.#settings);
    this.#configured = configured;
    if (!isSame) {
      // Those that are observed by their ids already don't leave to wait for a name.
      if (this.#isRunning) this.#isNamed = true;
      this.#settings = settings;
      const rules = settings?.discover;
      this.#rules = rules && compileRules(this.#options.panel, rules);
      const isUnread = this.#isRunning && rules !== undefined && this.#census.size === 0;
      this.#undecided = isUnread ? this.#merged.targets : [];
      if (settings === undefined) {
        this.#census = new Map();
        this.#surplus = NO_SURPLUS;
        this.#surplusEntries = 0;
      }
      // Other rules may want more of what is remembered.
      this.#reduceCensus(this.#admission());
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

  /** Reads the listing at once: it may be another one. */
  restart(): void {
    if (this.#isRunning) this.#begin();
  }

  #begin(): void {
    this.#cancelAll();
    if (this.#settings === undefined) return;
    if (!this.#isNamed) {
      this.#cancelPatience = this.#options.clock.schedule(NAMES_WITHIN_MS, () => this.#publish());
    }
    void this.#walk(this.#settings);
  }

  #cancelAll(): void {
    this.#cancelWalk();
    this.#cancelPatience();
    this.#inFlight?.abort(new Error('the listing is no longer wanted'));
    this.#inFlight = undefined;
  }

  async #walk(settings: ListingSettings): Promise<void> {
    const { listing } = this.#options;
    const controller = new AbortController();
    const { signal } = controller;
    this.#inFlight = controller;
    const optional = settings.discover === undefined;
    const urgentPages = this.#hasWalked ? 0 : optional ? this.#ownPages : Number.POSITIVE_INFINITY;
    const type = settings.type === undefined ? {} : { type: settings.type };
    const admission = this.#admission();
    const walk = await walkListing(
      (query) => listing({ ...query, ...type }, signal, { urgent: query.page <= urgentPages, optional }),
      {
        maxFailures: FAILURES_TO_GIVE_UP,
        signal,
        reduction: { above: this.#maxServers, reduce: (servers) => admission.reduce(servers) },
      },
    );
    if (signal.aborted) return;
    this.#inFlight = undefined;
    this.#hasWalked = true;
    this.#pages = walk.pages;
    if (walk.complete) this.#undecided = [];
    this.#census = afterWalk(this.#census, walk, this.#options.notFound());
    this.#reduceCensus(admission);
    this.#logProblem(walk, settings);
    this.#noteSurplus(walk, admission);
    this.#publish();
    const isRefused = optional && this.#options.isPanelUp() && isRefusal(walk.failure?.error);
    this.#scheduleWalk(settings, isRefused || (walk.complete && !hasDoubts(this.#census)));
  }

  #admission(): Admission {
    const { isOurs, panel } = this.#options;
    const rules = this.#rules;
    const observed = new Set(this.#merged.targets.map(({ uuid }) => uuid));
    return new Admission({
      maxServers: this.#maxServers,
      configured: this.#configured,
      isDiscovered: (server) => rules?.judge(server).included === true && isOurs({ panel, id: server.uuid }),
      isObserved: (uuid) => observed.has(uuid),
    });
  }

  /** Servers that a walk passed by keep their places, so that the census is reduced as a whole. */
  #reduceCensus(admission: Admission): void {
    const known = [...this.#census.values()].map(({ server }) => server);
    const kept = new Set(admission.reduce(known).map(({ uuid }) => uuid));
    if (kept.size === known.length) return;
    this.#census = new Map([...this.#census].filter(([uuid]) => kept.has(uuid)));
  }

  #noteSurplus({ complete, surplusEntries }: ListingWalk, { surplus }: Admission): void {
    const { panel, log } = this.#options;
    const before = this.#surplus.servers;
    // Nothing is missed where no server is observed because the listing names it.
    this.#surplusEntries = this.#rules === undefined ? 0 : surplusEntries;
    // A walk that broke off has seen only a part of those that are left out.
    if (complete || surplus.servers >= before) this.#surplus = surplus;
    const now = this.#surplus.servers;
    const problem = surplusProblem(this.#surplus, this.#surplusEntries, this.#maxServers);
    if (problem !== undefined && now > 0 && before === 0) this.#warn(problem);
    if (now === 0 && before > 0)
      log.info({ panel }, `panel ${panel}: no servers of the listing are left out any longer`);
  }

  /** Says it once for each set of servers. */
  #noteAmbiguous(before: readonly ListedServer[]): void {
    const { panel, log } = this.#options;
    const { ambiguous } = this.#merged;
    const problem = ambiguityProblem(ambiguous);
    if (problem === undefined) {
      if (before.length > 0) log.info({ panel }, `panel ${panel}: no two servers have the same identifier`);
    } else if (uuidsOf(ambiguous) !== uuidsOf(before)) this.#warn(problem);
  }

  #warn({ cause, detail }: Problem): void {
    const { panel, log } = this.#options;
    const { title, remedy } = CAUSES[cause];
    log.warn({ panel, cause, detail }, `panel ${panel}: ${title}: ${detail}: ${remedy}`);
  }

  #scheduleWalk(settings: ListingSettings, isSettled: boolean): void {
    const intervalMs = this.#intervalMs(settings);
    const repeatMs = Math.min(intervalMs, Math.max(REPEAT_MS, this.#shortestMs()));
    const delayMs = isSettled ? intervalMs : repeatMs;
    this.#cancelWalk = this.#options.clock.schedule(delayMs, () => void this.#walk(settings));
  }

  #logProblem({ problem, complete, servers, failure }: ListingWalk, { discover }: ListingSettings): void {
    const { panel, log, clock, isPanelUp } = this.#options;
    if (complete) {
      if (problem === undefined && this.#succeededUnixMs === undefined) {
        if (discover === undefined) this.#logUnlisted();
        else if (servers.length === 0) log.warn({ panel, cause: 'nothing_listed' }, emptyListing(panel));
      }
      this.#succeededUnixMs = clock.toUnixMs(clock.now());
    }
    if (problem === undefined) {
      if (this.#isFailing) log.info({ panel }, `panel ${panel}: the listing can be read again`);
      this.#isFailing = false;
      return;
    }
    this.#failures += 1;
    const detail = printable(problem.message);
    const cause = failure === undefined ? 'bad_answer' : problemOf(failure.error).cause;
    // What is wrong with the panel or its key is reported once, by the servers' own calls.
    if (!isPanelUp() && (discover === undefined || isPanelWide(CAUSES[cause]))) return;
    const isRefused = discover === undefined && isRefusal(failure?.error);
    const what = isRefused
      ? 'the listing is refused: going without node, egg and limits, unless servers have limits of their own; limits_from_listing: false ends the attempts'
      : complete
        ? "the listing has entries that can't be read: leaving them out"
        : 'listing incomplete: keeping the known servers';
    log[this.#isFailing ? 'debug' : 'warn'](
      { panel, cause, detail },
      `panel ${panel}: ${what}; last: ${detail}`,
    );
    this.#isFailing = true;
  }

  #logUnlisted(): void {
    const { panel, log } = this.#options;
    const listed = new Set([...this.#census.keys()].map((uuid) => identityOf({ id: uuid })));
    const unlisted = this.#configured.filter((target) => !listed.has(identityOf(target)));
    if (unlisted.length === 0) return;
    const names = unlisted.slice(0, NAMES_REPORTED).map(({ name }) => name);
    log.info(
      { panel, servers: unlisted.length },
      `panel ${panel}: ${unlisted.length} of ${this.#configured.length} servers are not in the listing of the key's account: their limits come from the configuration alone; first: ${names.join(', ')}`,
    );
  }

  /** What the listing names is known, or has been waited for long enough. */
  #publish(): void {
    const { panel, log, found } = this.#options;
    this.#cancelPatience();
    this.#isNamed = true;
    const before = this.#merged.discovered;
    this.#merge();
    const { discovered, targets } = this.#merged;
    if (discovered !== before) {
      // How many there are at the start is told with what is planned for them.
      log[before === 0 ? 'debug' : 'info'](
        { panel, discovered, before },
        `panel ${panel}: ${discovered} servers discovered, ${before} before`,
      );
    }
    found(targets);
  }

  #merge(): void {
    const { isOurs, panel } = this.#options;
    const before = this.#merged;
    const observed = new Set(before.targets.map(({ uuid }) => uuid));
    const waits = this.#rules !== undefined && !this.#isNamed;
    const configured = waits ? this.#configured.filter((target) => !isUnnamed(target)) : this.#configured;
    const { targets, ambiguous } = mergeTargets(configured, this.#census, this.#rules, (uuid) =>
      observed.has(uuid),
    );
    const own = targets.slice(0, configured.length);
    const added = targets.slice(configured.length).filter(isOurs);
    const known = new Set([...this.#configured, ...added].map(identityOf));
    const undecided = this.#undecided.filter((target) => !known.has(identityOf(target)));
    this.#merged = {
      targets: [...own, ...added, ...undecided],
      discovered: added.length,
      ambiguous: ambiguous.filter(({ uuid }) => isOurs({ panel, id: uuid })),
    };
    this.#noteAmbiguous(before.ambiguous);
  }

  #intervalMs({ intervalMs }: ListingSettings): number {
    return Math.max(intervalMs, this.#shortestMs());
  }

  #shortestMs(): number {
    return (this.#pages / this.#mostPerMinute) * 60_000;
  }

  /** Calls a minute that the listing takes at most. */
  get #mostPerMinute(): number {
    const most = this.#options.callsPerMinute() * LISTING_SHARE;
    const settings = this.#settings;
    if (settings === undefined || settings.discover !== undefined) return most;
    const own = (this.#ownPages * 60_000) / settings.intervalMs;
    return Math.min(most, Math.max(own, FACTS_CALLS_PER_MINUTE));
  }

  /** Pages that the configured servers take. */
  get #ownPages(): number {
    return Math.ceil(this.#configured.length / LISTING_PAGE_SIZE);
  }
}

/** Is it the panel's, or a firewall's, answer to an account that may not read the listing, or a panel without one? */
function isRefusal(error: unknown): boolean {
  return error instanceof PanelError && REFUSALS.has(error.status ?? 0);
}

const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

function uuidsOf(servers: readonly ListedServer[]): string {
  return servers
    .map(({ uuid }) => uuid)
    .sort()
    .join(' ');
}

function emptyListing(panel: string): string {
  return `panel ${panel}: the listing holds no server; is the key of the right account, and discover.type as it should be? The types admin and admin-all need an administrator's key`;
}
