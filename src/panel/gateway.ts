import { CAUSES } from '../diagnosis/causes.ts';
import { NO_DATA, NOTHING, type Signs, signsOf, signsOfSocket } from '../diagnosis/outcome.ts';
import { sleep } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import type { BudgetReading } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import { bounded, untilAborted } from '../domain/until-aborted.ts';
import { PanelApi, type PanelApiOptions } from './api.ts';
import {
  type AskedServer,
  type Channel,
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
} from './blame.ts';
import type {
  BackupsPage,
  Credentials,
  ListingPage,
  ListingQuery,
  Requested,
  Resources,
  Responses,
  Schedule,
} from './dialect.ts';
import { PanelError, problemOf, problemOfAddress } from './errors.ts';
import { Lane } from './lane.ts';
import { Listeners } from './listeners.ts';
import { PanelLog } from './panel-log.ts';
import { DEFAULT_WAIT_MS, isOfConsole, type RateFacts, RateLimit } from './rate-limit.ts';
import type { Call } from './start-at.ts';
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
export type PanelCalls = Pick<PanelApi, 'get' | 'close'>;

/** One call for a server, as its session requests it. */
export type Ask = Pick<Call, 'deadline' | 'isRetry' | 'isRefresh'>;

/** How a panel is used. */
export interface PanelUse {
  /** `optional` if servers can be monitored without the server list. */
  readonly listing: 'none' | 'optional' | 'required';
  /** The servers that are asked for something, by id. */
  readonly asked: Readonly<Record<Exclude<Path, 'listing'>, ReadonlyMap<string, AskedServer>>>;
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

/** How a server is to try its node's sockets. */
export interface SocketTrial {
  /** With new credentials, because the panel may give another address. */
  readonly isFresh: boolean;
}

/** A server that failed for this cause works: others may, too. */
export interface Recovery {
  readonly cause: CauseCode;
  readonly node: string | undefined;
}

/** The kinds of calls that show whether the panel works. */
const CANARIES = ['listing', 'websocket', 'resources'] as const;

/** A canary of a panel that hangs ends after this long. */
const CANARY_MS = 10_000;

/** If a canary takes longer, the next kind is tried as well. */
const NEXT_CANARY_MS = 2_000;

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
  readonly #log: PanelLog;
  readonly #closing = new AbortController();
  readonly #changes = new Listeners();
  readonly #blamed = new Listeners<[subject: Subject, isBlamed: boolean]>();
  readonly #socketTrials = new Listeners<[server: string]>();
  readonly #recoveries = new Listeners<[Recovery]>();
  /** Servers that are to try their node's sockets, and what takes the result. */
  readonly #attempts = new Map<string, SocketTrial & { readonly ended: (problem?: Problem) => void }>();
  /** When a poll of a node last got a response; absent if one without a response began after that. */
  readonly #respondedAt = new Map<string, number>();
  /** Where the panel says that a node's sockets are. */
  readonly #addresses = new Map<string, string>();
  #listing: PanelUse['listing'] = 'required';
  /** Counts the beginnings: the outcome of a call with an earlier key, or on an earlier way, shows nothing about the current one. */
  #beginnings = 0;

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
      hasRoom: (channel, server) => channel !== 'websocket' || this.#lane.hasTokenRoom(server),
      onTrial: (subject, trial, signal) => this.#try(subject, trial, signal),
      onChange: (subject, isBlamed) => this.#troubleChanged(subject, isBlamed),
      onStep: () => this.#lane.pump(),
    });
    this.#lane = new Lane({
      clock,
      panel,
      limit,
      surroundings: () => ({
        isKnown: this.#troubles.isKnown,
        troubles: this.#troubles.state.troubles,
        respondedAt: this.#respondedAt,
      }),
    });
  }

  /** Does the panel's API respond and accept the API key? */
  get health(): 'unknown' | 'up' | 'down' {
    if (this.problem !== undefined) return 'down';
    return this.#troubles.isKnown ? 'up' : 'unknown';
  }

  /** Is something suspected, and neither blamed nor cleared yet? */
  get isJudging(): boolean {
    return [...this.#troubles.state.troubles.values()].some(({ blamedAt }) => blamedAt === undefined);
  }

  /** The problem of the panel as a whole, including its API key; undefined while calls are let through. */
  get problem(): Problem | undefined {
    return this.#troubles.problemOf('panel');
  }

  /** The panel's problem; while it works, those of its consoles, paths and rate limit. */
  get problems(): readonly Problem[] {
    const ofParts = [
      this.#troubles.problemOf('consoles'),
      ...PATHS.map((path) => this.#pathProblem(path)),
      this.#log.pauseProblem(this.#limit.allowance),
    ];
    return (this.problem === undefined ? ofParts : [this.problem]).filter((problem) => problem !== undefined);
  }

  /** At most two a minute are made for each server. */
  async credentials(
    id: string,
    { daemon, ...ask }: Ask & Pick<ListOwner, 'daemon'>,
    signal: AbortSignal,
  ): Promise<Credentials> {
    const credentials = await this.#run('websocket', { server: id, daemon }, ask, signal);
    this.#noteAddress(id, credentials.socketUrl);
    return credentials;
  }

  resources(id: string, ask: Ask, signal: AbortSignal): Promise<Resources> {
    return this.#run('resources', { server: id }, ask, signal);
  }

  listing(query: ListingQuery, deadline: number, signal: AbortSignal): Promise<ListingPage> {
    return this.#run('listing', query, { deadline }, signal);
  }

  /** One page of a server's backups. */
  backups(
    { id, daemon }: ListOwner,
    page: number,
    deadline: number,
    signal: AbortSignal,
  ): Promise<BackupsPage> {
    return this.#run('backups', { server: id, daemon, page }, { deadline }, signal);
  }

  schedules({ id, daemon }: ListOwner, deadline: number, signal: AbortSignal): Promise<readonly Schedule[]> {
    return this.#run('schedules', { server: id, daemon }, { deadline }, signal);
  }

  /** May the server's socket be opened: do its node's sockets work as far as is known, or does this server try them? */
  mayConnect(server: string, node: string | undefined): boolean {
    const trouble = node === undefined ? undefined : this.#troubles.state.troubles.get(socketsOf(node));
    return trouble?.blamedAt === undefined || trouble.trial?.server === server;
  }

  /** The trial of its node's sockets for which the server was chosen, until it has ended. */
  socketTrial(server: string): SocketTrial | undefined {
    return this.#attempts.get(server);
  }

  /** Does the panel still give this address for the node's sockets, as far as is known? */
  isCurrent(node: string | undefined, url: string): boolean {
    const address = node === undefined ? undefined : this.#addresses.get(node);
    return address === undefined || address === addressOf(url);
  }

  /** An attempt to stream the server ended, or its socket, which streamed. */
  socketEnded(server: string, { startedAt, url, end }: SocketAttempt): void {
    const { cells } = this.#troubles;
    const cell = cells.sockets.get(server);
    const isOutdated = url !== undefined && !this.isCurrent(cell?.asked.node, url);
    const problem = typeof end === 'object' && !isOutdated ? end : undefined;
    const signs = end === undefined || problem !== undefined ? signsOfSocket(problem?.cause) : NOTHING;
    // The failure that raises a suspicion is no trial of it.
    const attempt = this.#attempts.get(server);
    this.#attempts.delete(server);
    if (signs.node !== undefined || cell?.last?.streams === true)
      this.#troubles.record('sockets', server, { startedAt, problem, signs, streams: end === undefined });
    // The panel's own error for the node, instead of a token for its trial, is one as well.
    const token = cells.websocket.get(server)?.last;
    attempt?.ended(signs.node === 'fails' ? problem : failedIn(token?.signs.node, token?.problem));
  }

  /** Why no socket of this node is opened for now: a problem of the panel, the path, the account or the node. */
  socketHold(node: string | undefined): Problem | undefined {
    const ofNode = node === undefined ? [] : [socketsOf(node)];
    return (
      this.#firstProblem(['panel', pathOf('websocket'), 'consoles', ...ofNode]) ??
      this.#log.pauseProblem(this.#limit.allowance, 'websocket')
    );
  }

  /** Why servers of this node aren't polled for now. */
  pollHold(node: string | undefined): Problem | undefined {
    const ofNode = node === undefined ? [] : [pollsOf(node)];
    return this.#firstProblem(['panel', pathOf('resources'), ...ofNode]);
  }

  /** The problem of the node itself: of its sockets, which is more exact, else of its polls. */
  nodeProblem(node: string): Problem | undefined {
    return this.#firstProblem([socketsOf(node), pollsOf(node)]);
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
    this.#troubles.setAsked({ ...asked, listing: new Map([[NO_SERVER, {}]]), sockets: asked.websocket });
    const servers = [...asked.websocket.values(), ...asked.resources.values()];
    const nodes = new Set(servers.map(({ node }) => node));
    for (const known of [this.#respondedAt, this.#addresses])
      for (const node of known.keys()) if (!nodes.has(node)) known.delete(node);
  }

  /** The API key changed: what the panel refused with the old one is forgotten. */
  keyChanged(): void {
    this.#lane.forgetRejected();
    this.#beginAgain(PATHS);
  }

  /** The panel and its nodes are reached in another way: everything held against them is forgotten. */
  accessChanged(): void {
    this.#beginAgain([...PATHS, 'sockets']);
  }

  /** Calls the listener when something is blamed, or no longer; returns a function that unsubscribes, as do the next three. */
  onBlame(listener: (subject: Subject, isBlamed: boolean) => void): () => void {
    return this.#blamed.add(listener);
  }

  /** Calls the listener when a server is to try its node's sockets. */
  onSocketTrial(listener: (server: string) => void): () => void {
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
    this.#troubles.stop();
    this.#lane.stop();
    this.#log.stop();
    await this.#api.close();
  }

  #firstProblem(subjects: readonly Subject[]): Problem | undefined {
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
  async #run<P extends Path>(path: P, what: Requested, ask: Ask, signal: AbortSignal): Promise<Responses[P]> {
    // The first call is a canary: it checks address and key, and teaches the limit.
    if (!this.#troubles.isKnown && !this.#troubles.state.troubles.has('panel')) this.#troubles.check();
    for (;;) {
      try {
        const tries = () => this.#triedBy(path, what.server);
        return await this.#start(path, what, { ...ask, tries }, signal);
      } catch (error) {
        const isPaused =
          error instanceof PanelError && error.status === 429 && !isOfConsole(path, error.limitPerMinute);
        // By now, other calls may have shown that the address is right.
        if (!isPaused) throw this.#troubles.isKnown ? error : problemOfAddress(error);
      }
    }
  }

  /** The subject that a session's own call tries, because it was chosen for that. */
  #triedBy(path: Path, server = NO_SERVER): Subject | undefined {
    if (path !== 'websocket' || !this.#attempts.has(server)) return undefined;
    const { node } = this.#troubles.cells.websocket.get(server)?.asked ?? {};
    return node === undefined ? undefined : socketsOf(node);
  }

  /** Makes one call as soon as nothing holds it. */
  #start<P extends Path>(
    path: P,
    what: Requested,
    ask: Ask & Pick<Call, 'tries'>,
    signal: AbortSignal,
  ): Promise<Responses[P]> {
    const { server = NO_SERVER } = what;
    const node = () => this.#troubles.cells[path].get(server)?.asked.node;
    const call = { path, server, node, ...ask };
    return this.#lane.run(call, signal, (scope) => {
      const tries = call.tries();
      if (tries !== undefined && tries !== 'panel') this.#troubles.trialStarts(tries);
      return this.#make(call, what, scope);
    });
  }

  async #make<P extends Path>(
    call: Call & { readonly path: P },
    what: Requested,
    signal: AbortSignal,
  ): Promise<Responses[P]> {
    const { path, server } = call;
    const { clock } = this.#options;
    const startedAt = clock.now();
    const beginning = this.#beginnings;
    const ended = (problem: Problem | undefined, fromPanel: boolean) => {
      if (beginning === this.#beginnings && !this.#closing.signal.aborted)
        this.#callEnded(call, startedAt, problem, fromPanel);
    };
    const make = (scope: AbortSignal) => this.#api.get(path, what, scope);
    const late = () => new PanelError({ cause: 'timeout', detail: lateWords(path) });
    try {
      const isCanary = call.tries() === 'panel';
      const answer = await (isCanary ? bounded({ clock, signal }, CANARY_MS, late, make) : make(signal));
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
    if (this.#limit.answered(path, server).includes(path)) this.#blamed.notify(pathOf(path), false);
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

  #callEnded(call: Call, startedAt: number, problem: Problem | undefined, fromPanel: boolean): void {
    const { path, server } = call;
    // If the configuration doesn't use the server list, its failure shows nothing; a success always does.
    if (path === 'listing' && this.#listing === 'none' && problem !== undefined) return;
    const { isKnown } = this.#troubles;
    const signs = signsOf({ endpoint: path, cause: problem?.cause, fromPanel, isProven: isKnown });
    const node = call.node();
    if (path === 'resources' && node !== undefined) {
      if (fromPanel) this.#respondedAt.set(node, this.#options.clock.now());
      else if (startedAt > (this.#respondedAt.get(node) ?? 0)) this.#respondedAt.delete(node);
    }
    // A 429 shows nothing.
    if (Object.values(signs).every((sign) => sign === undefined)) return;
    const before = this.#troubles.cells[path].get(server)?.last?.problem;
    this.#troubles.record(path, server, { startedAt, problem, signs });
    if (before !== undefined && problem === undefined) this.#recoveries.notify({ cause: before.cause, node });
    if (!isKnown && this.#troubles.isKnown) this.#changes.notify();
    this.#lane.pump();
  }

  #troubleChanged(subject: Subject, isBlamed: boolean): void {
    this.#blamed.notify(subject, isBlamed);
    if (this.health !== 'unknown')
      this.#log.follow((topic) =>
        topic === 'panel' || topic === 'consoles'
          ? this.#troubles.problemOf(topic)
          : this.#pathProblem(topic) && this.#troubles.problemOf(pathOf(topic)),
      );
    this.#changes.notify();
  }

  /** Tries what is in trouble: by a round of canaries, by a session that connects, or by a call of its own. */
  async #try(subject: Subject, trial: Trial, signal: AbortSignal): Promise<Problem | undefined> {
    if (subject === 'panel') return this.#round(signal);
    return channelOf(subject) === 'sockets'
      ? this.#trySocket(trial, signal)
      : this.#tryPath(subject, trial, signal);
  }

  async #trySocket({ server, isFresh }: Trial, signal: AbortSignal): Promise<Problem | undefined> {
    const tried = new Promise<Problem | undefined>((ended) => {
      // A call for a token must not delay the trials of other nodes, of which most take none.
      this.#attempts.set(server, { isFresh: isFresh && this.#lane.hasTrialRoom, ended });
    });
    const attempt = this.#attempts.get(server);
    this.#socketTrials.notify(server);
    this.#lane.bringForward(server);
    try {
      return await untilAborted(tried, signal);
    } finally {
      if (this.#attempts.get(server) === attempt) this.#attempts.delete(server);
    }
  }

  async #tryPath(subject: Subject, { server }: Trial, signal: AbortSignal): Promise<Problem | undefined> {
    const path = channelOf(subject) as Path;
    const lastNow = () => this.#troubles.cells[path].get(server)?.last;
    const before = lastNow();
    await this.#call(path, server, subject, signal);
    const last = lastNow();
    return last === before || last === undefined
      ? undefined
      : failedIn(signOf(subject, last.signs), last.problem);
  }

  /** A call that no session asked for, to try something; resolves with its error. */
  #call(path: Path, id: string, tries: Subject, signal: AbortSignal): Promise<unknown> {
    const { daemon } = this.#troubles.cells[path].get(id)?.asked.target ?? {};
    const isRetry = () => this.#troubles.cells[path].get(id)?.last?.problem !== undefined;
    const ask = { deadline: Number.NEGATIVE_INFINITY, tries: () => tries, isRetry };
    return this.#start(path, { server: id, daemon }, ask, signal).then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  /**
   * Asks one kind of call after the other until one succeeds, each round another server and beginning with another kind. Resolves
   * with the problem if all of them failed.
   */
  async #round(signal: AbortSignal): Promise<Problem | undefined> {
    const { cells, state } = this.#troubles;
    const { trials = 0, blamedAt } = state.troubles.get('panel') ?? {};
    const isListingUsed = this.#listing !== 'none' || trials === 0;
    const used = CANARIES.filter((path) => (path === 'listing' ? isListingUsed : cells[path].size > 0));
    const canaries: Promise<Problem | 'unused' | undefined>[] = [];
    for (const offset of used.keys()) {
      const canary = this.#canary(used[(trials + offset) % used.length] ?? 'listing', signal);
      canaries.push(canary);
      const shown = await Promise.race([canary, sleep(this.#options.clock, NEXT_CANARY_MS, signal)]);
      // A key that each kind was refused is still refused if one is.
      if (blamedAt !== undefined && typeof shown === 'object' && CAUSES[shown.cause].scope === 'key')
        return shown;
    }
    const shown = (await Promise.all(canaries)).filter((outcome) => outcome !== 'unused');
    const problems = shown.filter((outcome) => outcome !== undefined);
    // A call that showed nothing, such as one that was answered with 429, may have been one that works.
    if (problems.length < shown.length) return undefined;
    return problems.find(mayBeOfKey) ?? problems[0];
  }

  /** Resolves with the problem if that may be the panel's. */
  async #canary(path: Path, signal: AbortSignal): Promise<Problem | 'unused' | undefined> {
    const server = path === 'listing' ? NO_SERVER : this.#troubles.serverWithRoom(pathOf(path));
    if (server === undefined) return 'unused';
    const error = await this.#call(path, server, 'panel', signal);
    if (path === 'listing' && this.#listing === 'none') return 'unused';
    if (error === undefined) return undefined;
    const problem = problemOf(error);
    const fromPanel = error instanceof PanelError && error.fromPanel;
    // If the server list is missing as well, the panel is; without it, the server may have been deleted.
    const isProven = this.#troubles.isKnown && this.#listing === 'none';
    return failedIn(signsOf({ endpoint: path, cause: problem.cause, fromPanel, isProven }).panel, problem);
  }

  #beginAgain(channels: readonly Channel[]): void {
    this.#beginnings += 1;
    const hasBegun = this.health !== 'unknown' || this.#troubles.state.troubles.has('panel');
    this.#troubles.forget((channel) => channels.includes(channel));
    if (hasBegun) this.#troubles.check();
  }

  /** Other addresses of the node are outdated, and show nothing about it. */
  #noteAddress(server: string, socketUrl: string): void {
    const { node } = this.#troubles.cells.websocket.get(server)?.asked ?? {};
    if (node === undefined || !URL.canParse(socketUrl)) return;
    const address = addressOf(socketUrl);
    const before = this.#addresses.get(node);
    this.#addresses.set(node, address);
    if (before === undefined || before === address) return;
    this.#troubles.forgetOutcomes(
      'sockets',
      ({ asked, last }) => asked.node === node && last?.problem !== undefined,
    );
  }
}

function lateWords(path: Path): string {
  return `no response to a ${path} call within ${CANARY_MS / 1_000} s`;
}

/** A refused key shows that it is a panel, whatever else it responds. */
function mayBeOfKey({ cause }: Problem): boolean {
  return CAUSES[cause].scope === 'key' || cause === 'unauthorized';
}

/** The problem of something that is tried, if that is what failed. */
function failedIn(sign: Signs['node'], problem: Problem | undefined): Problem | undefined {
  return sign === 'fails' || sign === 'may fail' ? problem : undefined;
}

/** What an outcome shows of a subject. */
function signOf(subject: Subject, { console, node, path }: Signs): Signs['node'] {
  if (subject === 'consoles') return console;
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
