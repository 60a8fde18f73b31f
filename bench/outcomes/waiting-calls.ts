// Calls of a fleet that wait for different reasons while other calls start.
import type { Call } from '../../src/panel/scheduler/call.ts';
import { RateLimit } from '../../src/panel/scheduler/rate-limit.ts';
import { Scheduler, type SchedulerOptions } from '../../src/panel/scheduler/scheduler.ts';
import { PLACES } from '../../src/panel/scheduler/start-rules.ts';
import { deferred } from '../../test/support/deferred.ts';
import { type Layout, nodeName, serverOf, settled } from './failing-health.ts';
import { StillClock } from './still-clock.ts';

/** A call that runs until `end` is called. */
export interface Begun {
  readonly started: Promise<void>;
  readonly result: Promise<unknown>;
  readonly end: () => void;
}

/** The node of calls that no rule holds. */
export const FREE_NODE = 'free';

export class WaitingCalls {
  readonly clock = new StillClock();
  readonly limit: RateLimit;
  readonly scheduler: Scheduler;
  readonly layout: Layout;
  /** The running calls, in the order of their starts. */
  readonly #running = new Set<Pick<Begun, 'end' | 'result'> & { readonly server: string }>();

  constructor(layout: Layout, holds: SchedulerOptions['holds'] = () => undefined, perMinute = 1e9) {
    const { clock } = this;
    this.layout = layout;
    this.limit = new RateLimit(clock, { pinnedPerMinute: perMinute });
    const isRejected = () => false;
    const isBlamed = () => false;
    this.scheduler = new Scheduler({ clock, panel: 'main', limit: this.limit, isRejected, holds, isBlamed });
    this.scheduler.connectEnded('streams', FREE_NODE);
  }

  /**
   * Makes a call: by default, for a token of a server that has streamed before. Calls with a low
   * deadline start first.
   */
  run(server: string, one: Partial<Call> = {}): Begun {
    const call: Call = {
      path: 'websocket',
      server,
      node: () => FREE_NODE,
      deadline: 0,
      tries: () => undefined,
      ...one,
    };
    const [started, made] = [deferred<void>(), deferred<void>()];
    const running = { server, end: made.resolve, result: made.promise as Promise<unknown> };
    // The call may start before `run` returns.
    running.result = this.scheduler.run(call, new AbortController().signal, () => {
      this.#running.add(running);
      started.resolve();
      return made.promise.finally(() => this.#running.delete(running));
    });
    // When the scheduler stops, it withdraws waiting calls, which rejects their promises.
    running.result.catch(() => undefined);
    return { started: started.promise, result: running.result, end: made.resolve };
  }

  /** Lets one call of each server wait. */
  async all(one: (index: number) => Partial<Call>): Promise<void> {
    for (let index = 0; index < this.layout.servers; index += 1) {
      this.run(serverOf(index), {
        node: () => nodeName(index, this.layout),
        deadline: 1_000 + ((index * 7_919) % this.layout.servers),
        ...one(index),
      });
      this.clock.at += 0.01;
    }
    await settled();
  }

  /** Starts calls that take all places. */
  async takePlaces(): Promise<void> {
    for (let place = 0; place < PLACES; place += 1) this.run(`busy ${place}`);
    await settled();
  }

  /** Ends the call that started first. */
  endOldest(): Promise<unknown> {
    const [oldest] = this.#running;
    if (oldest === undefined) throw new Error('no call runs');
    this.#running.delete(oldest);
    oldest.end();
    this.scheduler.connectEnded(oldest.server, undefined);
    return oldest.result;
  }

  get waiting(): number {
    return this.scheduler.waiting;
  }

  /** Throws unless about as many calls wait as there are servers. */
  expectWaiting(): void {
    const { servers } = this.layout;
    if (Math.abs(this.waiting - servers) > PLACES)
      throw new Error(`${this.waiting} calls wait of ${servers}`);
  }

  stop(): void {
    this.scheduler.stop();
  }
}
