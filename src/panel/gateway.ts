import { NO_DATA, NOTHING, signsOfSocket } from '../diagnosis/outcome.ts';
import type { Problem } from '../domain/problems.ts';
import type { BudgetReading } from '../domain/reading.ts';
import type { Logger } from '../domain/telemetry.ts';
import { bounded } from '../domain/time.ts';
import { PanelApi, type PanelApiOptions, PanelError, problemOf, problemOfAddress } from './api.ts';
import {
  type Channel,
  NO_SERVER,
  PATHS,
  type Path,
  pathOf,
  pollsOf,
  type Subject,
  socketsOf,
} from './blame.ts';
import type {
  BackupsPage,
  Credentials,
  ListingPage,
  ListingQuery,
  Requested,
  Resources,
  Schedule,
  ServerAddress,
} from './dialect.ts';
import { Lane } from './lane.ts';
import { PanelLog } from './panel-log.ts';
import { isOfConsole, Listeners, type PinnedRate, type RateFacts, RateLimit } from './rate-limit.ts';
import type { Call } from './start-at.ts';
import { type PanelUse, type Recovery, type SocketTrial, Troubles } from './troubles.ts';

export interface PanelGatewayOptions extends PanelApiOptions, PinnedRate {
  readonly log: Logger;
  /** Shared by all panels with the same address and key; its own if absent. */
  readonly limit?: RateLimit;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

/** The calls that a gateway makes. */
export type PanelCalls = Pick<PanelApi, 'get' | 'close'>;

/** One call for a server, as its session requests it. */
export type Ask = Pick<Call, 'deadline' | 'isRetry' | 'isRefresh'>;

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

/** A canary of a panel that hangs ends after this long. */
const CANARY_MS = 10_000;

/**
 * One panel as sessions use it: a call waits until nothing holds it, and its outcome shows who is in trouble. Calls reject with a
 * `PanelError`, or at once with the signal's reason when that aborts.
 */
export class Gateway {
  /** Something is blamed, or no longer, or for another problem. */
  readonly blamed = new Listeners<[Subject]>();
  /** A server is to try its node's sockets. */
  readonly socketTrials = new Listeners<[server: string]>();
  /** A server that failed works. */
  readonly recoveries = new Listeners<[Recovery]>();
  /** The health, the problems or the rate may have changed. */
  readonly changes = new Listeners();
  readonly #options: PanelGatewayOptions;
  readonly #api: PanelCalls;
  readonly #limit: RateLimit;
  readonly #lane: Lane;
  readonly #troubles: Troubles;
  readonly #log: PanelLog;
  readonly #unsubscribe: () => void;
  /** Where the panel says that a node's sockets are. */
  readonly #addresses = new Map<string, string>();
  /** Counts the beginnings: the outcome of a call with an earlier key, or on an earlier way, shows nothing about the current one. */
  #beginnings = 0;

  /** Calls go over HTTP unless `api` is given. */
  constructor(options: PanelGatewayOptions, api: PanelCalls = new PanelApi(options)) {
    const { clock, panel, random = Math.random, limit = new RateLimit(options.clock, options) } = options;
    this.#options = options;
    this.#api = api;
    this.#limit = limit;
    this.#unsubscribe = limit.onChange(() => this.changes.notify());
    this.#log = new PanelLog(options);
    this.#lane = new Lane({
      clock,
      panel,
      limit,
      troubles: () => this.#troubles,
    });
    this.#troubles = new Troubles({
      clock,
      random,
      lane: this.#lane,
      call: (path, id, tries, signal) => this.#try(path, id, tries, signal),
      onSocketTrial: (server) => this.socketTrials.notify(server),
      onChange: (subject) => this.#troubleChanged(subject),
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
    if (this.problem !== undefined) return [this.problem];
    const ofPaths = PATHS.map((path) => {
      const problem = this.#problemOf(pathOf(path));
      return problem && { ...problem, detail: `${path} calls only: ${problem.detail}` };
    });
    const ofRate = this.#log.pauseProblem(this.#limit.allowance);
    return [this.#problemOf('consoles'), ...ofPaths, ofRate].filter((problem) => problem !== undefined);
  }

  /** At most two a minute are made for each server. */
  async credentials(server: ServerAddress, ask: Ask, signal: AbortSignal): Promise<Credentials> {
    const credentials = await this.#run('websocket', server, ask, signal);
    this.#noteAddress(server.id, credentials.socketUrl);
    return credentials;
  }

