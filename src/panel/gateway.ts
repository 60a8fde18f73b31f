import { NO_DATA, type Signs, signsOf, signsOfSocket } from '../diagnosis/outcome.ts';
import { sleep } from '../domain/clock.ts';
import { Listeners } from '../domain/listeners.ts';
import type { Logger } from '../domain/log.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import type { BudgetReading } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import { bounded } from '../domain/until-aborted.ts';
import { type PanelAnswer, PanelApi, type PanelApiOptions } from './api.ts';
import {
  type Asked,
  CONSOLES,
  channelOf,
  NO_SERVER,
  nodeOf,
  PATHS,
  type Path,
  pathOf,
  pollsOf,
  type Subject,
  socketsOf,
  type Trial,
  type Trouble,
  trialServer,
} from './blame.ts';
import type { BackupsPage, Credentials, ListingPage, ListingQuery, Resources, Schedule } from './dialect.ts';
import { PanelError, problemOf, problemOfAddress } from './errors.ts';
import { type Health, type HealthEvent, stepHealth, UNKNOWN_HEALTH } from './health.ts';
import { Lane } from './lane.ts';
import { PanelLog } from './panel-log.ts';
import { DEFAULT_WAIT_MS, isOfConsole, type RateFacts, RateLimit, WINDOW_MS } from './rate-limit.ts';
import { type Canary, Rounds } from './rounds.ts';
import { type Call, TOKEN_CALLS } from './start-at.ts';
import { Troubles } from './troubles.ts';

export interface PanelGatewayOptions extends PanelApiOptions {
  readonly log: Logger;
  /** The rate, if the operator set one; otherwise it is learned. */
  readonly pinnedPerMinute?: number;
  /** This shard's share of the panel's limit. */
  readonly share?: number;
  /** Shared by all panels with the same address and key; its own if absent. */
  readonly limit?: RateLimit;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** The calls that a gateway makes. */
export type PanelCalls = Pick<
  PanelApi,
  'credentials' | 'resources' | 'listing' | 'backups' | 'schedules' | 'close'
>;

/** One call for a server, as its session requests it. */
export interface Ask {
  /** By when the response is needed, in monotonic milliseconds: calls with earlier deadlines go first. */
  readonly deadline: number;
  /** Did the server fail alone several times, so that this call probably fails as well? */
  readonly isRetry?: () => boolean;
  /** The token is for a socket that streams, so it doesn't matter whether the node accepts others. */
  readonly isRefresh?: boolean;
}

/** How a panel is used. */
export interface PanelUse {
  /** `optional` if servers can be monitored without the server list. */
  readonly listing: 'none' | 'optional' | 'required';
  /** The servers that are asked for something, by id. */
  readonly asked: Pick<Asked, 'websocket' | 'resources' | 'backups' | 'schedules'>;
}

/** A server whose backups or schedules are read. */
type ListOwner = Pick<ServerTarget, 'id' | 'daemon'>;

/** What fleets, sessions and commands use of a gateway. */
export type PanelGateway = Pick<Gateway, keyof Gateway>;

/** An attempt to stream a server, as it ended. */
export interface SocketAttempt {
  readonly startedAt: number;
  /** The socket's address, if the attempt got as far. */
  readonly url?: string | undefined;
  /** Undefined once stats arrive; `withdrawn` if the attempt showed nothing. */
  readonly end: Problem | 'withdrawn' | undefined;
}

/** A server that failed for this cause works: others may, too. */
export interface Recovery {
  readonly cause: CauseCode;
  readonly node: string | undefined;
}

/** The smallest request that needs the API key and involves no node. */
const CANARY_QUERY: ListingQuery = { page: 1, perPage: 1 };

/** Other calls wait this long for the first one. */
const FIRST_CALL_MS = 3_000;

/** The first canary takes so long that the others are asked as well. */
const LATE = 'late';

/** A canary of a panel that hangs ends after this long. */
const CANARY_MS = 10_000;

/** What is called on each path for one server; a path is tried by the same call. */
const CALLS: {
  readonly [Name in Path]: (
    api: PanelCalls,
    { id, daemon }: ListOwner,
    signal: AbortSignal,
  ) => Promise<PanelAnswer<unknown>>;
} = {
  listing: (api, _, signal) => api.listing(CANARY_QUERY, signal),
  websocket: (api, { id, daemon }, signal) => api.credentials(id, signal, daemon),
  resources: (api, { id }, signal) => api.resources(id, signal),
  backups: (api, { id, daemon }, signal) => api.backups(id, 1, signal, daemon),
  schedules: (api, { id, daemon }, signal) => api.schedules(id, signal, daemon),
};

/**
 * One panel as sessions use it: a call waits until nothing holds it, and its outcome shows who is in trouble. Calls reject with a
 * `PanelError`, or at once with the signal's reason when that aborts.
 */
export class Gateway {
  readonly #options: PanelGatewayOptions;
  readonly #api: PanelCalls;
  readonly #limit: RateLimit;
  readonly #lane: Lane;
  readonly #troubles: Troubles;
  readonly #rounds: Rounds;
  readonly #log: PanelLog;
  readonly #closing = new AbortController();
  readonly #changes = new Listeners();
  readonly #blamed = new Listeners<[subject: Subject | 'panel', isBlamed: boolean]>();
  readonly #socketTrials = new Listeners<[server: string, isFresh: boolean]>();
  readonly #recoveries = new Listeners<[Recovery]>();
  /** The calls that try what is in trouble. */
  readonly #trials = new Map<Subject, AbortController>();
  /** When a poll of a node last got a response; absent if one without a response began after that. */
  readonly #respondedAt = new Map<string, number>();
  /** Where the panel says that a node's sockets are. */
  readonly #addresses = new Map<string, string>();
  #health: Health = UNKNOWN_HEALTH;
  #listing: PanelUse['listing'] = 'required';
  /** Counts the beginnings: the outcome of a call with an earlier key, or on an earlier way, shows nothing about the current one. */
  #beginnings = 0;
  /** While the health is unknown, only canaries start before this instant; infinite before the first. */
  #opensAt = Number.POSITIVE_INFINITY;

