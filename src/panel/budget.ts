import PQueue from 'p-queue';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { BudgetReading } from '../domain/reading.ts';
import type { Answer } from './api.ts';
import { asksForToken, type CallKind, isSlow, PRIORITY } from './call-kind.ts';
import { PanelError } from './errors.ts';
import { Pacer } from './pacer.ts';
import { DEFAULT_WAIT_MS } from './rate-headers.ts';
import { WaitingCalls } from './waiting-calls.ts';

export interface CallRequest {
  readonly kind: CallKind;
  /** Where named, at most one call of a kind may wait for it. */
  readonly server?: string;
  /** Withdraws the call, waiting or running. */
  readonly signal: AbortSignal;
}

/** Makes one call; it must end soon after its signal aborts. */
type Call<T> = (signal: AbortSignal) => Promise<Answer<T>>;

export interface BudgetOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The panel's name, for logs and errors. */
  readonly panel: string;
  /** A rate that the operator set for the whole; it isn't changed by what the panel says. */
  readonly pinnedPerMinute?: number;
  /** The part of the panel's limit that is ours, where shards divide it; 1 by default. */
  readonly share?: number;
  /** Milliseconds until the panel takes calls at all, asked before each one. */
  readonly gateWaitMs?: () => number;
}

/** The rate until the panel names its limit: the lowest limit that was seen in the field. */
const UNLEARNED_PER_MINUTE = 60;

/** The rest is left to the people who share the account. */
const PART_OF_LIMIT = 0.8;

const CONCURRENCY = 8;

/** A dead node lets each poll hang for 25 s; the other seats stay free for tokens. */
const MAX_SLOW_IN_FLIGHT = 4;

const USE_WINDOW_MS = 60_000;

/** One panel's API budget: which call goes out next, and when. */
export class ApiBudget {
  readonly #options: BudgetOptions;
  readonly #pacer: Pacer;
  /** Always paused but for the instant in which one task starts, so that the choice falls at the last moment. */
  readonly #queue = new PQueue({ concurrency: CONCURRENCY, autoStart: false });
  readonly #running = new Set<AbortController>();
  readonly #waiting = new WaitingCalls();
  readonly #startedAt: number[] = [];
  readonly #rateListeners = new Set<(perMinute: number) => void>();
  #slowInFlight = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** The last call to end was throttled: another pause is no news. */
  #isThrottling = false;
  #knownLimit: number | undefined;
  #cancelTimer: Cancel = () => {};
  #isStopped = false;

