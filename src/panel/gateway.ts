import { NO_DATA, problemOfBlamed } from '../diagnosis/outcome.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { BudgetReading } from '../domain/reading.ts';
import { Repeat } from '../domain/repeat.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import { type PanelAnswer, PanelApi, type PanelApiOptions } from './api.ts';
import { Calls, type ConsoleCaller, ConsoleCalls } from './calls.ts';
import type { Canary } from './canaries.ts';
import { type Circuit, TRIAL_GAPS_MS } from './circuit.ts';
import type { BackupsPage, Credentials, ListingPage, ListingQuery, Resources, Schedule } from './dialect.ts';
import { PanelError, problemOf } from './errors.ts';
import {
  type CircuitKey,
  CONSOLES,
  type EntryRequest,
  Gate,
  nodeOfKey,
  PANEL,
  pathKey,
  pollsKey,
  socketsKey,
} from './gate.ts';
import { Judge, LISTING, type PanelHealth, type PanelUse, UNKNOWN_USE } from './judge.ts';
import { isThrottled, LimitWatch } from './limit-watch.ts';
import { RateLimit } from './rate-limit.ts';

export interface PanelGatewayOptions extends PanelApiOptions {
  readonly log: Logger;
  /** The rate, if the operator set one; otherwise it is learned. */
  readonly pinnedPerMinute?: number;
  /** This shard's share of the panel's limit. */
  readonly share?: number;
  /** Shared by all panels with the same address and key; its own if absent. */
  readonly limit?: RateLimit;
}

/** The calls that a gateway makes. */
export type PanelCalls = Pick<
  PanelApi,
  'credentials' | 'resources' | 'listing' | 'backups' | 'schedules' | 'close'
>;

/** One call for a server, as its session requests it. */
export interface Ask {
  /** The server's node, if that is known by then. */
  readonly node: () => string | undefined;
  /** The server's daemon, if the server list names it. */
  readonly daemon?: string;
  /** By when the response is needed, in monotonic milliseconds: calls with earlier deadlines go first. */
  readonly deadline: number;
  /** Did the server fail alone several times, so that this call probably fails as well? */
  readonly isRetry?: () => boolean;
  /** The token is for a socket that is open, so it doesn't matter whether the node accepts others. */
  readonly isRefresh?: boolean;
}

/** A server whose backups or schedules are read. */
type ListOwner = Pick<ServerTarget, 'id' | 'daemon'>;

/** What fleets, sessions and commands use of a gateway. */
export type PanelGateway = Pick<Gateway, keyof Gateway>;

/** The smallest request that needs the API key and involves no node. */
const CANARY_QUERY: ListingQuery = { page: 1, perPage: 1 };

const POLL_PATH = pathKey('resources');

/** How often the gateway itself tries polls while their path fails: as often as the last of a circuit's trials. */
const POLL_RETEST_MS = TRIAL_GAPS_MS.at(-1) ?? 0;

/** Other calls wait this long for the first one. */
const FIRST_CALL_MS = 3_000;

/** One call, and what its outcome is about. */
interface Call<T> {
  readonly endpoint: ApiEndpoint;
  readonly server?: string;
  readonly node?: () => string;
  readonly make: (signal: AbortSignal) => Promise<PanelAnswer<T>>;
  /** The problem that a response with a success status reports. */
  readonly problemIn?: (value: T) => Problem | undefined;
}

/**
 * One panel as sessions use it: every call waits until its circuits admit it and the rate limit has room. Calls reject with a
 * `PanelError`, or at once with the signal's reason when that aborts.
 */
export class Gateway {
  readonly #options: PanelGatewayOptions;
  readonly #api: PanelCalls;
  readonly #limit: RateLimit;
  readonly #limitWatch: LimitWatch;
  readonly #gate: Gate;
  readonly #calls: Calls;
  readonly #consoles: ConsoleCalls;
  readonly #judge: Judge;
  /** Nothing polls servers that stream, so without it, no poll might show that the path works again. */
  readonly #pollRetest: Repeat;
  readonly #closing = new AbortController();
  #use = UNKNOWN_USE;
  /** Counts the beginnings: the outcome of a call with an earlier key, or on an earlier way, shows nothing about the current one. */
  #beginnings = 0;
  #hasCalled = false;

