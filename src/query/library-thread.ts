import { Worker } from 'node:worker_threads';
import { BUILT } from '../build-info.ts';
import type { News, Server, Step } from './protocol.ts';

/** What the thread receives a list of; it returns each step as soon as it is known. */
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
 * has to be replaced. It carries out one call after another and keeps nothing between them, so only the first that it hasn't returned
 * fails.
 */
export class LibraryThread {
  readonly #program: URL;
  #waiting = new Set<Call>();
  /** What the thread has received, together, because waking it costs more than most calls. */
  #posted: Call[] = [];
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
      this.#waiting.add(call);
      signal.addEventListener('abort', () => this.#waiting.delete(call), { once: true });
      setImmediate(() => this.#post());
    });
  }

  /** Ends the thread, and every call. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#rejectAll();
    await this.#end();
  }

  #post(): void {
    if (this.#posted.length > 0 || this.#waiting.size === 0) return;
    this.#worker ??= this.#start();
    this.#posted = [...this.#waiting];
    this.#waiting.clear();
    this.#cpu = process.cpuUsage();
    this.#worker.postMessage(
      this.#posted.map(({ message }) => message),
      [],
    );
  }

  #returned(step: Step): void {
    this.#posted.shift()?.resolve(step);
    this.#cpu = process.cpuUsage();
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
    worker.on('message', (step: Step) => this.#worker === worker && this.#returned(step));
    // An error, such as too much memory, is followed by the exit.
    worker.on('error', () => {});
    worker.on('exit', () => this.#worker === worker && this.#replace());
    const check = () => {
      // On a busy machine, the thread may have waited for a core.
      if (this.#posted.length > 0 && cpuMsSince(this.#cpu) >= MAX_BUSY_MS) this.#replace();
    };
    this.#checks = setInterval(check, CHECK_MS).unref();
    return worker;
  }

  /** The thread is stuck or has ended. */
  #replace(): void {
    void this.#end();
    const [culprit, ...others] = this.#posted;
    // Without any response, it isn't a response that ends the thread, and the next one would end as well.
    if (culprit?.message.news.length === 0) return this.#rejectAll();
    this.#posted = [];
    this.#waiting = new Set([...others, ...this.#waiting]);
    culprit?.resolve(TOO_MUCH);
    this.#post();
  }

  #rejectAll(): void {
    for (const { reject } of [...this.#posted, ...this.#waiting]) reject(new Error(ENDED));
    this.#posted = [];
    this.#waiting.clear();
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