  resources(server: ServerAddress, ask: Ask, signal: AbortSignal): Promise<Resources> {
    return this.#run('resources', server, ask, signal);
  }

  listing(query: ListingQuery, deadline: number, signal: AbortSignal): Promise<ListingPage> {
    return this.#run('listing', query, { deadline }, signal);
  }

  /** One page of a server's backups. */
  backups(server: ServerAddress, page: number, deadline: number, signal: AbortSignal): Promise<BackupsPage> {
    return this.#run('backups', { ...server, page }, { deadline }, signal);
  }

  schedules(server: ServerAddress, deadline: number, signal: AbortSignal): Promise<readonly Schedule[]> {
    return this.#run('schedules', server, { deadline }, signal);
  }

  /** May the server's socket be opened: do its node's sockets work as far as is known, or does this server try them? */
  mayConnect(server: string, node: string | undefined): boolean {
    const trouble = node === undefined ? undefined : this.#troubles.state.troubles.get(socketsOf(node));
    return trouble?.blamedAt === undefined || trouble.trial?.server === server;
  }

  /** The trial of its node's sockets for which the server was chosen, until it has ended. */
  socketTrial(server: string): SocketTrial | undefined {
    return this.#troubles.attempts.get(server);
  }

  /** Does the panel still give this address for the node's sockets, as far as is known? */
  isCurrent(node: string | undefined, url: string): boolean {
    const address = node === undefined ? undefined : this.#addresses.get(node);
    return address === undefined || address === addressOf(url);
  }

  /** An attempt to stream the server ended, or its socket, which streamed. */
  socketEnded(server: string, { startedAt, url, end }: SocketAttempt): void {
    const cell = this.#troubles.cells.sockets.get(server);
    const isOutdated = url !== undefined && !this.isCurrent(cell?.asked.node, url);
    const problem = typeof end === 'object' && !isOutdated ? end : undefined;
    const signs = end === undefined || problem !== undefined ? signsOfSocket(problem?.cause) : NOTHING;
    const isShown = signs.node !== undefined || cell?.last?.streams === true;
    const outcome = { startedAt, problem, signs, streams: end === undefined };
    this.#troubles.socketEnded(server, isShown ? outcome : undefined);
  }

  /** Why no socket of this node is opened for now: a problem of the panel, the path, the account or the node. */
  socketHold(node: string | undefined): Problem | undefined {
    const ofNode = node === undefined ? [] : [socketsOf(node)];
    return (
      this.#troubles.problemOf('panel', pathOf('websocket'), 'consoles', ...ofNode) ??
      this.#log.pauseProblem(this.#limit.allowance, 'websocket')
    );
  }

  /** Why servers of this node aren't polled for now. */
  pollHold(node: string | undefined): Problem | undefined {
    const ofNode = node === undefined ? [] : [pollsOf(node)];
    return this.#troubles.problemOf('panel', pathOf('resources'), ...ofNode);
  }

  /** The problem of the node itself: of its sockets, which is more exact, else of its polls. */
  nodeProblem(node: string): Problem | undefined {
    return this.#troubles.problemOf(socketsOf(node), pollsOf(node));
  }

  budget(): BudgetReading {
    const { limitPerMinute, knownLimitPerMinute, isPinned, allowance } = this.#limit;
    const usedLastMinute = allowance.starts.length;
    const paused = this.#log.pauseProblem(allowance) !== undefined;
    const queueLength = this.#lane.waiting;
    return { limitPerMinute, knownLimitPerMinute, usedLastMinute, queueLength, paused, isPinned };
  }