  /** Calls go over HTTP unless `api` is given. */
  constructor(options: PanelGatewayOptions, api: PanelCalls = new PanelApi(options)) {
    const { clock, log, panel, baseUrl, limit = new RateLimit(options) } = options;
    this.#options = options;
    this.#api = api;
    this.#limit = limit;
    this.#limitWatch = new LimitWatch({ ...options, limit });
    this.#gate = new Gate(clock, () => limit.allowedPerMinute);
    this.#calls = new Calls({ clock, panel, gate: this.#gate, limit });
    this.#consoles = new ConsoleCalls(clock);
    this.#pollRetest = new Repeat(clock);
    this.#gate.onChange((key, now, before) => {
      if (key !== POLL_PATH || now.state === before.state) return;
      if (now.state === 'open') this.#pollRetest.start((signal) => this.#retestPolls(signal), POLL_RETEST_MS);
      else this.#pollRetest.stop();
    });
    this.#judge = new Judge({
      clock,
      log,
      panel,
      url: withoutUserInfo(baseUrl),
      gate: this.#gate,
      use: () => this.#use,
      canaries: () => this.#canaries(),
    });
  }

  get health(): PanelHealth {
    return this.#judge.health;
  }

  /** The problem of the panel as a whole, including its API key; undefined while calls are let through. */
  get problem(): Problem | undefined {
    return this.#judge.problem;
  }

  /** The panel's problem; while it works, those of its consoles, paths and rate limit. */
  get problems(): readonly Problem[] {
    const { problem, consoleProblem, pathProblems } = this.#judge;
    if (problem !== undefined) return [problem];
    return [consoleProblem, ...pathProblems, this.#limitWatch.problem].filter((one) => one !== undefined);
  }

  /** At most two a minute are made for each server. */
  credentials(server: string, ask: Ask, signal: AbortSignal): Promise<Credentials> {
    const node = () => nodeKey(server, ask.node());
    const ofNode = () => (ask.isRefresh === true ? [] : [socketsKey(node())]);
    const circuits = () => [PANEL, pathKey('websocket'), CONSOLES, ...ofNode()];
    const readyAt = () => this.#consoles.readyAt(server);
    const request = { ...ask, subject: server, circuits, readyAt };
    return this.#run(request, { ...this.#console(server, 'session', ask.daemon), node }, signal);
  }

  resources(server: string, ask: Ask, signal: AbortSignal): Promise<Resources> {
    const node = () => nodeKey(server, ask.node());
    const circuits = () => [PANEL, POLL_PATH, pollsKey(node())];
    return this.#run({ ...ask, subject: server, circuits, seatOf: node }, this.#poll(server, node), signal);
  }

  listing(query: ListingQuery, deadline: number, signal: AbortSignal): Promise<ListingPage> {
    const request = { subject: LISTING, circuits: () => [PANEL, pathKey('listing')], deadline };
    return this.#run(
      request,
      { endpoint: 'listing', make: (scope) => this.#api.listing(query, scope) },
      signal,
    );
  }

  /** One page of a server's backups. */
  backups(
    { id, daemon }: ListOwner,
    page: number,
    deadline: number,
    signal: AbortSignal,
  ): Promise<BackupsPage> {
    const make = (scope: AbortSignal) => this.#api.backups(id, page, scope, daemon);
    return this.#optional({ endpoint: 'backups', server: id, make }, deadline, signal);
  }

  schedules({ id, daemon }: ListOwner, deadline: number, signal: AbortSignal): Promise<readonly Schedule[]> {
    const make = (scope: AbortSignal) => this.#api.schedules(id, scope, daemon);
    return this.#optional({ endpoint: 'schedules', server: id, make }, deadline, signal);
  }

  /** Do this node's sockets work, as far as is known? */
  isSocketOpen(node: string | undefined): boolean {
    return node === undefined || this.#gate.circuit(socketsKey(node)).state === 'closed';
  }

  /** Resolves when the sockets of the server's node may be tried. */
  async admitSocket(server: string, ask: Ask, signal: AbortSignal): Promise<void> {
    const circuits = () => [socketsKey(nodeKey(server, ask.node()))];
    await this.#gate.enter({ ...ask, subject: server, circuits, isConnect: true }, signal);
  }

  /** An attempt to stream the server ended: with success (undefined), a problem of its node, or without showing anything. */
  socketEnded(server: string, node: string | undefined, end: Problem | 'withdrawn' | undefined): void {
    this.#judge.socketEnded(server, nodeKey(server, node), end);
  }

  /** Why no socket of this node is opened for now: a problem of the panel, the path, the account or the node. */
  socketHold(node: string | undefined): Problem | undefined {
    const { problem, consoleProblem } = this.#judge;
    const ofNode = node === undefined ? undefined : this.#gate.problem(socketsKey(node));
    return problem ?? this.#judge.pathHold('websocket') ?? consoleProblem ?? ofNode;
  }

  /** Why servers of this node aren't polled for now. */
  pollHold(node: string | undefined): Problem | undefined {
    const ofNode = node === undefined ? undefined : this.#gate.problem(pollsKey(node));
    return this.#judge.problem ?? this.#judge.pathHold('resources') ?? ofNode;
  }

  /** The problem of the node itself. */
  nodeProblem(node: string): Problem | undefined {
    return this.#judge.nodeProblem(node);
  }

  budget(): BudgetReading {
    const { allowedPerMinute, usedLastMinute, knownPerMinute, isPinned } = this.#limit;
    return {
      limitPerMinute: allowedPerMinute,
      usedLastMinute,
      queueLength: this.#calls.waiting,
      paused: this.#limitWatch.problem !== undefined,
      isPinned,
      knownLimitPerMinute: knownPerMinute,
    };
  }

  setUse(use: PanelUse): void {
    this.#use = use;
    const { knows } = use;
    this.#consoles.forgetUnknown(knows);
    this.#judge.forgetUnknown(knows);
    this.#gate.reset((key) => {
      const node = nodeOfKey(key);
      return node !== undefined && !knows(node) && !knows(node.slice(UNKNOWN_NODE.length));
    });
  }

  /** The API key changed: everything held against the panel or the old key is forgotten. */
  keyChanged(): void {
    this.#consoles.forgetRejected();
    this.#judge.keyChanged();
    this.#beginAgain();
  }

  /** The panel and its nodes are reached in another way: everything held against them is forgotten. */
  accessChanged(): void {
    this.#judge.accessChanged();
    this.#beginAgain();
  }

  /** Judges a panel of unknown health now; resolves once that is known, or no call could show it. */
  async verify(): Promise<void> {
    if (!this.#hasCalled) await this.#beginWithListing();
    await this.#judge.verify();
  }

  /** Calls the listener after a circuit changed; returns a function that unsubscribes, as do the next two. */
  onCircuit(listener: (key: CircuitKey, state: Circuit['state']) => void): () => void {
    return this.#gate.onChange((key, { state }) => listener(key, state));
  }

  /** Calls the listener when the health, the problems or the rate may have changed. */
  onChange(listener: () => void): () => void {
    const unsubscribe = [this.#judge.onChange(listener), this.#limit.onRate(listener)];
    return () => {
      for (const end of unsubscribe) end();
    };
  }

  /** Calls the listener with the milliseconds for which all calls are paused because the rate limit is exceeded. */
  onPause(listener: (durationMs: number) => void): () => void {
    return this.#limitWatch.onPause(listener);
  }

  /** Rejects every call, whether waiting or running, and closes the connections. */
  async close(): Promise<void> {
    this.#closing.abort(new Error(`panel ${this.#options.panel}: closed`));
    this.#pollRetest.stop();
    this.#judge.stop();
    this.#gate.stop();
    this.#calls.stop();
    await this.#api.close();
  }

  get #listingCanary(): Call<ListingPage> {
    return { endpoint: 'listing', make: (scope) => this.#api.listing(CANARY_QUERY, scope) };
  }

  /** One of the servers that may be polled; not always the same. */
  get #anyPolled(): string | undefined {
    const { polled } = this.#use;
    return polled[Math.floor(this.#options.clock.now()) % polled.length];
  }

  async #retestPolls(signal: AbortSignal): Promise<number> {
    const server = this.#anyPolled;
    if (server === undefined) return POLL_RETEST_MS;
    const deadline = this.#options.clock.now();
    const request = { subject: server, circuits: () => [PANEL, POLL_PATH], deadline };
    await this.#run(request, this.#poll(server), signal).catch(() => undefined);
    return POLL_RETEST_MS;
  }

  #console(server: string, by: ConsoleCaller, daemon?: string): Call<Credentials> {
    const make = (scope: AbortSignal) =>
      this.#consoles.make(server, by, () => this.#api.credentials(server, scope, daemon));
    return { endpoint: 'websocket', server, make };
  }

  #poll(server: string, node?: () => string): Call<Resources> {
    return {
      endpoint: 'resources',
      server,
      node,
      make: (scope) => this.#api.resources(server, scope),
      problemIn: ({ sample, suspended }) => (sample === undefined && !suspended ? NO_DATA : undefined),
    };
  }

  /** A call that no server's samples depend on. */
  #optional<T>(call: Call<T> & { readonly server: string }, deadline: number, signal: AbortSignal) {
    const circuits = () => [PANEL, pathKey(call.endpoint)];
    return this.#run({ subject: call.server, circuits, deadline }, call, signal);
  }

  /** Makes the call when it may, and again after each pause that the panel demands. */
  async #run<T>(request: EntryRequest, call: Call<T>, signal: AbortSignal): Promise<T> {
    if (!this.#hasCalled && call.endpoint !== 'listing') void this.#beginWithListing();
    for (;;) {
      try {
        if (!this.#hasCalled) return await this.#first(call, signal);
        return await this.#calls.run(request, signal, (scope) => this.#make(call, scope));
      } catch (error) {
        // By now, other calls may have shown that the address is right.
        if (!isThrottled(call.endpoint, error)) throw this.#judge.isProven ? error : asOfAddress(error);
      }
    }
  }

  #beginAgain(): void {
    this.#beginnings += 1;
    if (this.#hasCalled) void this.#beginWithListing();
  }

  async #beginWithListing(): Promise<void> {
    await this.#first(this.#listingCanary, this.#closing.signal).catch(() => undefined);
  }

  /** The first call checks address and key, teaches the limit, and may show the servers' nodes: others wait a moment for it. */
  async #first<T>(call: Call<T>, signal: AbortSignal): Promise<T> {
    this.#hasCalled = true;
    const release = this.#calls.hold('first call');
    const cancel = this.#options.clock.schedule(FIRST_CALL_MS, release);
    try {
      return await this.#calls.canary(signal, (scope) => this.#make(call, scope));
    } catch (error) {
      // What is wrong with the panel is one problem, not one of each server.
      if (this.#isUsed(call) && !signal.aborted) await this.#judge.ask();
      throw error;
    } finally {
      cancel();
      release();
    }
  }

  /** If the configuration doesn't use the server list, its failure shows nothing; a success always does. */
  #isUsed({ endpoint }: Pick<Call<unknown>, 'endpoint'>): boolean {
    return endpoint !== 'listing' || this.#use.listing !== 'none';
  }

  async #make<T>(call: Call<T>, signal: AbortSignal): Promise<T> {
    const { clock } = this.#options;
    const startedAt = clock.now();
    const beginning = this.#beginnings;
    const { endpoint, server } = call;
    const about = { endpoint, server, node: call.node?.(), startedAt };
    const isCurrent = () => beginning === this.#beginnings && !this.#closing.signal.aborted;
    try {
      const answer = await call.make(signal);
      this.#limitWatch.succeeded(endpoint, answer);
      const problem = call.problemIn?.(answer.value);
      if (isCurrent()) this.#judge.ended({ ...about, problem, fromPanel: true });
      return answer.value;
    } catch (error) {
      // A withdrawn call shows nothing.
      if (signal.aborted) throw error;
      const fromPanel = error instanceof PanelError && error.fromPanel;
      this.#limitWatch.failed(endpoint, error);
      if (this.#isUsed(call) && isCurrent())
        this.#judge.ended({ ...about, problem: problemOf(error), fromPanel });
      throw error;
    }
  }

  /** One of each kind of call that servers make anyway, so that a canary never requests more than servers do. */
  #canaries(): readonly Canary[] {
    const canaries: Canary[] = [];
    const { listing } = this.#use;
    if (listing !== 'none') canaries.push(() => this.#canary('listing', () => this.#listingCanary));
    const consoleCall = () => {
      const server = this.#consoles.canaryOf(this.#use.consoles);
      return server === undefined ? undefined : this.#console(server, 'canary');
    };
    if (consoleCall() !== undefined) canaries.push(() => this.#canary('websocket', consoleCall));
    const poll = this.#anyPolled;
    if (poll !== undefined) canaries.push(() => this.#canary('resources', () => this.#poll(poll)));
    return canaries;
  }

  /** Makes a call beside the queue, which is chosen when it may start; resolves with the problem that may be the panel's. */
  async #canary<T>(endpoint: ApiEndpoint, choose: () => Call<T> | undefined): ReturnType<Canary> {
    try {
      return await this.#calls.canary(this.#closing.signal, async (scope) => {
        const call = choose();
        if (call === undefined) return 'nothing';
        await this.#make(call, scope);
        return 'works';
      });
    } catch (error) {
      const problem = problemOf(error);
      return this.#mayBeDeleted(endpoint, problem) ? 'works' : problem;
    }
  }

  /** Without a server list, nothing tells a wrong address from servers that were deleted, unless there was no panel before either. */
  #mayBeDeleted(endpoint: ApiEndpoint, { cause }: Problem): boolean {
    const isOfServer = endpoint !== 'listing' && cause === 'not_found';
    return isOfServer && this.#judge.isProven && this.#use.listing === 'none';
  }
}

const UNKNOWN_NODE = 'of ';

/** A server whose node is unknown may have any: it counts as a node of its own. */
function nodeKey(server: string, node: string | undefined): string {
  return node ?? UNKNOWN_NODE + server;
}

/** A 404 before any success, which means that the address is wrong, and not that the server is unknown. */
function asOfAddress(error: unknown): unknown {
  if (!(error instanceof PanelError) || error.problem.cause !== 'not_found') return error;
  return new PanelError(problemOfBlamed('panel', error.problem), { cause: error });
}

/** A panel's address as it is shown: without a username and password. */
function withoutUserInfo(address: string): string {
  const url = new URL(address);
  return url.origin + url.pathname.replace(/\/$/, '');
}
