/** The waiting calls as a queue of p-queue, whose size is 1 while one of them may start. */
import type { Queue, QueueAddOptions } from 'p-queue';
import type { Cancel, Clock } from '../../domain/time.ts';
import type { Call } from './call.ts';
import type { CallLines, Waiting } from './call-lines.ts';
import type { RateLimit } from './rate-limit.ts';
import { WINDOW_MS } from './sliding-window.ts';
import { startAt, type Traffic } from './start-rules.ts';

export type Job = () => Promise<unknown>;

export interface JobOptions extends QueueAddOptions {
  readonly call: Call;
}

/** More calls wait than the rate allows in a minute. */
export interface Backlog {
  readonly calls: number;
  /** Since when, in monotonic milliseconds. */
  readonly since: number;
}

export interface CallQueueOptions {
  readonly clock: Clock;
  readonly lines: CallLines<Job>;
  readonly limit: () => Pick<RateLimit, 'limitPerMinute' | 'opensAt'>;
  readonly traffic: (isShort: boolean) => Traffic;
  readonly hasPlace: (call: Call) => boolean;
  /** Makes p-queue look again whether a call may start. */
  readonly lookAgain: () => void;
}

/** Decides which call p-queue starts next, once for every change. */
export class CallQueue {
  readonly #options: CallQueueOptions;
  /** Undefined if it isn't decided whether a call may start. */
  #next: Waiting<Job> | 'none' | undefined;
  #cancelTimer: Cancel = () => undefined;
  #backlogSince: number | undefined;
  /** Are connects preferred? */
  #isShort = false;
  /** Since when there are connects that nothing but the rate is known to hold. */
  #connectsSince: number | undefined;
  /** The servers need more calls than the rate carries, so that deadlines alone are fair. */
  isOverbooked = false;

  constructor(options: CallQueueOptions) {
    this.#options = options;
  }

  /** Undefined unless more calls, connects among them, wait than the rate allows in a minute. */
  get backlog(): Backlog | undefined {
    const since = this.#backlogSince;
    return since === undefined ? undefined : { calls: this.#options.lines.backlog, since };
  }

  /** Something changed, so that another call may start, or none. */
  changed(): void {
    this.#next = undefined;
    this.#options.lookAgain();
  }

  /** The waiting call with this id is no longer needed. */
  withdrawn(id: string): void {
    this.#remove(id);
    this.#options.lookAgain();
  }

  stop(): void {
    this.#cancelTimer();
  }

  /** The call that may start now; if there is none, a timer looks again when one may. */
  #first(): Waiting<Job> | undefined {
    this.#next ??= this.#decide() ?? 'none';
    return this.#next === 'none' ? undefined : this.#next;
  }

  #decide(): Waiting<Job> | undefined {
    const { clock, lines, limit, hasPlace } = this.#options;
    const now = clock.now();
    const { opensAt } = limit();
    for (;;) {
      this.#followShortage(now);
      const traffic = this.#options.traffic(this.#isShort);
      // Examined even if the window is closed: calls that other rules hold, too, are no shortage.
      const first = lines.next(now, hasPlace, (call) => startAt(call, traffic, now));
      this.#followConnects(now);
      if (first !== undefined && opensAt <= now) return first;
      // If the examined connects are held, there is no shortage any more: decides again without it.
      if (traffic.isShort && !this.#mustPrefer(now)) continue;
      this.#rest(first === undefined ? Math.max(opensAt, lines.nextAt) : opensAt, now);
      return undefined;
    }
  }

  #rest(until: number, now: number): void {
    const { clock, lines } = this.#options;
    this.#cancelTimer();
    if (lines.size > 0 && Number.isFinite(until))
      this.#cancelTimer = clock.schedule(until - now, () => this.changed());
  }

  /** In an overbooked fleet, deadlines alone are fair. */
  get #mayBeShort(): boolean {
    return !this.isOverbooked && this.#options.lines.connects > 0;
  }

  get #hasBacklog(): boolean {
    const { lines, limit } = this.#options;
    return this.#mayBeShort && lines.backlog > limit().limitPerMinute;
  }

  /**
   * Polls have earlier deadlines, and come again: where they take nearly all calls, few connects
   * start, however few calls wait at once.
   */
  #haveConnectsWaited(now: number): boolean {
    return this.#mayBeShort && now - (this.#connectsSince ?? now) >= WINDOW_MS;
  }

  #mustPrefer(now: number): boolean {
    return this.#hasBacklog || this.#haveConnectsWaited(now);
  }

  /** To be called after a decision: before, any of the first calls may be held by another rule. */
  #followConnects(now: number): void {
    if (this.#options.lines.connects === 0) this.#connectsSince = undefined;
    else this.#connectsSince ??= now;
  }

  #followShortage(now: number): void {
    this.#backlogSince = this.#hasBacklog ? (this.#backlogSince ?? now) : undefined;
    const wasShort = this.#isShort;
    this.#isShort = this.#mustPrefer(now);
    if (wasShort && !this.#isShort) this.#options.lines.opened('gate shortage');
  }

  /** The class of which p-queue makes its queue. */
  get queueClass(): new () => Queue<Job, JobOptions> {
    const first = () => this.#first();
    const add = (id: string, call: Call, job: Job) => this.#add(id, call, job);
    const remove = (id: string) => this.#remove(id);
    return class {
      get size(): number {
        return first() === undefined ? 0 : 1;
      }

      enqueue(job: Job, { call, id }: Partial<JobOptions> = {}): void {
        if (call !== undefined && id !== undefined) add(id, call, job);
      }

      dequeue(): Job | undefined {
        const next = first();
        if (next !== undefined) remove(next.id);
        return next?.job;
      }

      filter(): Job[] {
        return [];
      }

      setPriority(): void {
        // Deadlines don't change.
      }
    };
  }

  #add(id: string, call: Call, job: Job): void {
    this.#options.lines.add(id, call, job);
    this.#next = undefined;
  }

  #remove(id: string): void {
    this.#options.lines.delete(id);
    this.#next = undefined;
    const now = this.#options.clock.now();
    this.#followConnects(now);
    // p-queue doesn't look again when a call is withdrawn.
    if (this.#isShort) this.#followShortage(now);
  }
}
