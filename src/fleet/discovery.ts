import type { Cancel, Clock } from '../domain/clock.ts';
import type { ListingSettings } from '../domain/discovery.ts';
import type { Logger } from '../domain/log.ts';
import { printable } from '../domain/printable.ts';
import type { DiscoveryReading } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ListingQuery } from '../panel/api.ts';
import type { ListingPage } from '../panel/decode-listing.ts';
import { afterWalk, type Census, hasDoubts } from './census.ts';
import { type CompiledRules, isUnnamed, type MergedTargets, mergeTargets } from './discovered-targets.ts';
import { compileRules } from './discovery-filter.ts';
import { type WalkResult, walkListing } from './listing-walk.ts';

/** How soon a walk is repeated that failed, or that passed by a server which was there before. */
const REPEAT_MS = 60_000;

/** Configured servers that the listing is to name wait this long for it, so that their series don't change names at every start. */
const NAMES_WITHIN_MS = 30_000;

/** The part of the budget that the listing takes at most: a long one is read less often. */
const LISTING_SHARE = 0.1;

/** What discovery works with. */
export interface DiscoveryOptions {
  readonly panel: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly listing: (query: ListingQuery, signal: AbortSignal, urgent: boolean) => Promise<ListingPage>;
  /** Calls a minute that the panel's budget carries. */
  readonly callsPerMinute: () => number;
  /** Is the server this shard's? */
  readonly isOurs: (server: ServerTarget) => boolean;
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
  #merged: MergedTargets = { targets: [], discovered: 0 };
  /** The configured servers need not wait for their names any longer. */
  #isNamed = false;
  #pages = 1;
  #failures = 0;
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
    const { discovered } = this.#merged;
    return { servers: discovered, succeededUnixMs: this.#succeededUnixMs, failures: this.#failures };
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
      this.#rules = this.#compile(settings);
      if (settings === undefined) this.#census = new Map();
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
    const isUrgent = !this.#hasWalked;
    const type = settings.type === undefined ? {} : { type: settings.type };
    const result = await walkListing((page) => listing({ ...page, ...type }, signal, isUrgent), signal);
    if (signal.aborted) return;
    this.#inFlight = undefined;
    this.#hasWalked = true;
    this.#pages = result.pages;
    this.#census = afterWalk(this.#census, result.walk);
    this.#tellProblem(result);
    this.#publish();
    this.#scheduleWalk(settings, result.problem === undefined && !hasDoubts(this.#census));
  }

  #scheduleWalk(settings: ListingSettings, isSettled: boolean): void {
    const intervalMs = this.#intervalMs(settings);
    const repeatMs = Math.min(intervalMs, Math.max(REPEAT_MS, this.#shortestMs()));
    const delayMs = isSettled ? intervalMs : repeatMs;
    this.#cancelWalk = this.#options.clock.schedule(delayMs, () => void this.#walk(settings));
  }

  #tellProblem({ problem, walk }: WalkResult): void {
    const { panel, log, clock } = this.#options;
    if (problem === undefined) {
      if (this.#isFailing) log.info({ panel }, `panel ${panel}: the listing can be read again`);
      if (walk.servers.length === 0 && this.#succeededUnixMs === undefined)
        log.warn({ panel }, emptyListing(panel));
      this.#isFailing = false;
      this.#succeededUnixMs = clock.toUnixMs(clock.now());
      return;
    }
    this.#failures += 1;
    const cause = printable(problem.message);
    log[this.#isFailing ? 'debug' : 'warn'](
      { panel, cause },
      `panel ${panel}: the listing could not be read as a whole, so no server is taken for gone; last: ${cause}`,
    );
    this.#isFailing = true;
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
      log.info(
        { panel, discovered, before },
        `panel ${panel}: ${discovered} servers discovered, ${before} before`,
      );
    }
    found(targets);
  }

  #merge(): void {
    const { isOurs } = this.#options;
    const waits = this.#rules !== undefined && !this.#isNamed;
    const configured = waits ? this.#configured.filter((target) => !isUnnamed(target)) : this.#configured;
    const { targets } = mergeTargets(configured, this.#census, this.#rules);
    const own = targets.slice(0, configured.length);
    const added = targets.slice(configured.length).filter(isOurs);
    this.#merged = { targets: [...own, ...added], discovered: added.length };
  }

  #compile(settings: ListingSettings | undefined): CompiledRules | undefined {
    const rules = settings?.discover;
    if (rules === undefined) return undefined;
    return { panel: this.#options.panel, labels: rules.labels, mode: rules.mode, judge: compileRules(rules) };
  }

  #intervalMs({ intervalMs }: ListingSettings): number {
    return Math.max(intervalMs, this.#shortestMs());
  }

  #shortestMs(): number {
    return (this.#pages / (this.#options.callsPerMinute() * LISTING_SHARE)) * 60_000;
  }
}

function emptyListing(panel: string): string {
  return `panel ${panel}: the listing holds no server; is the key of the right account, and discover.type as it should be? The types admin and admin-all need an administrator's key`;
}