  constructor(options: BudgetOptions) {
    this.#options = options;
    this.#pacer = new Pacer(
      options.clock,
      (options.pinnedPerMinute ?? UNLEARNED_PER_MINUTE) * (options.share ?? 1),
    );
    this.#queue.on('next', () => this.#pump());
  }

  /** The panel's limit in calls a minute, once it named it. */
  get knownLimit(): number | undefined {
    return this.#knownLimit;
  }

  /** Calls back with the new rate, in calls a minute, whenever it changes; returns what ends that. */
  onRateChange(listener: (perMinute: number) => void): () => void {
    this.#rateListeners.add(listener);
    return () => this.#rateListeners.delete(listener);
  }

  reading(): BudgetReading {
    this.#forgetOldStarts();
    return {
      limitPerMinute: this.#pacer.perMinute,
      usedLastMinute: this.#startedAt.length,
      queueLength: this.#queue.size,
      paused: this.#pausedUntil > this.#options.clock.now(),
    };
  }

  /**
   * Runs the call when its turn has come, and again after the pause if the panel throttles it. Rejects with
   * the call's error, or with the signal's reason as soon as that aborts.
   */
  async run<T>(request: CallRequest, call: Call<T>): Promise<T> {
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

  /** Rejects all calls, waiting and running, and every later one. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    for (const scope of this.#running) scope.abort(this.#stopError());
  }

  async #runUntilTaken<T>(request: CallRequest, signal: AbortSignal, call: Call<T>): Promise<T> {
    for (let priority = PRIORITY[request.kind]; ; priority = PRIORITY[request.kind] + 1) {
      try {
        return await this.#enqueue(request, signal, priority, call);
      } catch (error) {
        if (!this.#isThrottled(request.kind, error)) throw error;
      }
    }
  }

  #enqueue<T>(request: CallRequest, signal: AbortSignal, priority: number, call: Call<T>): Promise<T> {
    const { kind, server } = request;
    // One that is run again was let in before.
    const isNew = priority === PRIORITY[kind];
    if (isNew && server !== undefined && this.#waiting.has(kind, server)) {
      throw new Error(`panel ${this.#options.panel}: a ${kind} call for server ${server} waits already`);
    }
    const leave = this.#waiting.add(kind, server, signal);
    const task = async () => {
      leave();
      return this.#start(kind, signal, call);
    };
    const done = this.#queue.add(task, { priority, signal });
    this.#pump();
    return done;
  }

  async #start<T>(kind: CallKind, signal: AbortSignal, call: Call<T>): Promise<T> {
    this.#queue.pause();
    this.#pacer.take();
    this.#forgetOldStarts();
    this.#startedAt.push(this.#options.clock.now());
    if (isSlow(kind)) this.#slowInFlight += 1;
    try {
      const answer = await call(signal);
      this.#isThrottling = false;
      this.#learn(kind, answer.limitPerMinute);
      return answer.value;
    } catch (error) {
      // Before the next call may start, or that would run into the same wall.
      this.#heed(kind, error);
      throw error;
    } finally {
      if (isSlow(kind)) this.#slowInFlight -= 1;
      // A withdrawn call gave its place in the queue back before it ended.
      this.#pump();
    }
  }

  /** Starts the next call if its turn has come, and sees to it that this is asked again at the turn after. */
  #pump(): void {
    this.#cancelTimer();
    this.#cancelTimer = () => {};
    if (this.#isStopped) return;
    if (this.#hasSeat() && this.#waitMs() <= 0) {
      this.#queue.start();
      this.#queue.pause();
    }
    // Without a seat, or with a gate that is shut for now, the end of a call asks again.
    const waitMs = this.#hasSeat() ? this.#waitMs() : Number.POSITIVE_INFINITY;
    if (Number.isFinite(waitMs)) this.#cancelTimer = this.#options.clock.schedule(waitMs, () => this.#pump());
  }

  #hasSeat(): boolean {
    if (this.#queue.pending >= CONCURRENCY) return false;
    return this.#waiting.urgent > 0 || (this.#waiting.slow > 0 && this.#slowInFlight < MAX_SLOW_IN_FLIGHT);
  }

  #waitMs(): number {
    const { clock, gateWaitMs } = this.#options;
    return Math.max(this.#pacer.waitMs(), this.#pausedUntil - clock.now(), gateWaitMs?.() ?? 0);
  }

  #learn(kind: CallKind, limit: number | undefined): void {
    // Answers with a token name the limit of that endpoint and server.
    if (limit === undefined || asksForToken(kind) || limit === this.#knownLimit) return;
    this.#knownLimit = limit;
    const { log, panel, pinnedPerMinute, share = 1 } = this.#options;
    if (pinnedPerMinute !== undefined) return;
    const perMinute = limit * PART_OF_LIMIT * share;
    this.#pacer.setRate(perMinute);
    log.info(
      { panel, limit, perMinute },
      `panel ${panel} allows ${limit} calls a minute, of which ${perMinute.toFixed(1)} are used at most`,
    );
    for (const listener of this.#rateListeners) listener(perMinute);
  }

  #heed(kind: CallKind, error: unknown): void {
    if (error instanceof PanelError && error.fromPanel) this.#learn(kind, error.limitPerMinute);
    if (this.#isThrottled(kind, error)) this.#pause(error);
  }

  /** Is it a 429 that is about all calls? Tokens have a limit of their own for each server, which is lower. */
  #isThrottled(kind: CallKind, error: unknown): error is PanelError {
    if (!(error instanceof PanelError) || error.kind !== 'rate_limited') return false;
    const limit = error.limitPerMinute ?? Number.POSITIVE_INFINITY;
    return !asksForToken(kind) || limit >= (this.#knownLimit ?? UNLEARNED_PER_MINUTE);
  }

  #pause(error: PanelError): void {
    const { clock, log, panel } = this.#options;
    const now = clock.now();
    const waitMs = error.retryAfterMs ?? DEFAULT_WAIT_MS;
    const wasPaused = this.#pausedUntil > now;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + waitMs);
    const wasThrottling = this.#isThrottling;
    this.#isThrottling = true;
    if (wasPaused) return;
    const seconds = Math.ceil(waitMs / 1_000);
    log[wasThrottling ? 'debug' : 'warn'](
      { panel, seconds },
      `panel ${panel} says that its rate limit is exceeded: no calls for ${seconds} s; everyone who uses the account shares the limit: lower requests_per_minute, or give the exporter an account of its own`,
    );
  }

  #forgetOldStarts(): void {
    const horizon = this.#options.clock.now() - USE_WINDOW_MS;
    while ((this.#startedAt[0] ?? Number.POSITIVE_INFINITY) <= horizon) this.#startedAt.shift();
  }

  #stopError(): Error {
    return new Error(`panel ${this.#options.panel}: no more calls, the exporter is stopping`);
  }
}
