import PQueue, { type Queue, type QueueAddOptions } from 'p-queue';
import type { Cancel, Clock } from '../domain/time.ts';
import { inScope } from '../domain/time.ts';
import { PanelError } from './api.ts';
import { type RateLimit, WINDOW_MS } from './rate-limit.ts';
import {
  anyStartAt,
  type Call,
  isTrial,
  type Started,
  startAt,
  type Traffic,
  tokenAt,
  trialsAt,
} from './start-at.ts';
import type { Troubles } from './troubles.ts';

export interface LaneOptions {
  readonly clock: Clock;
  /** The panel's name, for errors. */
  readonly panel: string;
  readonly limit: RateLimit;
  readonly troubles: () => Pick<Troubles, 'isKnown' | 'state' | 'respondedAt'>;
}

type RunCall = () => Promise<unknown>;

interface CallOptions extends QueueAddOptions {
  readonly call: Call;
}

/** A call that started; the panel didn't accept the API key of one that is rejected. */
interface Ran extends Started {
  endedAt: number | undefined;
  isRejected: boolean;
}

interface Waiting {
  readonly call: Call;
  readonly id: string | undefined;
  readonly run: RunCall;
}

/** The calls to one panel: each waits in one place until `startAt` lets it start; of those that may, the earliest deadline does. */
export class Lane {
  readonly #options: LaneOptions;
  readonly #queue: PQueue<Queue<RunCall, CallOptions>, CallOptions>;
  readonly #scopes = new Set<AbortController>();
  readonly #unsubscribe: () => void;
  /** In the order of their starts, from the first that runs or ended within the last minute. */
  #calls: readonly Ran[] = [];
  /** By deadline; what tries something first. */
  #waiting: Waiting[] = [];
  /** The first of them that may start, if that is known. */
  #first: Waiting | undefined;
  /** None of those that wait may start before, unless something changes. */
  #idleUntil = Number.NEGATIVE_INFINITY;
  #cancelTimer: Cancel = () => undefined;
  #isStopped = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#queue = new PQueue({ queueClass: this.#queueClass() });
    this.#unsubscribe = options.limit.onChange(() => this.pump());
  }

  /** Calls that have not started. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** May a trial of something that is blamed start now, as far as their part of the rate is concerned? */
  get hasTrialRoom(): boolean {
    return trialsAt(this.#traffic()) <= this.#options.clock.now();
  }

  /** May another credential call of this server be made now, as far as its own limit is concerned? */
  hasTokenRoom(server: string): boolean {
    return tokenAt(server, { calls: this.#calls }) <= this.#options.clock.now();
  }

  /** Makes the call when it may start; rejects with its error, or with the signal's reason as soon as that aborts. */
  async run<T>(call: Call, signal: AbortSignal, make: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#isStopped) throw this.#stopError();
    return inScope(signal, async (scope) => {
      this.#scopes.add(scope);
      try {
        return await this.#queue.add(() => this.#make(call, () => make(scope.signal)), {
          call,
          signal: scope.signal,
        });
      } finally {
        this.#scopes.delete(scope);
      }
    });
  }

  /** This server was chosen to try something: its call for a token, which may wait already, goes before all deadlines. */
  bringForward(server: string): void {
    const isMeant = ({ call }: Waiting) => call.path === 'websocket' && call.server === server;
    const others = this.#waiting.filter((waiting) => !isMeant(waiting));
    this.#waiting = [...this.#waiting.filter(isMeant), ...others];
    this.pump();
  }

  /** Starts what may start now, because something changed. */
  pump(): void {
    if (this.#isStopped) return;
    this.#first = undefined;
    this.#idleUntil = Number.NEGATIVE_INFINITY;
    this.#queue.pause();
    this.#queue.start();
  }

  /** The panel didn't accept the API key, and so didn't count these calls: another key doesn't wait for them. */
  forgetRejected(): void {
    this.#calls = this.#calls.filter(({ isRejected }) => !isRejected);
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

  #traffic(): Traffic {
    const { limit } = this.#options;
    const { isKnown, state, respondedAt } = this.#options.troubles();
    const calls = this.#calls;
    const running = calls.filter(({ endedAt }) => endedAt === undefined);
    return { isKnown, troubles: state.troubles, respondedAt, calls, running, allowance: limit.allowance };
  }

  async #make<T>(call: Call, make: () => Promise<T>): Promise<T> {
    const { clock, limit, troubles } = this.#options;
    const startedAt = clock.now();
    const started: Ran = {
      call,
      startedAt,
      endedAt: undefined,
      isTrial: isTrial(call, { troubles: troubles().state.troubles, allowance: limit.allowance }),
      isRejected: false,
    };
    const recent = this.#calls.findIndex(({ endedAt = startedAt }) => endedAt > startedAt - WINDOW_MS);
    this.#calls = recent < 0 ? [started] : [...this.#calls.slice(recent), started];
    limit.take(call.path, call.server);
    try {
      return await make();
    } catch (error) {
      started.isRejected = error instanceof PanelError && error.status === 401;
      throw error;
    } finally {
      started.endedAt = clock.now();
      this.pump();
    }
  }

  /** What p-queue sees: only what may start now. */
  #queueClass(): new () => Queue<RunCall, CallOptions> {
    const next = () => this.#next();
    const add = (waiting: Waiting) => this.#add(waiting);
    const remove = (id: string | undefined) => this.#remove(id);
    return class {
      get size(): number {
        return next() === undefined ? 0 : 1;
      }

      enqueue(run: RunCall, { call, id }: Partial<CallOptions> = {}): void {
        if (call !== undefined) add({ call, id, run });
      }

      dequeue(): RunCall | undefined {
        const first = next();
        remove(first?.id);
        return first?.run;
      }

      remove(id: string): void {
        remove(id);
      }

      filter(): RunCall[] {
        return [];
      }

      setPriority(): void {
        // Deadlines don't change.
      }
    };
  }

  #add(waiting: Waiting): void {
    const before = this.#waiting.findLastIndex(({ call }) => call.deadline <= waiting.call.deadline);
    this.#waiting.splice(before + 1, 0, waiting);
    this.#first = undefined;
    const now = this.#options.clock.now();
    // If nothing else may start, only this one is asked about.
    if (this.#idleUntil > now)
      this.#rest(Math.min(this.#idleUntil, startAt(waiting.call, this.#traffic(), now).at));
  }

  #remove(id: string | undefined): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting.id !== id);
    this.#first = undefined;
  }

  /** The first that may start now; if there is none, a timer looks again when one may. */
  #next(): Waiting | undefined {
    const now = this.#options.clock.now();
    const isDecided = this.#first !== undefined || this.#idleUntil > now || this.#waiting.length === 0;
    if (isDecided) return this.#first;
    const traffic = this.#traffic();
    let earliest = anyStartAt(traffic);
    if (earliest <= now) {
      earliest = Number.POSITIVE_INFINITY;
      // Thousands may wait for one thing: it is looked at once.
      const held = new Set<string>();
      for (const waiting of this.#waiting) {
        const group = groupOf(waiting.call);
        if (held.has(group)) continue;
        const { at, why } = startAt(waiting.call, traffic, now);
        if (at <= now) {
          this.#first = waiting;
          return waiting;
        }
        earliest = Math.min(earliest, at);
        // Without a place, none of those behind starts, since what tries something comes first.
        if (why === 'place' && waiting.call.tries() === undefined) break;
        const isOfServer = why === 'token' || why === 'pause';
        if (!isOfServer) held.add(group);
      }
    }
    this.#rest(earliest);
    return undefined;
  }

  #rest(until: number): void {
    const { clock } = this.#options;
    this.#idleUntil = until;
    this.#cancelTimer();
    if (Number.isFinite(until)) this.#cancelTimer = clock.schedule(until - clock.now(), () => this.pump());
  }
}

/** Calls of one group are held for the same reasons, except for those of a single server. */
function groupOf({ path, node, tries, isRetry, isRefresh }: Call): string {
  return `${path} ${String(isRetry?.())} ${String(isRefresh)} ${tries() ?? ''} ${node() ?? ''}`;
}
