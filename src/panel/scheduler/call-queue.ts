/** The waiting calls in the form of p-queue's queue, whose size is 1 while a call may start. */
import type { Queue, QueueAddOptions } from 'p-queue';
import type { Cancel, Clock } from '../../domain/clock.ts';
import type { Call } from './call.ts';
import type { CallLines, WaitingCall } from './call-lines.ts';
import type { RateLimit } from './rate-limit.ts';
import { type Backlog, Shortage } from './shortage.ts';
import { startAt, type Traffic } from './start-rules.ts';

export type Job = () => Promise<unknown>;

export interface JobOptions extends QueueAddOptions {
  readonly call: Call;
}

export interface CallQueueOptions {
  readonly clock: Clock;
  readonly lines: CallLines<Job>;
  readonly limit: () => Pick<RateLimit, 'limitPerMinute' | 'opensAt'>;
  readonly traffic: (isShort: boolean) => Traffic;
  readonly hasPlace: (call: Call) => boolean;
  /** Makes p-queue check again whether a call may start. */
  readonly lookAgain: () => void;
}

/** Decides which call p-queue starts next, once per change. */
export class CallQueue {
  readonly #options: CallQueueOptions;
  /** Undefined if it isn't decided yet. */
  #next: WaitingCall<Job> | 'none' | undefined;
  #cancelTimer: Cancel = () => undefined;
  readonly #shortage: Shortage;

  constructor(options: CallQueueOptions) {
    this.#options = options;
    this.#shortage = new Shortage(options.lines, () => options.limit().limitPerMinute);
  }

  get backlog(): Backlog | undefined {
    return this.#shortage.backlog;
  }

  /** Whether the servers need more calls than the rate limit allows. */
  set isOverbooked(isOverbooked: boolean) {
    this.#shortage.isOverbooked = isOverbooked;
  }

  /** Decides again after a change. */
  changed(): void {
    this.#next = undefined;
    this.#options.lookAgain();
  }

  /** Removes the waiting call with this id. */
  withdrawn(id: string): void {
    this.#remove(id);
    this.#options.lookAgain();
  }

  stop(): void {
    this.#cancelTimer();
  }

  /** The call that may start now. If there is none, a timer checks again when one may. */
  #first(): WaitingCall<Job> | undefined {
    this.#next ??= this.#decide() ?? 'none';
    return this.#next === 'none' ? undefined : this.#next;
  }

  #decide(): WaitingCall<Job> | undefined {
    const { clock, lines, limit, hasPlace } = this.#options;
    const now = clock.now();
    const { opensAt } = limit();
    for (;;) {
      this.#updateShortage(now);
      const traffic = this.#options.traffic(this.#shortage.isPresent);
      // Examined even if the window is closed, because calls that other rules also hold are no
      // shortage.
      const first = lines.next(now, hasPlace, (call) => startAt(call, traffic, now));
      this.#shortage.followConnects(now);
      if (first !== undefined && opensAt <= now) return first;
      // If the examined connects are held, there is no shortage any more: decides again.
      if (traffic.isShort && !this.#shortage.isDue(now)) continue;
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

  #updateShortage(now: number): void {
    if (this.#shortage.update(now)) this.#options.lines.opened('gate shortage');
  }

  /** The class from which p-queue creates its queue. */
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
        // Ignored, because deadlines don't change.
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
    this.#shortage.followConnects(now);
    // p-queue doesn't check again when a call is withdrawn.
    if (this.#shortage.isPresent) this.#updateShortage(now);
  }
}
