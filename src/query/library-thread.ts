import { Worker } from 'node:worker_threads';
import { BUILT } from '../build-info.ts';
import type { News, Server, Step } from './protocol.ts';

/** What the thread receives; it returns the step. */
export interface ToLibrary {
  readonly protocol: string;
  readonly server: Server;
  readonly news: readonly News[];
}

/** Tells the program that it runs in this thread. */
export const THREAD = 'queries';

/** A run that takes more CPU time than this fails. */
export const MAX_RUN_MS = 50;

/** A thread that is busy with one run for this much CPU time is replaced. */
const MAX_BUSY_MS = 250;
const CHECK_MS = 50;

/** Why a run fails that takes too much. */
export const TOO_MUCH: Step = { orders: [], unreadable: 'decoding the response takes too much' };

/**
 * Several times what 32 concurrent queries need. The young generation is small because the limit is checked only between
 * collections: a collection that moves more than the reserve that Node keeps would end the process instead of the thread.
 */
const MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 };

const ENDED = 'the thread for queries ended';

interface Call {
  readonly message: ToLibrary;
  readonly resolve: (step: Step) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The library, in a thread that has no sockets and starts with the first call: whatever a response does to its decoder, only the thread
 * has to be replaced. It gets one call after another and keeps nothing between them, so only the call that it was busy with fails.
 */
export class LibraryThread {
  readonly #program: URL;
  /** The first one is under way. */
  readonly #calls = new Set<Call>();
  #worker: Worker | undefined;
  #checks: NodeJS.Timeout | undefined;
  #cpu = process.cpuUsage();
  #isStopped = false;

  /** The program of the thread is part of the build. */
  constructor(program = new URL('query-worker.js', BUILT)) {
    this.#program = program;
  }

  /** Runs a protocol of the library with the news so far, unless the signal aborts before. Rejects if the thread can't run. */
  run(protocol: string, server: Server, news: readonly News[], signal: AbortSignal): Promise<Step> {
    return new Promise((resolve, reject) => {
      if (this.#isStopped) reject(new Error(ENDED));
      const call = { message: { protocol, server, news }, resolve, reject };
      this.#calls.add(call);
      signal.addEventListener('abort', () => call !== this.#current && this.#calls.delete(call), {
        once: true,
      });
      if (call === this.#current) this.#post();
    });
  }

  /** Ends the thread, and every call. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#end();
    this.#rejectAll();
  }

  get #current(): Call | undefined {
    const [first] = this.#calls;
    return first;
  }

  #post(): void {
    const call = this.#current;
    if (call === undefined || this.#isStopped) return;
    this.#worker ??= this.#start();
    this.#cpu = process.cpuUsage();
    this.#worker.postMessage(call.message, []);
  }

  #finish(call: Call | undefined, step: Step): void {
    if (call === undefined) return;
    this.#calls.delete(call);
    call.resolve(step);
    this.#post();
  }

  #start(): Worker {
    const worker = new Worker(this.#program, {
      name: THREAD,
      workerData: THREAD,
      resourceLimits: MEMORY,
      execArgv: [],
      env: {},
    });
    worker.unref();
    worker.on('message', (step: Step) => this.#worker === worker && this.#finish(this.#current, step));
    // An error, such as too much memory, is followed by the exit.
    worker.on('error', () => {});
    worker.on('exit', () => this.#worker === worker && this.#replace());
    const check = () => {
      // On a busy machine, the thread may have waited for a core.
      if (this.#calls.size > 0 && cpuMsSince(this.#cpu) >= MAX_BUSY_MS) this.#replace();
    };
    this.#checks = setInterval(check, CHECK_MS).unref();
    return worker;
  }

  /** The thread is stuck or has ended. */
  #replace(): void {
    void this.#end();
    // Without any response, it isn't a response that ends the thread, and the next one would end as well.
    if (this.#current?.message.news.length === 0) this.#rejectAll();
    this.#finish(this.#current, TOO_MUCH);
  }

  #rejectAll(): void {
    for (const { reject } of this.#calls) reject(new Error(ENDED));
    this.#calls.clear();
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    clearInterval(this.#checks);
    await worker?.terminate();
  }
}

/** The CPU time of the process since an earlier reading, in milliseconds. */
export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
