import PQueue, { type QueueAddOptions } from 'p-queue';
import type { Cancel, Clock } from '../domain/clock.ts';
import { inScope } from '../domain/until-aborted.ts';
import { PanelError } from './errors.ts';
import { type RateLimit, WINDOW_MS } from './rate-limit.ts';
import {
  anyStartAt,
  type Call,
  isTrial,
  type Running,
  type Start,
  startAt,
  TOKEN_CALLS,
  type Traffic,
  trialsAt,
} from './start-at.ts';

/** What a lane doesn't know itself of the traffic. */
export type Surroundings = Pick<Traffic, 'health' | 'opensAt' | 'troubles' | 'respondedAt'>;

export interface LaneOptions {
  readonly clock: Clock;
  /** The panel's name, for errors. */
  readonly panel: string;
  readonly limit: RateLimit;
  readonly surroundings: () => Surroundings;
}

/** A credential call of a server. */
interface TokenCall {
  /** When it was last known not to have ended: the panel may have received it as late as that. */
  at: number;
  /** The panel didn't accept the API key, so it didn't count the call. */
  isRejected: boolean;
}

/** The calls to one panel: each waits in one place until `startAt` lets it start; of those that may, the earliest deadline does. */
export class Lane {
  readonly #options: LaneOptions;
  readonly #line: Line;
  readonly #queue: PQueue<QueueOf, CallOptions>;
  readonly #running = new Set<Running>();
  readonly #scopes = new Set<AbortController>();
  readonly #tokenCalls = new Map<string, readonly TokenCall[]>();
  readonly #unsubscribe: () => void;
  #trials: readonly number[] = [];
  #calls = 0;
  #isStopped = false;

