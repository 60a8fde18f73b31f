import { problemLine, shortTitle, withRemedy } from '../diagnosis/causes.ts';
import { weigh } from '../diagnosis/scope.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { BudgetReading } from '../domain/reading.ts';
import { untilAborted } from '../domain/until-aborted.ts';
import { AddressDoubt } from './address-doubt.ts';
import { type PanelAnswer, PanelApi, type PanelApiOptions } from './api.ts';
import { Breaker } from './breaker.ts';
import { ApiBudget } from './budget.ts';
import { ConsoleRefusals } from './console-refusals.ts';
import type { BackupsPage, Credentials, ListingPage, ListingQuery, Resources } from './dialect.ts';
import { PanelError, problemOf } from './errors.ts';
import type { Shares } from './fair-share.ts';
import { withoutUserInfo } from './panel-address.ts';
import { PathProblems } from './path-problems.ts';
import { type ProbeCalls, Prober } from './prober.ts';
import {
  isLeftToServers,
  isNodeSilent,
  isProbe,
  LISTING_PROBE,
  type ListingCall,
  listingPurpose,
  PROBE_QUERY,
  type Purpose,
  withoutKeyDoubt,
} from './purpose.ts';

/** Does the panel's API answer and accept the API key? `unknown` until a call has shown it. */
export type PanelHealth = 'unknown' | 'up' | 'down';

/** What credentials are for: a socket that is streaming, a new one, or one that failed several times. */
export type TokenPurpose = 'refresh' | 'connect' | 'retry';

/** `isRelieved` if the reason why servers could not be observed may be gone. */
export type HealthListener = (isRelieved: boolean) => void;

/**
 * One panel as sessions use it: every call waits for its turn in the panel's budget, and is held back while the panel can't serve
 * any server. Calls reject with a `PanelError`, or at once with the signal's reason when that aborts.
 */
export interface PanelGateway {
  readonly health: PanelHealth;
  /** The problem of the panel as a whole, including its API key; undefined while calls are let through. */
  readonly problem: Problem | undefined;
  /** The panel's problem, or the problems of single paths of a panel that otherwise works; most severe first. */
  readonly problems: readonly Problem[];
  /** `refresh` goes before `connect`, and `retry` after everything else. */
  credentials(server: string, purpose: TokenPurpose, signal: AbortSignal): Promise<Credentials>;
  resources(server: string, signal: AbortSignal): Promise<Resources>;
  /** Like `resources`, but before all connects: the answer's headers contain the panel's limit. */
  learn(server: string, signal: AbortSignal): Promise<Resources>;
  listing(query: ListingQuery, signal: AbortSignal, call?: ListingCall): Promise<ListingPage>;
  /** One page of a server's backups, after all other calls. */
  backups(server: string, page: number, signal: AbortSignal): Promise<BackupsPage>;
  budget(): BudgetReading;
  /**
   * Sets the number of servers and which of them need a console: in a small fleet, fewer failures show that the panel is in
   * trouble.
   */
  setFleetSize(size: number, consoles: readonly string[]): void;
  /** The server left the fleet, and none of its calls is waiting or running. */
  forget(server: string): void;
  /** The server's node answered a poll of another server after it had failed to, so it is no longer suspected of being dead. */
  clearSuspicion(server: string): void;
  /** Guarantees each kind of call its share of the rate. */
  setShares(shares: Shares): void;
  /** The API key changed: everything held against the panel or the old key is forgotten. */
  keyChanged(): void;
  /** Checks the panel itself, without involving a node; resolves once its health is judged. */
  verify(): Promise<void>;
  /** Calls the listener when the health or the problems change. Returns a function that unsubscribes, as do the next two. */
  onHealthChange(listener: HealthListener): () => void;
  /** Calls the listener with the rate in calls per minute. */
  onRateChange(listener: (perMinute: number) => void): () => void;
  /**
   * Calls the listener with the milliseconds for which all calls are paused because the panel says that its rate limit is
   * exceeded.
   */
  onPause(listener: (durationMs: number) => void): () => void;
  /** Rejects every call, whether waiting or running, and closes the connections. */
  close(): Promise<void>;
}

export interface PanelGatewayOptions extends PanelApiOptions {
  readonly log: Logger;
  /** The rate, if the operator set one; otherwise it is learned. */
  readonly pinnedPerMinute?: number;
  /** This shard's share of the panel's limit. */
  readonly share?: number;
}