  /** Calls go over HTTP unless `api` is given. */
  constructor(options: PanelGatewayOptions, api: PanelCalls = new PanelApi(options)) {
    const { clock, panel, random = Math.random, limit = new RateLimit(options) } = options;
    this.#options = options;
    this.#api = api;
    this.#limit = limit;
    this.#log = new PanelLog(options);
    this.#troubles = new Troubles({
      clock,
      random,
      onTrial: (subject, trial) => void this.#try(subject, trial),
      onChange: (subject, trouble) => this.#troubleChanged(subject, trouble),
    });
    this.#lane = new Lane({
      clock,
      panel,
      limit,
      surroundings: () => ({
        health: this.#health.state,
        opensAt: this.#opensAt,
        troubles: this.#troubles.all,
        respondedAt: this.#respondedAt,
      }),
    });
    this.#rounds = new Rounds({
      clock,
      health: () => this.#health,
      step: (event) => this.#step(event),
      canaries: () => this.#canaries(),
    });
  }

  get health(): Health['state'] {
    return this.#health.state;
  }

  /** The problem of the panel as a whole, including its API key; undefined while calls are let through. */
  get problem(): Problem | undefined {
    return this.#health.problem;
  }

  /** The panel's problem; while it works, those of its consoles, paths and rate limit. */
  get problems(): readonly Problem[] {
    if (this.problem !== undefined) return [this.problem];
    const paths = PATHS.map((path) => this.#pathProblem(path));
    return [
      this.#troubles.problemOf(CONSOLES),
      ...paths,
      this.#log.pauseProblem(this.#limit.allowance),
    ].filter((problem) => problem !== undefined);
  }

  /** At most two a minute are made for each server. */
  async credentials(
    server: string,
    { daemon, ...ask }: Ask & Pick<ListOwner, 'daemon'>,
    signal: AbortSignal,
  ): Promise<Credentials> {
    const credentials = await this.#run({ path: 'websocket', server, ...ask }, signal, (scope) =>
      this.#api.credentials(server, scope, daemon),
    );
    this.#noteAddress(server, credentials.socketUrl);
    return credentials;
  }

  resources(server: string, ask: Ask, signal: AbortSignal): Promise<Resources> {
    return this.#run({ path: 'resources', server, ...ask }, signal, (scope) =>
      this.#api.resources(server, scope),
    );
  }

  listing(query: ListingQuery, deadline: number, signal: AbortSignal): Promise<ListingPage> {
    return this.#run({ path: 'listing', server: NO_SERVER, deadline }, signal, (scope) =>
      this.#api.listing(query, scope),
    );
  }

  /** One page of a server's backups. */
  backups(
    { id, daemon }: ListOwner,
    page: number,
    deadline: number,
    signal: AbortSignal,
  ): Promise<BackupsPage> {
    return this.#run({ path: 'backups', server: id, deadline }, signal, (scope) =>
      this.#api.backups(id, page, scope, daemon),
    );
  }

  schedules({ id, daemon }: ListOwner, deadline: number, signal: AbortSignal): Promise<readonly Schedule[]> {
    return this.#run({ path: 'schedules', server: id, deadline }, signal, (scope) =>
      this.#api.schedules(id, scope, daemon),
    );
  }

  /** May the server's socket be opened: do its node's sockets work as far as is known, or does this server try them? */
  mayConnect(server: string, node: string | undefined): boolean {
    const trouble = node === undefined ? undefined : this.#troubles.all.get(socketsOf(node));
    return trouble?.blamedAt === undefined || trouble.trial?.server === server;
  }

  /** Does the panel still give this address for the node's sockets, as far as is known? */
  isCurrent(node: string | undefined, url: string): boolean {
    const address = node === undefined ? undefined : this.#addresses.get(node);
    return address === undefined || address === addressOf(url);
  }

  /** An attempt to stream the server ended, or its socket, which streamed. */
  socketEnded(server: string, { startedAt, url, end }: SocketAttempt): void {
    const node = this.#nodeOf('websocket', server);
    const isOutdated = url !== undefined && !this.isCurrent(node, url);
    const problem = typeof end === 'object' && !isOutdated ? end : undefined;
    const signs = signsOfSocket(problem?.cause);
    const subject = node === undefined ? undefined : socketsOf(node);
    // The failure that raises a suspicion is no trial of it.
    const isTrial = subject !== undefined && this.#troubles.all.get(subject)?.trial?.server === server;
    if (signs.node !== undefined)
      this.#troubles.record('sockets', server, { startedAt, problem, signs, streams: end === undefined });
    else this.#troubles.withdraw('sockets', server);
    if (isTrial) this.#troubles.tried(subject, signs.node === 'fails' ? problem : this.#tokenProblem(server));
  }

  /** The panel's own error for the node, instead of a token for its trial. */
  #tokenProblem(server: string): Problem | undefined {
    const token = this.#troubles.outcomes.websocket.get(server);
    return token?.signs.node === 'may fail' ? token.problem : undefined;
  }

  /** Why no socket of this node is opened for now: a problem of the panel, the path, the account or the node. */
  socketHold(node: string | undefined): Problem | undefined {
    const ofNode = node === undefined ? [] : [socketsOf(node)];
    return (
      this.#hold([pathOf('websocket'), CONSOLES, ...ofNode]) ??
      this.#log.pauseProblem(this.#limit.allowance, 'websocket')
    );
  }

  /** Why servers of this node aren't polled for now. */
  pollHold(node: string | undefined): Problem | undefined {
    return this.#hold([pathOf('resources'), ...(node === undefined ? [] : [pollsOf(node)])]);
  }

  /** The problem of the node itself: of its sockets, which is more exact, else of its polls. */
  nodeProblem(node: string): Problem | undefined {
    return this.#troubles.problemOf(socketsOf(node)) ?? this.#troubles.problemOf(pollsOf(node));
  }

  budget(): BudgetReading {
    const { allowedPerMinute, usedLastMinute, knownPerMinute, isPinned, allowance } = this.#limit;
    return {
      limitPerMinute: allowedPerMinute,
      usedLastMinute,
      queueLength: this.#lane.waiting,
      paused: this.#log.pauseProblem(allowance) !== undefined,
      isPinned,
      knownLimitPerMinute: knownPerMinute,
    };
  }

  /** Whatever is known of servers and nodes that are no longer asked is forgotten. */
  setUse({ listing, asked }: PanelUse): void {
    this.#listing = listing;
    const ofListing: Asked['listing'] = listing === 'none' ? new Map() : new Map([[NO_SERVER, {}]]);
    this.#troubles.setAsked({ ...asked, listing: ofListing, sockets: asked.websocket });
    this.#lane.forgetOld();
    const servers = [...asked.websocket.values(), ...asked.resources.values()];
    const nodes = new Set(servers.map(({ node }) => node));
    for (const known of [this.#respondedAt, this.#addresses])
      for (const node of known.keys()) if (!nodes.has(node)) known.delete(node);
  }

  /** The API key changed: what the panel refused with the old one is forgotten. */
  keyChanged(): void {
    this.#lane.forgetRejected();
    this.#beginAgain((isOfSockets) => !isOfSockets);
  }

  /** The panel and its nodes are reached in another way: everything held against them is forgotten. */
  accessChanged(): void {
    this.#beginAgain(() => true);
  }

  /** Calls the listener when something is blamed, or no longer; returns a function that unsubscribes, as do the next three. */
  onBlame(listener: (subject: Subject | 'panel', isBlamed: boolean) => void): () => void {
    return this.#blamed.add(listener);
  }

  /** Calls the listener when a server is to try its node's sockets, with new credentials if `isFresh`. */
  onSocketTrial(listener: (server: string, isFresh: boolean) => void): () => void {
    return this.#socketTrials.add(listener);
  }

  /** Calls the listener when a server that failed works. */
  onRecovery(listener: (recovery: Recovery) => void): () => void {
    return this.#recoveries.add(listener);
  }

  /** Calls the listener when the health, the problems or the rate may have changed. */
  onChange(listener: () => void): () => void {
    const unsubscribe = [this.#changes.add(listener), this.#limit.onChange(listener)];
    return () => {
      for (const end of unsubscribe) end();
    };
  }

  /** Rejects every call, whether waiting or running, and closes the connections. */
  async close(): Promise<void> {
    this.#closing.abort(new Error(`panel ${this.#options.panel}: closed`));
    this.#rounds.stop();
    this.#troubles.stop();
    this.#lane.stop();
    this.#log.stop();
    await this.#api.close();
  }

  #nodeOf(path: Path, server: string): string | undefined {
    return this.#troubles.asked[path].get(server)?.node;
  }

  #hold(subjects: readonly Subject[]): Problem | undefined {
    if (this.problem !== undefined) return this.problem;
    return subjects
      .map((subject) => this.#troubles.problemOf(subject))
      .find((problem) => problem !== undefined);
  }

  /** Servers can be monitored without an optional server list, and discovery reports that it failed. */
  #pathProblem(path: Path): Problem | undefined {
    const problem = this.#troubles.problemOf(pathOf(path));
    if (problem === undefined || (path === 'listing' && this.#listing !== 'required')) return undefined;
    return { ...problem, detail: `${path} calls only: ${problem.detail}` };
  }

  /** Makes the call when it may, and again after each pause that the panel demands. */
  async #run<T>(
    { path, server, ...ask }: Ask & Pick<Call, 'path' | 'server'>,
    signal: AbortSignal,
    make: (signal: AbortSignal) => Promise<PanelAnswer<T>>,
  ): Promise<T> {
    if (!Number.isFinite(this.#opensAt)) void this.#begin();
    const node = () => this.#nodeOf(path, server);
    const tries = () => this.#triedBy(path, server);
    const call: Call = { path, server, node, ...ask, tries };
    for (;;) {
      try {
        return await this.#lane.run(call, signal, (scope) => this.#make(call, scope, make));
      } catch (error) {
        const isPaused =
          error instanceof PanelError && error.status === 429 && !isOfConsole(path, error.limitPerMinute);
        // By now, other calls may have shown that the address is right.
        if (!isPaused) throw Number.isFinite(this.#health.provenAt) ? error : problemOfAddress(error);
      }
    }
  }

  /** The first call checks address and key, and teaches the limit: what is wrong with the panel is one problem, not one of each server. */
  async #begin(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    this.#opensAt = clock.now() + FIRST_CALL_MS;
    const late = sleep(clock, FIRST_CALL_MS, signal).then(() => LATE);
    const outcome = await Promise.race([this.#canary('listing', NO_SERVER), late.catch(() => 'nothing')]);
    const hasFailed = outcome === LATE || (typeof outcome === 'object' && this.#listing !== 'none');
    if (hasFailed && !signal.aborted) await this.#rounds.ask();
    this.#opensAt = Math.min(this.#opensAt, clock.now());
    this.#lane.pump();
  }

  /** The subject that a session's own call tries, because it was chosen for that. */
  #triedBy(path: Path, server: string): Subject | undefined {
    if (path !== 'websocket' || this.#troubles.all.size === 0) return undefined;
    const node = this.#nodeOf(path, server);
    if (node === undefined) return undefined;
    return this.#troubles.all.get(socketsOf(node))?.trial?.server === server ? socketsOf(node) : undefined;
  }

  async #make<T>(
    call: Call,
    signal: AbortSignal,
    make: (signal: AbortSignal) => Promise<PanelAnswer<T>>,
  ): Promise<T> {
    const { path, server } = call;
    const startedAt = this.#options.clock.now();
    const beginning = this.#beginnings;
    const ended = (problem: Problem | undefined, fromPanel: boolean) => {
      if (beginning === this.#beginnings && !this.#closing.signal.aborted)
        this.#callEnded(call, startedAt, problem, fromPanel);
    };
    try {
      const answer = await make(signal);
      this.#answered(path, server);
      this.#learn(path, answer);
      ended(problemIn(path, answer.value), true);
      return answer.value;
    } catch (error) {
      // The outcome of a call that is no longer needed shows nothing.
      if (signal.aborted && !(error instanceof PanelError)) throw error;
      const fromPanel = error instanceof PanelError && error.fromPanel;
      if (fromPanel) this.#learn(path, error);
      if (error instanceof PanelError && error.status === 429) this.#throttled(call, error);
      else this.#answered(path, server);
      ended(problemOf(error), fromPanel);
      throw error;
    }
  }

  /** No pause that concerns the call goes on. */
  #answered(path: Path, server: string): void {
    if (this.#limit.answered(path, server)) this.#blamed.notify(pathOf(path), false);
  }

  #learn(path: Path, facts: RateFacts): void {
    const wasKnown = this.#limit.knownPerMinute !== undefined;
    if (this.#limit.learn(path, facts)) this.#log.learned(this.#limit, wasKnown);
  }

  #throttled({ path, server }: Call, error: PanelError): void {
    const demandedMs = error.problem.retryAfterMs ?? DEFAULT_WAIT_MS;
    const pause = this.#limit.throttled(path, server, error, demandedMs);
    if (pause === undefined) return;
    this.#log.paused(pause);
    if (pause.scope === path) this.#blamed.notify(pathOf(path), true);
  }

  #callEnded(
    { path, server, node: nodeNow }: Call,
    startedAt: number,
    problem: Problem | undefined,
    fromPanel: boolean,
  ): void {
    // If the configuration doesn't use the server list, its failure shows nothing; a success always does.
    if (path === 'listing' && this.#listing === 'none' && problem !== undefined) return;
    const isProven = Number.isFinite(this.#health.provenAt);
    const signs = signsOf({ endpoint: path, cause: problem?.cause, fromPanel, isProven });
    const node = nodeNow();
    if (path === 'resources' && node !== undefined) {
      if (fromPanel) this.#respondedAt.set(node, this.#options.clock.now());
      else if (startedAt > (this.#respondedAt.get(node) ?? 0)) this.#respondedAt.delete(node);
    }
    if (signs.panel === 'works') this.#step({ type: 'proven', at: this.#options.clock.now() });
    else if (signs.panel === 'fails') this.#rounds.doubt(startedAt);
    // The panel's problem explains everything that fails meanwhile, and a 429 shows nothing.
    if (this.#health.state === 'down' || Object.values(signs).every((sign) => sign === undefined)) return;
    const before = this.#troubles.outcomes[path].get(server)?.problem;
    this.#troubles.record(path, server, { startedAt, problem, signs });
    if (before === undefined || problem !== undefined) return;
    this.#recoveries.notify({ cause: before.cause, node });
    this.#lane.pump();
  }

  #step(event: HealthEvent): void {
    const before = this.#health;
    this.#health = stepHealth(before, event);
    const { state, problem } = this.#health;
    if (state === before.state && problem === before.problem) return;
    if (before.state === 'down' && state === 'up') this.#troubles.panelIsBack();
    if (state === 'down' || before.state === 'down') this.#blamed.notify('panel', state === 'down');
    this.#lane.pump();
    this.#tell();
  }

  #troubleChanged(subject: Subject, trouble: Trouble | undefined): void {
    if (trouble === undefined) this.#trials.get(subject)?.abort(new Error('what it tries works again'));
    this.#blamed.notify(subject, trouble !== undefined);
    this.#lane.pump();
    this.#tell();
  }

  #tell(): void {
    this.#log.follow({
      health: this.#health,
      consoles: this.#troubles.problemOf(CONSOLES),
      pathProblem: (path) => this.#pathProblem(path) && this.#troubles.problemOf(pathOf(path)),
    });
    this.#changes.notify();
  }

  /** Tries what is in trouble by one server: its session connects, or a call of its own is made. */
  async #try(subject: Subject, { server, isFresh }: Trial): Promise<void> {
    const channel = channelOf(subject);
    if (channel === 'sockets') {
      // A call for a token must not delay the trials of other nodes, of which most take none.
      this.#socketTrials.notify(server, isFresh && this.#lane.hasTrialRoom);
      return;
    }
    const scope = new AbortController();
    this.#trials.set(subject, scope);
    const onStart = () => this.#troubles.trialStarts(subject);
    const hasFailed = this.#troubles.outcomes[channel].get(server)?.problem !== undefined;
    // The check by a server that already failed is its own retry, which others needn't wait for.
    const isRetry = hasFailed && this.#troubles.all.get(subject)?.blamedAt === undefined;
    const tries = isRetry ? undefined : subject;
    const problem = await this.#call(channel, server, tries, scope.signal, onStart).then(
      () => undefined,
      (error: unknown) => problemOf(error),
    );
    this.#trials.delete(subject);
    if (scope.signal.aborted || this.#closing.signal.aborted) return;
    const signs = problem && this.#troubles.outcomes[channel].get(server)?.signs;
    const sign = signs && signOf(subject, signs);
    this.#troubles.tried(subject, sign === undefined || sign === 'works' ? undefined : problem);
  }

  /** A call that no session asked for: a trial or a canary. */
  #call(
    path: Path,
    server: string,
    tries: Subject | 'panel' | undefined,
    signal: AbortSignal,
    onStart: () => void = () => undefined,
  ): Promise<unknown> {
    const node = () => this.#nodeOf(path, server);
    const deadline = tries === undefined ? this.#options.clock.now() : Number.NEGATIVE_INFINITY;
    const call: Call = { path, server, node, deadline, tries: () => tries };
    return this.#lane.run(call, signal, (scope) => {
      onStart();
      const { daemon } = this.#troubles.asked[path].get(server)?.target ?? {};
      const make = (inner: AbortSignal) => CALLS[path](this.#api, { id: server, daemon }, inner);
      return this.#make(call, scope, tries === 'panel' ? (inner) => this.#inTime(path, inner, make) : make);
    });
  }

  /** Makes a canary's call: that of a panel that hangs ends after ten seconds. */
  #inTime<T>(path: Path, signal: AbortSignal, make: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = () => {
      const detail = `no response to a ${path} call within ${CANARY_MS / 1_000} s`;
      return new PanelError({ cause: 'timeout', detail });
    };
    return bounded({ clock: this.#options.clock, signal }, CANARY_MS, late, make);
  }

  /** One of each kind of call that servers make anyway, so that a canary never requests more than servers do. */
  #canaries(): readonly Canary[] {
    const now = this.#options.clock.now();
    const hasToken = (server: string) =>
      this.#lane.tokenCallsOf(server).filter((at) => at > now - WINDOW_MS).length < TOKEN_CALLS;
    const { asked, outcomes } = this.#troubles;
    const { random = Math.random } = this.#options;
    const withToken = new Map([...asked.websocket].filter(([server]) => hasToken(server)));
    const evidence = { outcomes, asked: { ...asked, websocket: withToken } };
    const paths = (['listing', 'websocket', 'resources'] as const).filter((path) => asked[path].size > 0);
    return paths.flatMap((path) => {
      const server = trialServer(pathOf(path), evidence, random);
      return server === undefined ? [] : [() => this.#canary(path, server)];
    });
  }

  /** Makes a call beside the places; resolves with the problem that may be the panel's. */
  async #canary(path: Path, server: string): ReturnType<Canary> {
    // If the server list is missing as well, the panel is; without it, the server may have been deleted.
    const isProven = Number.isFinite(this.#health.provenAt) && this.#listing === 'none';
    try {
      await this.#call(path, server, 'panel', this.#closing.signal);
      this.#troubles.judge();
      return 'works';
    } catch (error) {
      const problem = problemOf(error);
      const fromPanel = error instanceof PanelError && error.fromPanel;
      const sign = signsOf({ endpoint: path, cause: problem.cause, fromPanel, isProven }).panel;
      return sign === 'fails' ? problem : (sign ?? 'nothing');
    }
  }

  #beginAgain(isMeant: (isOfSockets: boolean) => boolean): void {
    this.#beginnings += 1;
    this.#troubles.forget((channel) => isMeant(channel === 'sockets'));
    this.#troubles.end((subject) => isMeant(channelOf(subject) === 'sockets'));
    if (this.#health.state === 'down') {
      this.#step({ type: 'changed' });
      this.#rounds.again();
    } else if (Number.isFinite(this.#opensAt)) void this.#begin();
  }

  /** Other addresses of the node are outdated, and show nothing about it. */
  #noteAddress(server: string, socketUrl: string): void {
    const node = this.#nodeOf('websocket', server);
    if (node === undefined || !URL.canParse(socketUrl)) return;
    const address = addressOf(socketUrl);
    const before = this.#addresses.get(node);
    this.#addresses.set(node, address);
    if (before === undefined || before === address) return;
    const { websocket } = this.#troubles.asked;
    this.#troubles.forget(
      (channel, other, { problem }) =>
        channel === 'sockets' && problem !== undefined && websocket.get(other)?.node === node,
    );
  }
}

/** What an outcome shows of a subject. */
function signOf(subject: Subject, { console, node, path }: Signs): Signs['node'] {
  if (subject === CONSOLES) return console;
  return nodeOf(subject) === undefined ? path : node;
}

/** Only a response to `/resources` can show that the node has no data. */
function problemIn(path: Path, value: unknown): Problem | undefined {
  if (path !== 'resources') return undefined;
  const { sample, suspended } = value as Resources;
  return sample === undefined && !suspended ? NO_DATA : undefined;
}

/** Where a node's sockets are; the path of a socket's address contains the server. */
function addressOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