  constructor(options: LaneOptions) {
    const { clock, limit } = options;
    this.#options = options;
    this.#line = new Line(
      clock,
      () => this.#traffic(),
      () => this.pump(),
    );
    this.#queue = new PQueue({ queueClass: queueClassOf(this.#line) });
    this.#unsubscribe = limit.onChange(() => this.pump());
  }

  /** Calls that have not started. */
  get waiting(): number {
    return this.#line.length;
  }

  /** May a trial of something that is blamed start now, as far as their part of the rate is concerned? */
  get hasTrialRoom(): boolean {
    return trialsAt(this.#traffic()) <= this.#options.clock.now();
  }

  /** Makes the call when it may start; rejects with its error, or with the signal's reason as soon as that aborts. */
  async run<T>(call: Call, signal: AbortSignal, make: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#isStopped) throw this.#stopError();
    return inScope(signal, async (scope) => {
      this.#scopes.add(scope);
      this.#calls += 1;
      const options = { call, id: String(this.#calls), signal: scope.signal };
      try {
        return await this.#queue.add(() => this.#make(call, () => make(scope.signal)), options);
      } finally {
        this.#scopes.delete(scope);
      }
    });
  }

  /** Starts what may start now, because something changed. */
  pump(): void {
    this.#line.look();
    this.#queue.pause();
    this.#queue.start();
  }

  /** When the next credential call of this server may start, as far as its own limit is concerned. */
  tokenCallsOf(server: string): readonly number[] {
    return (this.#tokenCalls.get(server) ?? []).map(({ at }) => at);
  }

  /** Forgets the calls that no longer count: servers may have ever new ids. */
  forgetOld(): void {
    const horizon = this.#options.clock.now() - WINDOW_MS;
    for (const [server, calls] of this.#tokenCalls)
      if (calls.every(({ at }) => at <= horizon)) this.#tokenCalls.delete(server);
  }

  /** Another API key doesn't wait for calls with a rejected one. */
  forgetRejected(): void {
    for (const [server, calls] of this.#tokenCalls)
      this.#tokenCalls.set(
        server,
        calls.filter(({ isRejected }) => !isRejected),
      );
  }

  /** Rejects all calls, whether waiting, running or made later. */
  stop(): void {
    this.#isStopped = true;
    for (const scope of this.#scopes) scope.abort(this.#stopError());
    this.#line.stop();
    this.#unsubscribe();
  }

  #stopError(): Error {
    return new Error(`panel ${this.#options.panel}: no more calls, because the exporter is stopping`);
  }

  #traffic(): Traffic {
    const { clock, limit, surroundings } = this.#options;
    const horizon = clock.now() - WINDOW_MS;
    this.#trials = this.#trials.filter((at) => at > horizon);
    return {
      ...surroundings(),
      allowance: limit.allowance,
      tokenCalls: (server) => this.tokenCallsOf(server),
      trials: this.#trials,
      running: [...this.#running],
    };
  }

  async #make<T>(call: Call, make: () => Promise<T>): Promise<T> {
    const { clock, limit, surroundings } = this.#options;
    const startedAt = clock.now();
    if (isTrial(call, surroundings().troubles)) this.#trials = [...this.#trials, startedAt];
    limit.take(call.path, call.server);
    const running = { call, startedAt };
    this.#running.add(running);
    const tokenCall = call.path === 'websocket' ? this.#countTokenCall(call.server, startedAt) : undefined;
    try {
      return await make();
    } catch (error) {
      if (tokenCall !== undefined) tokenCall.isRejected = error instanceof PanelError && error.status === 401;
      throw error;
    } finally {
      if (tokenCall !== undefined) tokenCall.at = clock.now();
      this.#running.delete(running);
      this.pump();
    }
  }

  #countTokenCall(server: string, at: number): TokenCall {
    const made: TokenCall = { at, isRejected: false };
    this.#tokenCalls.set(server, [...(this.#tokenCalls.get(server) ?? []), made].slice(-TOKEN_CALLS));
    return made;
  }
}

type Run = () => Promise<unknown>;

/** What p-queue stores with a call. */
interface CallOptions extends QueueAddOptions {
  readonly call: Call;
}

interface Waiting {
  readonly call: Call;
  readonly id: string | undefined;
  readonly run: Run;
}

/** What waits, by deadline, and when the first of it may start. */
class Line {
  readonly #clock: Clock;
  readonly #traffic: () => Traffic;
  readonly #wake: () => void;
  #waiting: Waiting[] = [];
  /** The first that may start; undefined if none may before `#idleUntil`. */
  #next: Waiting | undefined;
  #idleUntil = Number.NEGATIVE_INFINITY;
  #cancelTimer: Cancel = () => undefined;

  constructor(clock: Clock, traffic: () => Traffic, wake: () => void) {
    this.#clock = clock;
    this.#traffic = traffic;
    this.#wake = wake;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Forgets when something may start, because something changed. */
  look(): void {
    this.#next = undefined;
    this.#idleUntil = Number.NEGATIVE_INFINITY;
  }

  add(waiting: Waiting): void {
    let low = 0;
    let high = this.#waiting.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#waiting[middle]?.call.deadline ?? 0) <= waiting.call.deadline) low = middle + 1;
      else high = middle;
    }
    this.#waiting.splice(low, 0, waiting);
    const now = this.#clock.now();
    // Nothing else may start, so only this one is asked about.
    if (this.#next !== undefined || this.#idleUntil <= now) return this.look();
    const start = startAt(waiting.call, this.#traffic(), now);
    if (start.at <= now) this.#next = waiting;
    else if (start.at < this.#idleUntil) this.#rest(start.at);
  }

  remove(id: string): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting.id !== id);
    this.look();
  }

  /** The first that may start now. */
  get next(): Waiting | undefined {
    const now = this.#clock.now();
    if (this.#next === undefined && this.#idleUntil <= now) this.#find(now);
    return this.#next;
  }

  /** Removes the first that may start now. */
  take(): Waiting | undefined {
    const { next } = this;
    if (next !== undefined) this.#waiting.splice(this.#waiting.indexOf(next), 1);
    this.look();
    return next;
  }

  stop(): void {
    this.#cancelTimer();
  }

  #find(now: number): void {
    const traffic = this.#traffic();
    let earliest = this.#waiting.length === 0 ? Number.POSITIVE_INFINITY : anyStartAt(traffic);
    if (earliest <= now) {
      earliest = Number.POSITIVE_INFINITY;
      // Thousands may wait for one thing: it is looked at once.
      const held = new Set<string>();
      for (const waiting of this.#inOrder()) {
        const group = groupOf(waiting.call);
        if (held.has(group)) continue;
        const start = startAt(waiting.call, traffic, now);
        if (start.at <= now) {
          this.#next = waiting;
          return;
        }
        if (!isOwn(start)) held.add(group);
        earliest = Math.min(earliest, start.at);
      }
    }
    this.#rest(earliest);
  }

  /** What tries something goes before all deadlines. */
  #inOrder(): readonly Waiting[] {
    const trials = this.#waiting.filter(({ call }) => call.tries() !== undefined);
    return trials.length === 0 ? this.#waiting : [...trials, ...this.#waiting];
  }

  #rest(until: number): void {
    this.#idleUntil = until;
    this.#cancelTimer();
    const delayMs = until - this.#clock.now();
    this.#cancelTimer = Number.isFinite(until) ? this.#clock.schedule(delayMs, this.#wake) : () => undefined;
  }
}

/** Calls of one group are held for the same reasons, except for those of a single server. */
function groupOf({ path, node, tries, isRetry, isRefresh }: Call): string {
  return `${path} ${String(isRetry?.())} ${String(isRefresh)} ${tries() ?? ''} ${node() ?? ''}`;
}

function isOwn({ why }: Start): boolean {
  return why === 'token' || why === 'pause';
}

interface QueueOf {
  readonly size: number;
  filter(): Run[];
  dequeue(): Run | undefined;
  enqueue(run: Run, options?: Partial<CallOptions>): void;
  setPriority(): void;
  remove(id: string): void;
}

/** A queue for p-queue that has only what may start now. */
function queueClassOf(line: Line): new () => QueueOf {
  return class implements QueueOf {
    get size(): number {
      return line.next === undefined ? 0 : 1;
    }

    enqueue(run: Run, { call, id }: Partial<CallOptions> = {}): void {
      if (call !== undefined) line.add({ call, id, run });
    }

    dequeue(): Run | undefined {
      return line.take()?.run;
    }

    remove(id: string): void {
      line.remove(id);
    }

    filter(): Run[] {
      return [];
    }

    setPriority(): void {
      // Deadlines don't change.
    }
  };
}