/** The calls that a gateway makes. */
export type PanelCalls = Pick<PanelApi, 'credentials' | 'resources' | 'listing' | 'backups' | 'close'>;

/** Creates the gateway to one panel; calls go over HTTP unless `calls` is given. */
export function createPanelGateway(
  options: PanelGatewayOptions,
  calls: PanelCalls = new PanelApi(options),
): PanelGateway {
  const breaker = new Breaker(options.clock);
  const budget = new ApiBudget({ ...options, gateWaitMs: () => breaker.waitMs() });
  return new Gateway(options, calls, budget, breaker);
}

/** Assumed until `setFleetSize`: enough servers that trouble with a single one doesn't count as trouble with the panel. */
const UNKNOWN_FLEET_SIZE = 3;

class Gateway implements PanelGateway {
  readonly #panel: string;
  readonly #url: string;
  readonly #log: Logger;
  readonly #api: PanelCalls;
  readonly #budget: ApiBudget;
  readonly #breaker: Breaker;
  readonly #consoles: ConsoleRefusals;
  readonly #healthListeners = new Set<HealthListener>();
  readonly #lifetime = new AbortController();
  readonly #paths = new PathProblems();
  readonly #address = new AddressDoubt();
  readonly #prober: Prober;
  #health: PanelHealth = 'unknown';
  #fleetSize = UNKNOWN_FLEET_SIZE;
  /** Only facts about the servers are read from the listing. */
  #isListingOptional = false;
  /** Counts the API keys: the outcome of a call with an earlier key says nothing about the current one. */
  #keyNumber = 0;
  #isConsoleProblemLogged = false;
  constructor(options: PanelGatewayOptions, api: PanelCalls, budget: ApiBudget, breaker: Breaker) {
    this.#panel = options.panel;
    this.#url = withoutUserInfo(options.baseUrl);
    this.#log = options.log;
    this.#api = api;
    this.#budget = budget;
    this.#breaker = breaker;
    this.#consoles = new ConsoleRefusals(options.clock);
    this.#prober = new Prober(options.clock, breaker, this.#probeCalls());
  }

  get health(): PanelHealth {
    return this.#health;
  }

  get problem(): Problem | undefined {
    return this.#breaker.problem;
  }

  get problems(): readonly Problem[] {
    const { problem } = this.#breaker;
    if (problem !== undefined) return [problem];
    const consoles = this.#consoleProblem;
    return [...(consoles === undefined ? [] : [consoles]), ...this.#paths.problems];
  }

  async credentials(server: string, kind: TokenPurpose, signal: AbortSignal): Promise<Credentials> {
    const refusal = this.#consoleProblem && this.#consoles.refuse(server);
    if (refusal !== undefined) throw refusal;
    const purpose: Purpose = { kind, endpoint: 'websocket', server, subject: server };
    const ask = (scope: AbortSignal) =>
      this.#prober.takeSpare(server) ?? this.#api.credentials(server, scope);
    return this.#run(purpose, signal, ask);
  }

  resources(server: string, signal: AbortSignal): Promise<Resources> {
    const purpose: Purpose = { kind: 'poll', endpoint: 'resources', server, subject: server };
    return this.#run(purpose, signal, (scope) => this.#api.resources(server, scope), isNodeSilent);
  }

  learn(server: string, signal: AbortSignal): Promise<Resources> {
    const purpose: Purpose = { kind: 'learn', endpoint: 'resources', subject: server };
    return this.#run(purpose, signal, (scope) => this.#api.resources(server, scope));
  }

  listing(query: ListingQuery, signal: AbortSignal, call: ListingCall = {}): Promise<ListingPage> {
    this.#isListingOptional = call.optional === true;
    return this.#run(listingPurpose(call), signal, (scope) => this.#api.listing(query, scope));
  }

  backups(server: string, page: number, signal: AbortSignal): Promise<BackupsPage> {
    const purpose: Purpose = { kind: 'backups', endpoint: 'backups', server, subject: server };
    return this.#run(purpose, signal, (scope) => this.#api.backups(server, page, scope));
  }

  budget(): BudgetReading {
    return this.#budget.reading();
  }

  setFleetSize(size: number, consoles: readonly string[]): void {
    this.#fleetSize = size;
    this.#consoles.setServers(consoles);
    this.#prober.setServers(consoles);
  }

  forget(server: string): void {
    this.#budget.forget(server);
  }

  clearSuspicion(server: string): void {
    this.#budget.clearSuspicion(server);
  }

  setShares(shares: Shares): void {
    this.#budget.setShares(shares);
  }

  keyChanged(): void {
    this.#keyNumber += 1;
    this.#prober.reset(new Error(`panel ${this.#panel}: the API key changed`));
    this.#breaker.reset();
    this.#consoles.clear();
    this.#isConsoleProblemLogged = false;
    this.#paths.clear();
    this.#address.reset();
    this.#budget.wake();
    this.#setHealth('unknown', { isNews: true });
  }

  async verify(): Promise<void> {
    if (this.problem === undefined) await this.#prober.ask();
  }

  onHealthChange(listener: HealthListener): () => void {
    this.#healthListeners.add(listener);
    return () => this.#healthListeners.delete(listener);
  }

  onRateChange(listener: (perMinute: number) => void): () => void {
    return this.#budget.onRateChange(listener);
  }

  onPause(listener: (durationMs: number) => void): () => void {
    return this.#budget.onPause(listener);
  }

  async close(): Promise<void> {
    this.#prober.stop();
    this.#lifetime.abort(new Error(`panel ${this.#panel}: closed`));
    this.#budget.stop();
    await this.#api.close();
  }

  /** While there are doubts about the panel, it is unclear whether a 401 concerns the account or the key. */
  get #consoleProblem(): Problem | undefined {
    const isJudged = this.#breaker.problem === undefined && !this.#breaker.isDoubtful;
    return isJudged ? this.#consoles.problem : undefined;
  }

