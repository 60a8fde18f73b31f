import PQueue from 'p-queue';
import type { Cancel, Clock } from '../domain/clock.ts';
import { inScope } from '../domain/until-aborted.ts';
import { PanelError } from './errors.ts';
import type { Entry, EntryRequest, Gate } from './gate.ts';
import type { RateLimit } from './rate-limit.ts';

/**
 * The panel allows five credential calls per minute for each server, shared with people's consoles: the exporter makes at most two.
 */
const CALLS_PER_WINDOW = 2;
const WINDOW_MS = 60_000;

/** Who makes a call: a server's session, or a canary. */
export type ConsoleCaller = 'session' | 'canary';

interface ConsoleCall {
  /** When it was last known not to have ended, in monotonic milliseconds. */
  at: number;
  readonly by: ConsoleCaller;
  /** The panel didn't accept the API key, so it didn't count the call either. */
  isRejected?: boolean;
}

/** Counts credential calls by server, so that people always have a part of each server's limit. */
export class ConsoleCalls {
  readonly #clock: Clock;
  /** The last calls for each server, the earliest first. */
  readonly #calls = new Map<string, readonly ConsoleCall[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The next call for this server may be made at this monotonic instant; not after now if it may be made at once. */
  readyAt(server: string): number {
    const calls = this.#calls.get(server) ?? [];
    const [oldest] = calls;
    return oldest === undefined || calls.length < CALLS_PER_WINDOW
      ? Number.NEGATIVE_INFINITY
      : oldest.at + WINDOW_MS;
  }

  /**
   * The server for a canary's call: the one whose last call was the longest ago, and at most once a minute, so that its session
   * doesn't have to wait when the panel is back.
   */
  canaryOf(servers: readonly string[]): string | undefined {
    const now = this.#clock.now();
    const recent = now - WINDOW_MS;
    let chosen: string | undefined;
    let chosenAt = Number.POSITIVE_INFINITY;
    for (const server of servers) {
      const calls = this.#calls.get(server) ?? [];
      const lastAt = calls.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
      const isAsked = calls.some(({ at, by }) => by === 'canary' && at > recent);
      const isHeld = isAsked || this.readyAt(server) > now;
      if (isHeld || (chosen !== undefined && lastAt >= chosenAt)) continue;
      chosen = server;
      chosenAt = lastAt;
    }
    return chosen;
  }

  /** Makes the call, and counts it until a minute after its end, because the panel may have received it as late as that. */
  async make<T>(server: string, by: ConsoleCaller, call: () => Promise<T>): Promise<T> {
    const made: ConsoleCall = { at: this.#clock.now(), by };
    this.#calls.set(server, [...(this.#calls.get(server) ?? []), made].slice(-CALLS_PER_WINDOW));
    try {
      return await call();
    } catch (error) {
      made.isRejected = error instanceof PanelError && error.status === 401;
      throw error;
    } finally {
      made.at = this.#clock.now();
    }
  }

  /** Forgets the calls for servers that are gone, unless they still count. */
  forgetUnknown(knows: (server: string) => boolean): void {
    const recent = this.#clock.now() - WINDOW_MS;
    for (const [server, calls] of this.#calls)
      if (!knows(server) && calls.every(({ at }) => at <= recent)) this.#calls.delete(server);
  }

  /** Forgets the calls with a rejected key: another one needn't wait for them. The panel counts the others whoever makes them. */
  forgetRejected(): void {
    for (const [server, calls] of this.#calls) {
      this.#calls.set(
        server,
        calls.filter(({ isRejected }) => isRejected !== true),
      );
    }
  }
}

/** The maximum number of calls in flight, not counting polls that gave up their seats. */
const CONCURRENCY = 8;

/** A trial goes before all other calls: few are allowed, and others wait for its outcome. */
const TRIAL_PRIORITY = Number.MAX_VALUE;

/** A circuit opened while the call was queued, or its own limit was used up: it waits at the gate again. */
const WITHDRAWN = new Error('the call may not start any more');

export interface CallsOptions {
  readonly clock: Clock;
  /** The panel's name, for errors. */
  readonly panel: string;
  readonly gate: Gate;
  readonly limit: RateLimit;
}

/**
 * The calls to one panel: each waits at the gate until it may start, then in the queue for its turn, the earliest deadline first,
 * and counts in the rate limit's window once it starts.
 */
export class Calls {
  readonly #options: CallsOptions;
  readonly #queue = new PQueue({ concurrency: CONCURRENCY });
  /** Canaries go before all calls that wait, and don't wait for those in flight. */
  readonly #canaries = new PQueue();
  /** Why no call starts; the queue runs while there is no reason. */
  readonly #holds = new Set<string>();
  /** The scopes of all calls, waiting or running. */
  readonly #scopes = new Set<AbortController>();
  #isStopped = false;
  readonly #unsubscribe: () => void;
  #cancelTimer: Cancel = () => undefined;

