import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { BudgetReading } from '../domain/reading.ts';
import { type Answer, type ListingQuery, PanelApi, type PanelApiOptions } from './api.ts';
import { Breaker, type Outcome, outcomeOf, PROBE_INTERVAL_MS, type Trouble } from './breaker.ts';
import { ApiBudget } from './budget.ts';
import type { CallKind } from './call-kind.ts';
import type { Credentials, Resources } from './decode.ts';
import type { BackupsPage } from './decode-backups.ts';
import type { ListingPage } from './decode-listing.ts';
import { PanelError } from './errors.ts';

/** Did the panel's API answer, and accept the key? `unknown` until a call has told. */
export type PanelHealth = 'unknown' | 'up' | Trouble;

/** Told when the health changes, with the error that changed it where there was one. */
export type HealthListener = (health: PanelHealth, error?: PanelError) => void;

/**
 * One panel as sessions use it: every call waits its turn in the panel's budget and is held back while the
 * panel is in trouble. Each rejects with a `PanelError`, or at once with the signal's reason when that aborts.
 */
export interface PanelGateway {
  readonly health: PanelHealth;
  /** `refresh` goes before `connect`. */
  credentials(server: string, priority: 'refresh' | 'connect', signal: AbortSignal): Promise<Credentials>;
  resources(server: string, signal: AbortSignal): Promise<Resources>;
  /** As `resources`, but before all connects: the answer's headers tell the panel's limit. */
  learn(server: string, signal: AbortSignal): Promise<Resources>;
  /** Last but for backups; `urgent` goes before all connects. */
  listing(query: ListingQuery, signal: AbortSignal, urgent?: boolean): Promise<ListingPage>;
  /** One page of a server's backups, after all other calls. */
  backups(server: string, page: number, signal: AbortSignal): Promise<BackupsPage>;
  budget(): BudgetReading;
  /** How many servers there are; where they are few, it takes fewer of them to tell that the panel is in trouble. */
  setFleetSize(size: number): void;
  /** Returns what ends it, as does `onRateChange`. */
  onHealthChange(listener: HealthListener): () => void;
  /** The listener is given the rate in calls a minute. */
  onRateChange(listener: (perMinute: number) => void): () => void;
  /** Rejects every call, waiting or running, and drops the connections. */
  close(): Promise<void>;
}

export interface PanelGatewayOptions extends PanelApiOptions {
  /** The panel's name. */
  readonly panel: string;
  readonly log: Logger;
  /** The rate, where the operator set one; otherwise it is learned. */
  readonly pinnedPerMinute?: number;
  /** The part of the panel's limit that is ours, where shards divide it. */
  readonly share?: number;
}

/** The way to one panel. */
export function createPanelGateway(options: PanelGatewayOptions): PanelGateway {
  const breaker = new Breaker(options.clock);
  const budget = new ApiBudget({ ...options, gateWaitMs: () => breaker.waitMs() });
  return new Gateway(options, new PanelApi(options), budget, breaker);
}

interface Purpose {
  readonly kind: CallKind;
  readonly server?: string;
  /** Whom the call's outcome is about. */
  readonly subject: string;
}

/** Assumed until `setFleetSize`: enough that one server's trouble isn't taken for the panel's. */
const UNKNOWN_FLEET_SIZE = 3;

/** The subject of calls that are about no server in particular; no id is empty. */
const WHOLE_PANEL = '';

class Gateway implements PanelGateway {
  readonly #panel: string;
  readonly #url: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #api: PanelApi;
  readonly #budget: ApiBudget;
  readonly #breaker: Breaker;
  readonly #healthListeners = new Set<HealthListener>();
  readonly #lifetime = new AbortController();
  #health: PanelHealth = 'unknown';
  #fleetSize = UNKNOWN_FLEET_SIZE;
  #probeServer: string | undefined;
  /** An endpoint that asks no permission but to see the server took the key, and none refused it since. */
  #keyAccepted = false;
  /** Servers whose credentials were refused with 401 since then: if it was the key after all, they met it too. */
  readonly #doubted = new Set<string>();
  #keyVerifiedAt = Number.NEGATIVE_INFINITY;
  #cancelProbe: Cancel = () => {};

  constructor(options: PanelGatewayOptions, api: PanelApi, budget: ApiBudget, breaker: Breaker) {
    this.#panel = options.panel;
    this.#url = withoutUserInfo(options.baseUrl);
    this.#clock = options.clock;
    this.#log = options.log;
    this.#api = api;
    this.#budget = budget;
    this.#breaker = breaker;
  }

  get health(): PanelHealth {
    return this.#health;
  }

