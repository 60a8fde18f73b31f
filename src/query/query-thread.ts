import { Worker } from 'node:worker_threads';
import { BUILT } from '../build-info.ts';
import { SystemClock } from '../domain/clock.ts';
import { GameClient } from './game-client.ts';
import type { News, Order, Start } from './network.ts';

/** What the thread receives about an attempt. */
export interface ToQueryThread {
  readonly id: number;
  readonly news: News | Start;
}

/** What an attempt's protocol requests. */
export interface FromQueryThread {
  readonly id: number;
  readonly order: Order;
}

// Memory that both threads share: a counter that the thread increases while it isn't stuck, and the attempt whose response it
// decoded last.
export const BEATS = 0;
export const DECODED = 1;

/** How often the thread increases its counter. */
export const BEAT_MS = 250;

/** A thread whose counter is unchanged at this many checks in a row is stuck. */
const CHECK_MS = 500;
const MISSED_CHECKS = 2;

/**
 * Several times what 32 concurrent queries need. The young generation is small because the limit is checked only between
 * collections: a collection that moves more than the reserve that Node keeps would end the process instead of the thread.
 */
const MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 };

const MAX_ID = 2 ** 31 - 1;

interface Thread {
  readonly worker: Worker;
  readonly state: Int32Array;
  readonly checks: NodeJS.Timeout;
}

interface Running {
  readonly start: Start;
  readonly hear: (order: Order) => void;
}

/**
 * Queries game servers, with their protocols in a thread of its own, which starts with the first query: whatever a response does to
 * its decoder, only this thread has to be replaced. The attempt whose response was decoded last then fails, and the others start again.
 */
export class QueryThread extends GameClient {
  readonly #program: URL;
  readonly #running = new Map<number, Running>();
  #thread: Thread | undefined;
  #lastId = 0;

  /** The program of the thread is part of the build. */
  constructor(program = new URL('query-worker.js', BUILT)) {
    super({ clock: new SystemClock(), run: (start, hear) => this.#run(start, hear) });
    this.#program = program;
  }

  /** Ends the thread, and every attempt. */
  async stop(): Promise<void> {
    const ended = this.#end();
    for (const { hear } of this.#running.values()) hear({ do: 'crash' });
    await ended;
  }

  #run(start: Start, hear: Running['hear']): (news: News) => void {
    this.#lastId = (this.#lastId % MAX_ID) + 1;
    const id = this.#lastId;
    this.#running.set(id, { start, hear });
    this.#begin(id, start);
    return (news) => {
      if (news.on === 'end') this.#running.delete(id);
      this.#thread?.worker.postMessage({ id, news } satisfies ToQueryThread, []);
    };
  }

  #begin(id: number, news: Start): void {
    this.#thread ??= this.#start();
    this.#thread.worker.postMessage({ id, news } satisfies ToQueryThread, []);
  }

  #start(): Thread {
    const state = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    const worker = new Worker(this.#program, {
      name: 'queries',
      workerData: state,
      resourceLimits: MEMORY,
      execArgv: [],
      env: {},
    });
    worker.unref();
    let [beats, missed] = [0, 0];
    const check = () => {
      const before = beats;
      beats = Atomics.load(state, BEATS);
      // It isn't stuck while it starts.
      missed = beats === before && beats > 0 ? missed + 1 : 0;
      if (missed >= MISSED_CHECKS) this.#lost(thread);
    };
    const thread: Thread = { worker, state, checks: setInterval(check, CHECK_MS).unref() };
    worker.on('message', ({ id, order }: FromQueryThread) => {
      if (this.#thread === thread) this.#running.get(id)?.hear(order);
    });
    // An error, such as too much memory, is followed by the exit.
    worker.on('error', () => {});
    worker.on('exit', () => this.#thread === thread && this.#lost(thread));
    return thread;
  }

  async #end(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    clearInterval(thread?.checks);
    await thread?.worker.terminate();
  }

  /** The thread is stuck or has ended. */
  #lost({ state }: Thread): void {
    void this.#end();
    const culprit = Atomics.load(state, DECODED);
    for (const [id, { start, hear }] of this.#running) {
      // Without any response, it isn't a response that ends the thread, and the next one would end as well.
      if (culprit === 0) hear({ do: 'crash' });
      else if (id === culprit) hear({ do: 'fail', words: 'decoding the response takes too much' });
      else {
        hear({ do: 'restart' });
        this.#begin(id, start);
      }
    }
  }
}
