import PQueue from 'p-queue';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { BudgetReading } from '../domain/reading.ts';
import type { PanelAnswer } from './api.ts';
import {
  CallQueue,
  MAX_IN_FLIGHT,
  type PacedOptions,
  type PacedQueue,
  type QueuedCall,
  queueOver,
} from './call-queue.ts';
import { PanelError } from './errors.ts';
import type { CallKind, Shares } from './fair-share.ts';
import { NodeAnswers, PollCutShort } from './node-answers.ts';
import { DEFAULT_WAIT_MS } from './rate-headers.ts';

/** Calls to the endpoint that has its own limit for each server. */
const asksForToken = (kind: CallKind): boolean =>
  kind === 'refresh' || kind === 'connect' || kind === 'retry' || kind === 'tokenProbe';

export interface CallRequest<T = unknown> {
  readonly kind: CallKind;
  /** If set, at most one call of a kind may wait for this server. */
  readonly server?: string;
  /** Withdraws the call, whether it is waiting or running. */
  readonly signal: AbortSignal;
  /** The panel answered, but only to say that it can't reach the server's node. */
  readonly isNodeSilent?: (value: T) => boolean;
}

/** Makes one call; it must end soon after its signal aborts. */
type Call<T> = (signal: AbortSignal) => Promise<PanelAnswer<T>>;

export interface BudgetOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The panel's name, for logs and errors. */
  readonly panel: string;
  /** The timeout of one call; polls that use much of it give way to others. */
  readonly requestTimeoutMs: number;
  /** A fixed rate set by the operator; it isn't changed by the panel's headers. */
  readonly pinnedPerMinute?: number;
  /** This shard's share of the panel's limit; 1 by default. */
  readonly share?: number;
  /** Milliseconds until the panel takes calls at all; called before each call. */
  readonly gateWaitMs?: () => number;
}

/** The rate until the panel reports its limit: the lowest limit seen in the field. */
export const UNLEARNED_PER_MINUTE = 60;

/** The rest is left to the people who share the account. */
export const PART_OF_LIMIT = 0.8;

const MINUTE_MS = 60_000;

/**
 * How long a poll that was cut short waits for the suspects' seat before it counts as failed; by then its last sample is stale.
 */
const SECOND_CHANCE_MS = 60_000;