  credentials(server: string, priority: 'refresh' | 'connect', signal: AbortSignal): Promise<Credentials> {
    return this.#run({ kind: priority, server, subject: server }, signal, (scope) =>
      this.#api.credentials(server, scope),
    );
  }

  resources(server: string, signal: AbortSignal): Promise<Resources> {
    return this.#run({ kind: 'poll', server, subject: server }, signal, (scope) =>
      this.#api.resources(server, scope),
    );
  }

  learn(server: string, signal: AbortSignal): Promise<Resources> {
    return this.#run({ kind: 'probe', subject: server }, signal, (scope) =>
      this.#api.resources(server, scope),
    );
  }

  listing(query: ListingQuery, signal: AbortSignal, urgent = false): Promise<ListingPage> {
    return this.#run({ kind: urgent ? 'census' : 'listing', subject: WHOLE_PANEL }, signal, (scope) =>
      this.#api.listing(query, scope),
    );
  }

  backups(server: string, page: number, signal: AbortSignal): Promise<BackupsPage> {
    return this.#run({ kind: 'backups', server, subject: server }, signal, (scope) =>
      this.#api.backups(server, page, scope),
    );
  }

  budget(): BudgetReading {
    return this.#budget.reading();
  }

  setFleetSize(size: number): void {
    this.#fleetSize = size;
  }

  onHealthChange(listener: HealthListener): () => void {
    this.#healthListeners.add(listener);
    return () => this.#healthListeners.delete(listener);
  }

  onRateChange(listener: (perMinute: number) => void): () => void {
    return this.#budget.onRateChange(listener);
  }

  async close(): Promise<void> {
    this.#cancelProbe();
    this.#lifetime.abort(new Error(`panel ${this.#panel}: closed`));
    this.#budget.stop();
    await this.#api.close();
  }

  #run<T>(
    purpose: Purpose,
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<Answer<T>>,
  ): Promise<T> {
    return this.#budget.run({ ...purpose, signal }, async (scope) => {
      const isProbe = this.#breaker.started();
      try {
        const answer = await call(scope);
        this.#ended(purpose, isProbe);
        return answer;
      } catch (error) {
        this.#ended(purpose, isProbe, error);
        throw error;
      }
    });
  }

  #ended(purpose: Purpose, isProbe: boolean, error?: unknown): void {
    if (this.#lifetime.signal.aborted) return;
    const { subject } = purpose;
    const outcome = this.#outcome(purpose, error);
    const before = this.#breaker.trouble;
    if (outcome === 'refused') this.#countDoubted();
    this.#breaker.ended({ outcome, subject, isProbe, fleetSize: this.#fleetSize });
    const { trouble } = this.#breaker;
    if (trouble !== undefined && subject !== WHOLE_PANEL) this.#probeServer = subject;
    if (trouble !== before) this.#tell(trouble, error);
    if (trouble !== undefined) this.#changeHealth(trouble, error);
    else if (outcome === 'success' || outcome === 'answered') this.#changeHealth('up');
    else if (before !== undefined) this.#changeHealth('unknown', error);
  }

  // Where the account may not open consoles, some panels refuse credentials with 401 as they refuse a key: whether
  // it is the key, another endpoint tells.
  #outcome({ kind, subject }: Purpose, error: unknown): Outcome {
    const outcome = error === undefined ? 'success' : outcomeOf(error);
    if (kind === 'backups' && outcome === 'refused') {
      // An account that may not read backups is told so with 401 by some panels, too: it takes no part in the doubts.
      this.#verifyKey(subject);
      return 'unclear';
    }
    const asksForToken = kind === 'connect' || kind === 'refresh';
    if (!asksForToken) {
      if (outcome === 'success') {
        this.#keyAccepted = true;
        this.#doubted.clear();
      }
      if (outcome === 'refused') this.#keyAccepted = false;
      return outcome;
    }
    if (outcome !== 'refused' || !this.#keyAccepted) return outcome;
    this.#doubted.add(subject);
    this.#verifyKey(subject);
    return 'answered';
  }

  #countDoubted(): void {
    for (const subject of this.#doubted) {
      this.#breaker.ended({ outcome: 'refused', subject, isProbe: false, fleetSize: this.#fleetSize });
    }
    this.#doubted.clear();
  }

  #verifyKey(server: string): void {
    const now = this.#clock.now();
    if (now - this.#keyVerifiedAt < PROBE_INTERVAL_MS) return;
    this.#keyVerifiedAt = now;
    // Its end is heeded where all calls' ends are.
    this.learn(server, this.#lifetime.signal).catch(() => {});
  }

  #changeHealth(health: PanelHealth, error?: unknown): void {
    if (health === this.#health) return;
    this.#health = health;
    for (const listener of this.#healthListeners) {
      if (error instanceof PanelError) listener(health, error);
      else listener(health);
    }
  }

  #tell(trouble: Trouble | undefined, error: unknown): void {
    const fields = { panel: this.#panel, url: this.#url };
    this.#cancelProbe();
    if (trouble === undefined) {
      this.#log.info(fields, `panel ${this.#panel} (${this.#url}) answers again: calls go on`);
      return;
    }
    this.#scheduleProbe();
    const cause = error instanceof Error ? error.message : 'unknown';
    const what =
      trouble === 'refused'
        ? 'refuses the API key (401): check api_key or api_key_file, and whether the key was deleted or is limited to other addresses'
        : "can't be reached: check its url, the network and the panel";
    this.#log.error(
      { ...fields, trouble, cause },
      `panel ${this.#panel} (${this.#url}) ${what}; one probe a minute goes out until it answers; last: ${cause}`,
    );
  }

  // Sessions that were refused may rest for longer than the time between two probes, so that with few servers
  // no call would be waiting to be let through.
  #scheduleProbe(delayMs = PROBE_INTERVAL_MS): void {
    this.#cancelProbe = this.#clock.schedule(delayMs, () => {
      const waitMs = this.#breaker.waitMs();
      if (waitMs === 0) this.#probe();
      this.#scheduleProbe(waitMs > 0 && Number.isFinite(waitMs) ? waitMs : PROBE_INTERVAL_MS);
    });
  }

  #probe(): void {
    if (this.#probeServer === undefined || this.#budget.reading().queueLength > 0) return;
    // Its end is heeded where all calls' ends are.
    this.learn(this.#probeServer, this.#lifetime.signal).catch(() => {});
  }
}

function withoutUserInfo(address: string): string {
  const url = new URL(address);
  return url.origin + url.pathname.replace(/\/$/, '');
}