  #run<T>(
    purpose: Purpose,
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<PanelAnswer<T>>,
    isSilent?: (value: T) => boolean,
  ): Promise<T> {
    const request = { ...purpose, signal, ...(isSilent && { isNodeSilent: isSilent }) };
    const ended = this.#budget.run(request, async (scope) => {
      const keyNumber = this.#keyNumber;
      if (isProbe(purpose)) this.#breaker.probeStarted();
      try {
        const answer = await call(scope);
        this.#ended(purpose, undefined, keyNumber);
        return answer;
      } catch (error) {
        // A withdrawn call says nothing.
        if (!scope.aborted) this.#ended(purpose, problemOf(error), keyNumber);
        throw error;
      }
    });
    return ended.catch((error: unknown) => this.#explain(purpose, error, signal));
  }

  /** Rejects with the call's error, or with the panel's problem if a probe shows that a 404 is due to a wrong address. */
  async #explain(purpose: Purpose, error: unknown, signal: AbortSignal): Promise<never> {
    const isDoubtful = this.#address.concerns(problemOf(error));
    if (!isDoubtful || isProbe(purpose) || isLeftToServers(purpose, this.#fleetSize, isDoubtful)) throw error;
    if (this.problem === undefined) await untilAborted(this.#prober.ask(), signal);
    throw this.problem === undefined ? error : new PanelError(this.problem, { cause: error });
  }

  #ended(purpose: Purpose, answered: Problem | undefined, keyNumber: number): void {
    if (this.#lifetime.signal.aborted || keyNumber !== this.#keyNumber) return;
    const { endpoint, subject } = purpose;
    const problem = this.#address.judged(answered);
    const isAddressDoubtful = problem !== answered;
    if (problem !== undefined && isLeftToServers(purpose, this.#fleetSize, isAddressDoubtful)) {
      this.#prober.listingMissed(problem);
      return;
    }
    const before = this.#breaker.problem;
    const consolesBefore = this.#consoleProblem;
    const isProof = weigh(endpoint, problem?.cause) === 'proof';
    const opinion =
      purpose.kind === 'probe' && problem !== undefined ? this.#prober.secondOpinion(problem) : undefined;
    this.#breaker.ended({
      endpoint,
      subject,
      problem: withoutKeyDoubt(purpose, problem, opinion !== undefined),
      isVerification: isProbe(purpose) && opinion === undefined,
      fleetSize: this.#fleetSize,
    });
    const now = this.#breaker.problem;
    if (endpoint === 'websocket') {
      this.#prober.credentialsEnded(subject, isProof);
      this.#consoles.ended(subject, answered);
    }
    // Anything refused while the panel was down was refused for that reason.
    if (before !== undefined && now === undefined) this.#consoles.clear();
    const arePathsChanged = this.#notePaths(purpose, problem, isAddressDoubtful);
    if (now?.cause !== before?.cause) this.#announce(now, before);
    const consoles = this.#consoleProblem;
    const areConsolesGranted =
      endpoint === 'websocket' && problem === undefined && consolesBefore !== undefined;
    this.#announceConsoles(areConsolesGranted);
    const health = now !== undefined ? 'down' : isProof ? 'up' : before ? 'unknown' : this.#health;
    const isLifted = before !== undefined && now === undefined;
    const isFirstAnswer = health === 'up' && this.#health !== 'up';
    this.#setHealth(health, {
      isRelieved: isLifted || areConsolesGranted || isFirstAnswer,
      isNews: arePathsChanged || consoles?.cause !== consolesBefore?.cause || now?.cause !== before?.cause,
    });
    if (now !== undefined) this.#prober.follow();
    else if (this.#breaker.isDoubtful) this.#prober.verify(opinion === 'ask');
    else if (isLifted) this.#prober.closed();
  }

  /** Logs once when no server's console is granted, and once when one is granted again. */
  #announceConsoles(isGranted: boolean): void {
    const fields = { panel: this.#panel, url: this.#url };
    if (isGranted && this.#isConsoleProblemLogged) {
      this.#isConsoleProblemLogged = false;
      this.#log.info(fields, `panel ${this.#panel} (${this.#url}) grants console access again`);
    }
    const problem = this.#consoleProblem;
    if (problem === undefined || this.#isConsoleProblemLogged) return;
    this.#isConsoleProblemLogged = true;
    this.#log.warn(
      { ...fields, cause: problem.cause, detail: problem.detail },
      `panel ${this.#panel} (${this.#url}): ${problemLine(problem)}`,
    );
  }

  /** Records which paths work while others don't; true if that changed. A wrong address isn't the problem of a path. */
  #notePaths({ endpoint, subject }: Purpose, problem: Problem | undefined, isDoubtful: boolean): boolean {
    if (endpoint === 'listing') this.#prober.listingEnded(problem);
    if (problem !== undefined && weigh(endpoint, problem.cause) !== 'proof') {
      const isMissed = !isDoubtful && (endpoint !== 'listing' || !this.#isListingOptional);
      // While the panel is down, paths are not distinguished.
      if (isMissed && this.#breaker.problem === undefined) this.#paths.failed(endpoint, subject, problem);
      return false;
    }
    const worksAgain = this.#paths.worked(endpoint);
    const found = this.#paths.settle(this.#fleetSize);
    for (const [path, { cause, detail }] of found) {
      this.#log.warn(
        { panel: this.#panel, url: this.#url, endpoint: path, cause, detail },
        `panel ${this.#panel} (${this.#url}): ${shortTitle(cause)}, for ${path} calls only: ${withRemedy({ cause, detail })}`,
      );
      if (path === 'listing') this.#prober.watchListing(() => this.#paths.has('listing'));
    }
    return worksAgain || found.length > 0;
  }

  #setHealth(health: PanelHealth, { isRelieved = false, isNews = false }): void {
    if (health === this.#health && !isNews) return;
    this.#health = health;
    for (const listener of this.#healthListeners) listener(isRelieved);
  }

  #announce(problem: Problem | undefined, before: Problem | undefined): void {
    const fields = { panel: this.#panel, url: this.#url };
    if (problem === undefined) {
      this.#log.info(fields, `panel ${this.#panel} (${this.#url}) is available again: resuming calls`);
      return;
    }
    this.#paths.clear();
    // If a panel that is already down fails in another way, that isn't worth another error.
    this.#log[before === undefined ? 'error' : 'warn'](
      { ...fields, cause: problem.cause, detail: problem.detail },
      `panel ${this.#panel} (${this.#url}): ${problemLine(problem)} Retrying once a minute.`,
    );
  }

  #probeCalls(): ProbeCalls {
    return {
      listing: (signal) => this.#run(LISTING_PROBE, signal, (scope) => this.#api.listing(PROBE_QUERY, scope)),
      credentials: (server, signal) => {
        const purpose: Purpose = { kind: 'tokenProbe', endpoint: 'websocket', subject: server };
        return this.#run(purpose, signal, (scope) =>
          this.#prober.share(server, this.#api.credentials(server, scope)),
        );
      },
      recheckListing: () =>
        this.listing(PROBE_QUERY, this.#lifetime.signal, { optional: this.#isListingOptional }),
      wake: () => this.#budget.wake(),
    };
  }
}