/** One panel's API budget: decides which call starts next, and when. */
export class ApiBudget {
  readonly #options: BudgetOptions;
  readonly #pacer: Pacer;
  /** Paused except for the instant in which one task starts, so that the choice is made at the last moment. */
  readonly #queue: PQueue<PacedQueue, PacedOptions>;
  readonly #calls: CallQueue;
  readonly #nodes: NodeAnswers;
  readonly #running = new Set<AbortController>();
  readonly #startedAt: number[] = [];
  readonly #rateListeners = new Set<(perMinute: number) => void>();
  readonly #pauseListeners = new Set<(durationMs: number) => void>();
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** The last call to end was throttled, so another pause isn't logged again. */
  #isThrottling = false;
  #knownLimit: number | undefined;
  #cancelTimer: Cancel = () => {};
  #nextId = 0;
  #isStopped = false;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#pacer = new Pacer(
      options.clock,
      (options.pinnedPerMinute ?? UNLEARNED_PER_MINUTE) * (options.share ?? 1),
    );
    this.#nodes = new NodeAnswers(options.requestTimeoutMs);
    this.#calls = new CallQueue(
      () => this.#pacer.perMinute,
      () => this.#nodes.hasManySuspects,
      () => this.#nodes.latePolls(options.clock.now()),
    );
    const queueClass = queueOver(this.#calls, options.clock);
    this.#queue = new PQueue({ concurrency: MAX_IN_FLIGHT, autoStart: false, queueClass });
    this.#queue.on('next', () => this.#pump());
  }

  /** The panel's limit in calls per minute, once the panel has reported it. */
  get knownLimit(): number | undefined {
    return this.#knownLimit;
  }

  /** Calls back with the new rate, in calls per minute, whenever it changes; returns a function that unsubscribes. */
  onRateChange(listener: (perMinute: number) => void): () => void {
    this.#rateListeners.add(listener);
    return () => this.#rateListeners.delete(listener);
  }

  /** Guarantees each kind of call its share of the rate. */
  setShares(shares: Shares): void {
    this.#calls.setShares(shares);
    this.#pump();
  }

  /** Calls back with the duration in milliseconds whenever a pause of all calls begins; returns a function that unsubscribes. */
  onPause(listener: (durationMs: number) => void): () => void {
    this.#pauseListeners.add(listener);
    return () => this.#pauseListeners.delete(listener);
  }

  reading(): BudgetReading {
    this.#forgetOldStarts();
    return {
      limitPerMinute: this.#pacer.perMinute,
      usedLastMinute: this.#startedAt.length,
      queueLength: this.#queue.size,
      paused: this.#pausedUntil > this.#options.clock.now(),
      ...(this.#knownLimit !== undefined && { knownLimitPerMinute: this.#knownLimit }),
    };
  }

  /**
   * Runs the call when it is its turn, and again after the pause if the panel throttles it. Rejects with the call's error, or
   * with the signal's reason as soon as that aborts.
   */
  async run<T>(request: CallRequest<T>, call: Call<T>): Promise<T> {
    if (this.#isStopped) throw this.#stopError();
    const scope = new AbortController();
    const withdraw = () => scope.abort(request.signal.reason);
    if (request.signal.aborted) withdraw();
    request.signal.addEventListener('abort', withdraw, { once: true });
    this.#running.add(scope);
    try {
      return await this.#runUntilTaken(request, scope.signal, call);
    } finally {
      this.#running.delete(scope);
      request.signal.removeEventListener('abort', withdraw);
    }
  }

  /** The server left the fleet, so whether its node answered no longer counts. */
  forget(server: string): void {
    this.#nodes.forget(server);
  }

  /** The server's node answered for another server, so this server's polls needn't wait behind those of dead nodes. */
  clearSuspicion(server: string): void {
    if (this.#nodes.trustIn(server) !== 'suspect') return;
    this.#nodes.forget(server);
    this.#calls.clearSuspicion(server);
    this.#pump();
  }

  /** Checks again, because the gate may have opened without a call having ended. */
  wake(): void {
    this.#pump();
  }

  /** Rejects all calls, whether waiting, running or made later. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    for (const scope of this.#running) scope.abort(this.#stopError());
  }

  async #runUntilTaken<T>(request: CallRequest<T>, signal: AbortSignal, call: Call<T>): Promise<T> {
    let cut: PollCutShort | undefined;
    for (let isRepeat = false; ; isRepeat = true) {
      try {
        if (cut === undefined) return await this.#enqueue(request, { signal, isRepeat }, call);
        return await this.#giveSecondChance(request, signal, call, cut);
      } catch (error) {
        if (error === cut) throw error;
        if (error instanceof PollCutShort) cut = error;
        else if (!this.#isThrottled(request.kind, error)) throw error;
      }
    }
  }

  /**
   * Repeats a poll in the suspects' seat, where nothing cuts it short; rejects with `cut` if that seat stays taken. If a panel or
   * this machine stalls for a moment, the polls of healthy servers are cut short as well, and none of them should count as lost.
   */
  async #giveSecondChance<T>(
    request: CallRequest<T>,
    signal: AbortSignal,
    call: Call<T>,
    cut: PollCutShort,
  ): Promise<T> {
    const patience = new AbortController();
    const cancel = this.#options.clock.schedule(SECOND_CHANCE_MS, () => patience.abort(cut));
    const either = AbortSignal.any([signal, patience.signal]);
    try {
      return await this.#enqueue(request, { signal: either, isRepeat: true }, (scope) => {
        cancel();
        return call(scope);
      });
    } finally {
      cancel();
    }
  }

  #enqueue<T>(
    request: CallRequest<T>,
    { signal, isRepeat }: { readonly signal: AbortSignal; readonly isRepeat: boolean },
    call: Call<T>,
  ): Promise<T> {
    const { kind, server } = request;
    if (!isRepeat && server !== undefined && this.#calls.has(kind, server)) {
      throw new Error(`panel ${this.#options.panel}: a ${kind} call for server ${server} is already waiting`);
    }
    const trust = kind === 'poll' ? this.#nodes.trustIn(server) : 'proven';
    const isFreshSuspect = trust === 'suspect' && this.#nodes.isFreshSuspect(server);
    const precedence = isRepeat ? 2 : isFreshSuspect ? 1 : 0;
    const queued: QueuedCall = { kind, server, trust, precedence };
    const id = String(this.#nextId++);
    const done = this.#queue.add(() => this.#start(request, queued, signal, call), { id, signal, queued });
    this.#pump();
    return done;
  }

  async #start<T>(
    request: CallRequest<T>,
    queued: QueuedCall,
    signal: AbortSignal,
    call: Call<T>,
  ): Promise<T> {
    const { kind } = request;
    const startedAt = this.#options.clock.now();
    this.#queue.pause();
    this.#pacer.take();
    this.#forgetOldStarts();
    this.#startedAt.push(startedAt);
    // Has its own signal, so that a poll that holds up others can be ended.
    const scope = new AbortController();
    const end = () => scope.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    if (kind === 'poll') this.#nodes.began(scope, { ...queued, startedAt });
    try {
      const answer = await call(scope.signal);
      this.#isThrottling = false;
      this.#nodes.panelAnswered(startedAt);
      this.#learn(kind, answer.limitPerMinute);
      if (request.isNodeSilent?.(answer.value)) this.#nodes.failed(scope, this.#options.clock.now());
      else this.#noteAnswer(kind, scope);
      return answer.value;
    } catch (error) {
      // Before the next call may start, or it would be throttled as well.
      this.#noteFailure(kind, error);
      if (error instanceof PanelError && error.fromPanel) this.#nodes.panelAnswered(startedAt);
      if (!signal.aborted) this.#nodes.failed(scope, this.#options.clock.now(), error);
      throw error;
    } finally {
      signal.removeEventListener('abort', end);
      this.#nodes.withdrawn(scope);
      this.#calls.left(queued);
      // A withdrawn call gave up its place in the queue before it ended.
      this.#pump();
    }
  }

  #noteAnswer(kind: CallKind, poll: AbortController): void {
    if (kind !== 'poll') return;
    const isBack = this.#nodes.answered(poll, this.#options.clock.now());
    if (isBack) this.#calls.nodeAnswered();
  }

  /** Starts the next call if it is due, and schedules a check for the turn after it. */
  #pump(): void {
    this.#cancelTimer();
    this.#cancelTimer = () => {};
    if (this.#isStopped) return;
    const { clock } = this.#options;
    if (this.#waitMs() <= 0 && this.#calls.next(clock.now()) !== undefined) {
      this.#queue.start();
      this.#queue.pause();
    }
    if (this.#calls.size === 0) return;
    // If the gate is closed, the end of a call triggers the next check.
    const waitMs = this.#waitMs();
    const now = clock.now();
    const isReady = this.#calls.next(now) !== undefined;
    const roomMs = isReady ? 0 : Math.min(this.#calls.heldUntil() - now, this.#roomMs(waitMs));
    const againMs = Math.max(waitMs, roomMs);
    if (Number.isFinite(againMs)) this.#cancelTimer = clock.schedule(againMs, () => this.#pump());
  }

  /** Milliseconds until a seat that a waiting call needs becomes free; infinite if that depends on the end of another call. */
  #roomMs(waitMs: number): number {
    const isNeeded = Number.isFinite(waitMs) && this.#calls.needsPollSeat;
    return isNeeded ? this.#nodes.makeRoom(this.#options.clock.now()) : Number.POSITIVE_INFINITY;
  }

  #waitMs(): number {
    const { clock, gateWaitMs } = this.#options;
    return Math.max(this.#pacer.waitMs(), this.#pausedUntil - clock.now(), gateWaitMs?.() ?? 0);
  }

  #learn(kind: CallKind, limit: number | undefined): void {
    // Answers that contain a token report the limit of that endpoint and server.
    if (limit === undefined || asksForToken(kind) || limit === this.#knownLimit) return;
    const isFirst = this.#knownLimit === undefined;
    this.#knownLimit = limit;
    const { log, panel, pinnedPerMinute, share = 1 } = this.#options;
    if (pinnedPerMinute !== undefined) return;
    const perMinute = limit * PART_OF_LIMIT * share;
    this.#pacer.setRate(perMinute);
    // The first limit is logged with the plan that is based on it.
    log[isFirst ? 'debug' : 'info'](
      { panel, limit, perMinute },
      `panel ${panel}: rate limit ${limit}/min; using at most ${Number(perMinute.toFixed(1))}/min`,
    );
    for (const listener of this.#rateListeners) listener(perMinute);
  }

  #noteFailure(kind: CallKind, error: unknown): void {
    if (error instanceof PanelError && error.fromPanel) this.#learn(kind, error.limitPerMinute);
    if (this.#isThrottled(kind, error)) this.#pause(error);
  }

  /** Is it a 429 that concerns all calls? Tokens have their own, lower limit for each server. */
  #isThrottled(kind: CallKind, error: unknown): error is PanelError {
    if (!(error instanceof PanelError) || error.status !== 429) return false;
    const limit = error.limitPerMinute ?? Number.POSITIVE_INFINITY;
    return !asksForToken(kind) || limit >= (this.#knownLimit ?? UNLEARNED_PER_MINUTE);
  }

  #pause(error: PanelError): void {
    const { clock, log, panel } = this.#options;
    const now = clock.now();
    const waitMs = error.problem.retryAfterMs ?? DEFAULT_WAIT_MS;
    const wasPaused = this.#pausedUntil > now;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + waitMs);
    const wasThrottling = this.#isThrottling;
    this.#isThrottling = true;
    if (wasPaused) return;
    const seconds = Math.ceil(waitMs / 1_000);
    log[wasThrottling ? 'debug' : 'warn'](
      { panel, cause: 'rate_limited', seconds },
      `panel ${panel}: rate limit exceeded (429): no calls for ${seconds} s. The limit applies to the account: give the exporter its own account, or lower requests_per_minute.`,
    );
    for (const listener of this.#pauseListeners) listener(waitMs);
  }

  #forgetOldStarts(): void {
    const horizon = this.#options.clock.now() - MINUTE_MS;
    while ((this.#startedAt[0] ?? Number.POSITIVE_INFINITY) <= horizon) this.#startedAt.shift();
  }

  #stopError(): Error {
    return new Error(`panel ${this.#options.panel}: no more calls, because the exporter is stopping`);
  }
}

/** Spaces calls evenly on the monotonic clock. An unused turn is lost, so that no burst follows a quiet hour. */
class Pacer {
  readonly #clock: Clock;
  #perMinute: number;
  #lastTurnAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  get perMinute(): number {
    return this.#perMinute;
  }

  /** Changes the rate; the pending turn moves accordingly. */
  setRate(perMinute: number): void {
    this.#perMinute = perMinute;
  }

  /** Milliseconds until the next turn; 0 if it is due. */
  waitMs(): number {
    return Math.max(0, this.#lastTurnAt + MINUTE_MS / this.#perMinute - this.#clock.now());
  }

  /** Takes the turn. Taking it slightly late, as timers do, doesn't delay the turns after it. */
  take(): void {
    const now = this.#clock.now();
    const due = this.#lastTurnAt + MINUTE_MS / this.#perMinute;
    this.#lastTurnAt = now - due < MINUTE_MS / this.#perMinute / 2 ? due : now;
  }
}