  /** Whatever is known of servers and nodes that are no longer asked is forgotten. */
  setUse(use: PanelUse): void {
    this.#troubles.setUse(use);
    const servers = [...use.asked.websocket.values(), ...use.asked.resources.values()];
    const nodes = new Set(servers.map(({ node }) => node));
    for (const known of [this.#troubles.respondedAt, this.#addresses])
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

  /** Rejects every call, whether waiting or running, and closes the connections. */
  async close(): Promise<void> {
    this.#beginnings += 1;
    this.#unsubscribe();
    this.#troubles.stop();
    this.#lane.stop();
    this.#log.stop();
    await this.#api.close();
  }

  /** Servers can be monitored without an optional server list, and discovery reports that it failed. */
  #problemOf(subject: Subject): Problem | undefined {
    const isSilent = subject === pathOf('listing') && this.#troubles.listing !== 'required';
    return isSilent ? undefined : this.#troubles.problemOf(subject);
  }

  /** Makes the call when it may, and again after each pause that the panel demands. */
  async #run<P extends Path>(path: P, what: Requested, ask: Ask, signal: AbortSignal) {
    const { attempts, state } = this.#troubles;
    // The first call is a canary: it checks address and key, and teaches the limit.
    if (!this.#troubles.isKnown && !state.troubles.has('panel')) this.#troubles.check();
    // A session that was chosen to connect tries its node with its own call, which goes before all deadlines.
    const tries = () => (path === 'websocket' ? attempts.get(what.id ?? '')?.subject : undefined);
    for (;;) {
      const deadline = tries() === undefined ? ask.deadline : Number.NEGATIVE_INFINITY;
      try {
        return await this.#start(path, what, { ...ask, deadline, tries }, signal);
      } catch (error) {
        const isPaused =
          error instanceof PanelError && error.status === 429 && !isOfConsole(path, error.limitPerMinute);
        // By now, other calls may have shown that the address is right.
        if (!isPaused) throw this.#troubles.isKnown ? error : problemOfAddress(error);
      }
    }
  }

  /** A call that no session asked for, to try something; resolves with its error. */
  #try(path: Path, id: string, tries: Subject, signal: AbortSignal): Promise<unknown> {
    const cell = () => this.#troubles.cells[path].get(id);
    const isRetry = () => cell()?.last?.problem !== undefined;
    const ask = { deadline: Number.NEGATIVE_INFINITY, tries: () => tries, isRetry };
    const what = { id, daemon: cell()?.asked.target?.daemon };
    return this.#start(path, what, ask, signal).then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  /** Makes one call as soon as nothing holds it. */
  #start<P extends Path>(path: P, what: Requested, ask: Ask & Pick<Call, 'tries'>, signal: AbortSignal) {
    const { id: server = NO_SERVER } = what;
    const node = () => this.#troubles.cells[path].get(server)?.asked.node;
    const call = { path, server, node, ...ask };
    return this.#lane.run(call, signal, (scope) => this.#make(call, what, scope));
  }

  async #make<P extends Path>(call: Call & { readonly path: P }, what: Requested, signal: AbortSignal) {
    const { clock } = this.#options;
    const tries = call.tries();
    const make = (scope: AbortSignal) => this.#api.get(call.path, what, scope);
    const startedAt = clock.now();
    const beginning = this.#beginnings;
    const ended = (problem: Problem | undefined, fromPanel: boolean) => {
      if (beginning !== this.#beginnings) return;
      const { isKnown } = this.#troubles;
      const recovery = this.#troubles.callEnded(call, startedAt, problem, fromPanel);
      if (recovery !== undefined) this.recoveries.notify(recovery);
      if (!isKnown && this.#troubles.isKnown) this.changes.notify();
    };
    const words = `no response to a ${call.path} call within ${CANARY_MS / 1_000} s`;
    const late = () => new PanelError({ cause: 'timeout', detail: words });
    try {
      const isCanary = tries === 'panel';
      const answer = await (isCanary ? bounded({ clock, signal }, CANARY_MS, late, make) : make(signal));
      this.#noteRate(call, answer);
      ended(problemIn(call.path, answer.value), true);
      return answer.value;
    } catch (error) {
      // The outcome of a call that is no longer needed shows nothing.
      if (signal.aborted && !(error instanceof PanelError)) throw error;
      const failure = error instanceof PanelError ? error : undefined;
      const fromPanel = failure?.fromPanel ?? false;
      this.#noteRate(call, fromPanel ? { limitPerMinute: failure?.limitPerMinute } : {}, failure);
      ended(problemOf(error), fromPanel);
      throw error;
    }
  }

  /** Learns from a response, of which one with 429 demands a pause, and others show that it is over. */
  #noteRate({ path, server }: Call, facts: RateFacts, failure?: PanelError): void {
    const limit = this.#limit;
    const throttled = failure?.status === 429 ? failure : undefined;
    const wasKnown = limit.knownLimitPerMinute !== undefined;
    if (limit.learn(path, facts)) this.#log.learned(limit, wasKnown);
    const pause = throttled && limit.throttled(path, server, throttled, throttled.problem.retryAfterMs);
    if (pause !== undefined) this.#log.paused(pause);
    const isOver = throttled === undefined && limit.answered(path, server).includes(path);
    if (isOver || pause?.scope === path) this.blamed.notify(pathOf(path));
  }

  #troubleChanged(subject: Subject): void {
    this.blamed.notify(subject);
    if (this.health !== 'unknown') this.#log.follow((topic) => this.#problemOf(topic));
    this.changes.notify();
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
