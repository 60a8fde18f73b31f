/** The gateway to one panel, through which its fleet makes all calls. */

import { EventEmitter } from 'node:events';
import { AT_ONCE, type Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/logger.ts';
import type { BudgetReading } from '../domain/reading.ts';
import { Account } from './account.ts';
import { CallMaker } from './call-maker.ts';
import { type CallEnded, Health, type HealthChange, type PanelUse } from './health/health.ts';
import { findHold, mayConnect } from './health/holds.ts';
import type { SocketTrial } from './health/socket-trials.ts';
import { type Ask, HeldCalls, type PanelCalls } from './held-calls.ts';
import { NodePolls } from './node-polls.ts';
import { type DatedToken, OutdatedTokens } from './outdated-tokens.ts';
import { PanelApi, type PanelApiOptions } from './panel-api.ts';
import { PanelError } from './panel-error.ts';
import { PanelProblemLog } from './panel-problem-log.ts';
import { PanelProblems } from './panel-problems.ts';
import { PanelRate } from './panel-rate.ts';
import { pauseProblem } from './pause-problem.ts';
import { RateLog } from './rate-log.ts';
import type { ListingQuery, ServerAddress } from './requests.ts';
import type { BackupsPage, Credentials, ListingPage, Resources, Schedule } from './responses.ts';
import type { Call } from './scheduler/call.ts';
import type { PinnedRate } from './scheduler/rate-limit.ts';
import { Scheduler, type SchedulerOptions } from './scheduler/scheduler.ts';
import { SocketAddresses } from './socket-addresses.ts';
import { attemptOutcome, type SocketAttempt } from './socket-attempt.ts';
import { type Channel, PATHS, type Path, pathSubject, socketsSubject, subjectNode } from './subjects.ts';
import { trialEnqueuer } from './trial-enqueuer.ts';
import { TrialTokens } from './trial-tokens.ts';

export interface PanelGatewayOptions extends PanelApiOptions, PinnedRate {
  readonly log: Logger;
  /** The account, which panels with the same address and key share; a new one if absent. */
  readonly account?: Account;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
  /** Runs the start of a call in a turn of the event loop; by default, at once. */
  readonly inTurn?: SchedulerOptions['inTurn'];
}

/** The public part of a gateway, for fleets, sessions and commands. */
export type PanelGateway = Pick<Gateway, keyof Gateway>;

/** A change of a panel that its fleet, sessions and log follow. */
export type PanelChange =
  | HealthChange
  /** Another number of calls may be made, or the first call has shown that the panel works. */
  | { readonly of: 'rate' };

/** Calls reject with a `PanelError`, or with the signal's reason as soon as it aborts. */
export class Gateway {
  /** Emits each change after it has happened. */
  readonly events = new EventEmitter<{ changed: [PanelChange] }>();
  readonly problems: Pick<PanelProblems, keyof PanelProblems>;
  readonly #clock: Clock;
  readonly #api: PanelCalls;
  readonly #scheduler: Scheduler;
  readonly #health: Health;
  readonly #log: PanelProblemLog;
  readonly #rate: PanelRate;
  readonly #addresses = new SocketAddresses();
  readonly #outdated = new OutdatedTokens();
  readonly #nodePolls: NodePolls;
  readonly #calls: CallMaker;
  readonly #held: HeldCalls;
  readonly #trialTokens = new TrialTokens(() => this.#scheduler.trialRoom);
  #asked: Pick<PanelUse['asked'], 'websocket' | 'resources'> = { websocket: new Map(), resources: new Map() };

  /** Calls go over HTTP unless `api` is given. */
  constructor(options: PanelGatewayOptions, api: PanelCalls = new PanelApi(options)) {
    const { clock, panel, random = Math.random, share } = options;
    const { account = new Account(clock, options) } = options;
    this.#clock = clock;
    this.#api = api;
    this.#log = new PanelProblemLog(options);
    this.#rate = new PanelRate({
      clock,
      account,
      share,
      log: new RateLog(options.log, panel),
      limitChanged: (server) => {
        this.#rateChanged();
        this.#scheduler.limitChanged(server);
      },
      pathChanged: (path) => this.#pathChanged(path),
      sharingChanged: () => this.#rateChanged(),
    });
    this.#scheduler = new Scheduler({
      clock,
      panel,
      limit: account.limit,
      holds: (call) => findHold(call, this.#health),
      isBlamed: (subject) => this.#health.isBlamed(subject),
      isRejected: (error) => error instanceof PanelError && error.status === 401,
      inTurn: options.inTurn,
    });
    this.#health = new Health({
      clock,
      random,
      enqueue: trialEnqueuer({
        health: () => this.#health,
        hasTokenRoom: (server) => this.#scheduler.hasTokenRoom(server),
        start: (path, what, call, signal) => this.#held.start(path, what, call, signal),
      }),
      changed: (change) => this.#healthChanged(change),
    });
    this.problems = new PanelProblems({
      clock,
      health: this.#health,
      rate: this.#rate,
      scheduler: this.#scheduler,
    });
    this.#calls = new CallMaker({
      clock,
      api,
      rate: this.#rate,
      ended: (end, call) => this.#callEnded(end, call),
    });
    this.#held = new HeldCalls({
      clock,
      api,
      health: this.#health,
      scheduler: this.#scheduler,
      calls: this.#calls,
      rate: this.#rate,
    });
    // A list may be used later than it arrived, but shows only that the panel worked when it
    // arrived.
    this.#nodePolls = new NodePolls(clock, (server, { requestedAt: startedAt, arrivedAt: endedAt }) => {
      const call = { path: 'resources', server, startedAt, endedAt } as const;
      this.#health.callEnded({ ...call, problem: undefined, fromPanel: true });
    });
  }

  /** Does the panel's API respond and accept the API key? */
  get health(): 'unknown' | 'up' | 'down' {
    if (this.problems.ofPanel !== undefined) return 'down';
    return this.#health.isKnown ? 'up' : 'unknown';
  }

  /** Is any subject suspected, but not yet blamed or cleared? */
  get isJudging(): boolean {
    return this.#health.isJudging;
  }

  /** Requests credentials, at most twice a minute per server. */
  async credentials(server: ServerAddress, ask: Ask, signal: AbortSignal): Promise<Credentials> {
    const isTrial = this.#health.socketTrial(server.id) !== undefined;
    if (isTrial) this.#trialTokens.asked();
    try {
      const credentials = await this.#held.run('websocket', server, ask, signal);
      this.#addressGiven(this.#health.asked('websocket', server.id)?.node, credentials.socketUrl);
      return credentials;
    } finally {
      if (isTrial) this.#trialTokens.ended();
    }
  }

  #addressGiven(node: string | undefined, url: string): void {
    if (node === undefined) return;
    const before = this.#addresses.note(node, url);
    if (before !== undefined) this.#health.forgetSockets(node, node === new URL(before).host);
  }

  /** Can one call get the resources of all of a node's servers? */
  get isPolledByNode(): boolean {
    return this.#api.hasResourcesOfNode === true;
  }

  /**
   * A server's resources. If several servers of a node are polled, one call may get the resources
   * of all.
   */
  resources(server: ServerAddress, ask: Ask, signal: AbortSignal): Promise<Resources> {
    const alone = () => this.#held.run('resources', server, ask, signal);
    const { usefulFrom = AT_ONCE } = ask;
    const list = () => this.#held.list(server, ask.deadline, signal);
    return this.isPolledByNode ? this.#nodePolls.poll({ server, usefulFrom, signal, alone, list }) : alone();
  }

  listing(query: ListingQuery, deadline: number, signal: AbortSignal): Promise<ListingPage> {
    return this.#held.run('listing', query, { deadline }, signal);
  }

  /** One page of a server's backups. */
  backups(server: ServerAddress, page: number, deadline: number, signal: AbortSignal): Promise<BackupsPage> {
    return this.#held.run('backups', { ...server, page }, { deadline }, signal);
  }

  schedules(server: ServerAddress, deadline: number, signal: AbortSignal): Promise<readonly Schedule[]> {
    return this.#held.run('schedules', server, { deadline }, signal);
  }

  /**
   * May the server's socket be opened? Only if its node's sockets aren't blamed, or if the server
   * has to try them.
   */
  mayConnect(server: string, node: string | undefined): boolean {
    return mayConnect(this.#health, server, node);
  }

  /** Does the server's own limit delay its next token call? */
  delaysToken(server: string): boolean {
    return this.#scheduler.delaysToken(server);
  }

  /** The trial of its node's sockets for which the server was chosen, until the trial has ended. */
  socketTrial(server: string): SocketTrial | undefined {
    const trial = this.#health.socketTrial(server);
    return trial?.isFresh === true && !this.#trialTokens.hasRoom ? { ...trial, isFresh: false } : trial;
  }

  /** Ends the server's trial without an outcome. Its own socket continues. */
  declineTrial(server: string): void {
    this.#health.socketEnded(server, undefined);
  }

  /**
   * Examines the server's waiting calls again: they may have become retries or stopped being
   * retries, or its node may have changed.
   */
  reclassify(server: string): void {
    this.#health.nodeMayHaveChanged(server);
    this.#scheduler.moved(server);
  }

  /** Is this token for this address still valid, as far as the exporter knows? */
  isCurrent(node: string | undefined, token: DatedToken & Pick<Credentials, 'socketUrl'>): boolean {
    return this.#addresses.isCurrent(node, token.socketUrl) && !this.#outdated.has(node, token);
  }

  /** Notes that the server's node rejected a token that it may have accepted before. */
  tokenOutdated(server: string, token: DatedToken): void {
    const node = this.#health.asked('sockets', server)?.node;
    const isTrial = this.#health.socketTrial(server) !== undefined;
    this.#outdated.refused(node, server, token, isTrial);
  }

  /** Handles the end of an attempt to stream a server, or of a streaming socket. */
  socketEnded(server: string, attempt: SocketAttempt): void {
    const { url, end } = attempt;
    const node = this.#health.asked('sockets', server)?.node;
    if (end === undefined && url !== undefined) this.#addresses.streams(node, url);
    const isOutdated = url !== undefined && !this.#addresses.isCurrent(node, url);
    const hasStreamed = this.#health.last('sockets', server)?.streams === true;
    this.#scheduler.connectEnded(server, end === undefined ? node : undefined);
    this.#health.socketEnded(server, attemptOutcome(attempt, isOutdated, hasStreamed));
  }

  budget(): BudgetReading {
    const { limitPerMinute, knownLimitPerMinute, isPinned, usedLastMinute } = this.#rate.limit;
    const paused = pauseProblem(this.#rate.limit, this.#clock) !== undefined;
    const queueLength = this.#scheduler.waiting;
    return { limitPerMinute, knownLimitPerMinute, usedLastMinute, queueLength, paused, isPinned };
  }

  /**
   * Sets the calls per minute that the servers need. If they exceed the rate, connects get no
   * preference, because only deadlines are fair.
   */
  needs(callsPerMinute: number): void {
    this.#scheduler.isOverbooked = callsPerMinute > this.#rate.limit.limitPerMinute;
  }

  /** Sets how the panel is used, and forgets all other servers and nodes. */
  setUse(use: PanelUse): void {
    this.#health.setUse(use);
    this.#asked = use.asked;
    this.keepNodes();
  }

  /** Forgets nodes without servers. A server's node may change with the address of its socket. */
  keepNodes(): void {
    const { websocket, resources } = this.#asked;
    const nodes = new Set<string | undefined>();
    for (const servers of [websocket, resources]) for (const { node } of servers.values()) nodes.add(node);
    this.#scheduler.keepNodes(nodes);
    this.#addresses.keep(nodes);
    this.#outdated.keep(nodes);
    const ids = new Set<string | undefined>();
    for (const { target } of resources.values()) ids.add(target?.nodeId);
    this.#nodePolls.keepNodes(ids);
  }

  /** Forgets rejections of the previous API key, and uses the limit of the new key's account. */
  keyChanged(account: Account = this.#rate.account): void {
    this.#rate.use(account);
    this.#scheduler.keyChanged(account.limit);
    this.#beginAgain(PATHS);
    this.#rateChanged();
  }

  /** Forgets earlier failures after the connection to the panel and its nodes changed. */
  accessChanged(): void {
    this.#beginAgain([...PATHS, 'sockets']);
  }

  /** Rejects all waiting and running calls, and closes the connections. */
  async close(): Promise<void> {
    this.#calls.beginAgain();
    this.#rate.stop();
    this.#health.stop();
    this.#scheduler.stop();
    this.#log.stop();
    await this.#api.close();
  }

  #callEnded(end: CallEnded, { node }: Call): void {
    const { path, startedAt, fromPanel } = end;
    const { isKnown } = this.#health;
    const nodeName = node();
    if (path === 'resources' && nodeName !== undefined)
      this.#scheduler.polled(nodeName, startedAt, fromPanel);
    this.#health.callEnded(end);
    if (isKnown || !this.#health.isKnown) return;
    this.#scheduler.panelKnown();
    this.#rateChanged();
  }

  #healthChanged(change: HealthChange): void {
    if (change.of === 'subject') {
      const { subject } = change;
      const node = subjectNode(subject);
      if (node !== undefined && subject === socketsSubject(node) && this.#health.isBlamed(subject))
        this.#scheduler.doubt(node);
      this.#scheduler.holdChanged(subject, node);
      if (node === undefined && this.health !== 'unknown')
        this.#log.follow((topic) => this.problems.of(topic));
    } else if (change.of === 'trial') this.#scheduler.moved(change.server);
    this.#emit(change);
  }

  #rateChanged(): void {
    this.#emit({ of: 'rate' });
  }

  /** Handles the beginning or the end of a path's pause. */
  #pathChanged(path: Path): void {
    this.#emit({ of: 'subject', subject: pathSubject(path) });
  }

  #emit(change: PanelChange): void {
    this.events.emit('changed', change);
  }

  #beginAgain(channels: readonly Channel[]): void {
    this.#calls.beginAgain();
    this.#nodePolls.keepNodes(new Set());
    const hasBegun = this.health !== 'unknown' || this.#health.outage('panel') !== undefined;
    this.#health.forget(new Set(channels));
    if (hasBegun) this.#health.check();
  }
}