  constructor(options: CallsOptions) {
    this.#options = options;
    const { limit } = options;
    this.#unsubscribe = limit.onWait(() => this.#followLimit());
    this.#followLimit();
  }

  /** Calls that have not started. */
  get waiting(): number {
    return this.#queue.size + this.#options.gate.waiting;
  }

  /** Starts no call until the returned function is called. */
  hold(reason: string): () => void {
    this.#holds.add(reason);
    this.#queue.pause();
    return () => this.#release(reason);
  }

  /** Makes the call when it may; rejects with its error, or the signal's reason as soon as that aborts. */
  async run<T>(
    request: EntryRequest,
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.#isStopped) throw this.#stopError();
    return inScope(signal, async (scope) => {
      this.#scopes.add(scope);
      try {
        return await this.#runUntilStarted(request, scope.signal, call);
      } finally {
        this.#scopes.delete(scope);
      }
    });
  }

  /** Makes a call before all that wait, as soon as the rate limit has room. */
  canary<T>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const start = () => {
      this.#options.limit.take();
      return call(signal);
    };
    return this.#canaries.add(start, { signal });
  }

  /** Rejects all calls, whether waiting, running or made later. */
  stop(): void {
    this.#isStopped = true;
    for (const scope of this.#scopes) scope.abort(this.#stopError());
    this.#cancelTimer();
    this.#unsubscribe();
  }

  #stopError(): Error {
    return new Error(`panel ${this.#options.panel}: no more calls, because the exporter is stopping`);
  }

  async #runUntilStarted<T>(
    request: EntryRequest,
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { gate } = this.#options;
    for (;;) {
      const entry = await gate.enter(request, signal);
      let isWithdrawn = false;
      try {
        return await this.#enqueue(request, entry, signal, call);
      } catch (error) {
        isWithdrawn = error === WITHDRAWN;
        if (!isWithdrawn) throw error;
      } finally {
        entry.leave(isWithdrawn || signal.aborted);
      }
    }
  }

  #enqueue<T>(
    request: EntryRequest,
    { isTrial, seat }: Entry,
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { gate, limit } = this.#options;
    return new Promise<T>((resolve, reject) => {
      const start = (): Promise<unknown> => {
        // While it was queued, a circuit may have opened, its server's node become known, or its own limit been used up.
        if (!gate.isAdmitted(request)) return Promise.reject(WITHDRAWN);
        limit.take();
        seat?.began();
        const ended = call(signal);
        ended.then(resolve, reject);
        const settled = ended.catch(() => undefined);
        return seat === undefined ? settled : Promise.race([settled, seat.left]);
      };
      const priority = isTrial ? TRIAL_PRIORITY : -request.deadline;
      this.#queue.add(start, { priority, signal }).catch(reject);
    });
  }

  /** Holds both queues until the rate limit lets the next call start. */
  #followLimit(): void {
    const { clock, limit } = this.#options;
    this.#cancelTimer();
    const waitMs = limit.readyAt - clock.now();
    if (waitMs > 0) {
      this.#canaries.pause();
      this.hold('limit');
      this.#cancelTimer = clock.schedule(waitMs, () => this.#followLimit());
      return;
    }
    this.#canaries.start();
    // The canaries may have taken all the room there was.
    if (!this.#canaries.isPaused) this.#release('limit');
  }

  #release(reason: string): void {
    this.#holds.delete(reason);
    if (this.#holds.size === 0) this.#queue.start();
  }
}
