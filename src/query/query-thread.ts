// Runs queries in a thread of their own, because a hostile response may keep a decoder busy.

import { Worker } from 'node:worker_threads';
import { BUILT } from '../build-info.ts';
import { stopwatch, TOO_MUCH } from './cpu-stopwatch.ts';
import type { Answer, Question } from './query-model.ts';

/** Queries game servers for their number of players. */
export interface QueryClient {
  /**
   * Rejects only if queries are impossible. An abort withdraws the query; then it may never end.
   */
  query(question: Question, signal: AbortSignal): Promise<Answer>;
  /** Ends its queries, and what it needs for them. */
  stop?(): Promise<void>;
}

/** Asks the thread a question, withdraws it if there is none, or returns the answer. */
export interface Message {
  readonly id: number;
  readonly question?: Question | undefined;
  readonly answer?: Answer;
}

/** A thread that is busy with one query's responses for this much CPU time is replaced. */
const MAX_BUSY_MS = 250;
const CHECK_MS = 50;

/**
 * Several times what 32 concurrent queries need. The young generation is small because the limit is
 * checked only between collections: a collection that moves more than the reserve that Node keeps
 * would end the process instead of the thread.
 */
const MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 };

interface RunningQuery {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Queries games in a thread, which starts with the first query: whatever a response does to its
 * decoder, only the thread has to be replaced. Then the query whose response was being decoded
 * fails, and the others are asked again.
 */
export class QueryThread implements QueryClient {
  readonly #program: URL;
  readonly #calls = new Map<number, RunningQuery>();
  #lastId = 0;
  #worker: Worker | undefined;
  /** The query whose response the thread decodes, or 0: memory that is shared with the thread. */
  #decoding = new Float64Array(new SharedArrayBuffer(8));
  /** The query whose response was being decoded at earlier checks, and for how long. */
  #busy = { id: 0, ms: stopwatch() };

  /** The program of the thread is part of the build. */
  constructor(program = new URL('query-worker.js', BUILT)) {
    this.#program = program;
  }

  query(question: Question, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const id = (this.#lastId += 1);
      this.#calls.set(id, { question, resolve, reject });
      signal.addEventListener('abort', () => this.#calls.delete(id) && this.#post(id), { once: true });
      this.#post(id);
    });
  }

  /** Ends the thread, and every query. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    for (const { reject } of this.#calls.values()) reject(new Error('the thread for queries ended'));
    this.#calls.clear();
    await worker?.terminate();
  }

  /** Sends this query to the thread, or withdraws it. */
  #post(id: number): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage({ id, question: this.#calls.get(id)?.question } satisfies Message, []);
  }

  #start(): Worker {
    this.#decoding = new Float64Array(new SharedArrayBuffer(8));
    const worker = new Worker(this.#program, {
      name: 'queries',
      workerData: this.#decoding,
      resourceLimits: MEMORY,
      execArgv: [],
      env: {},
    });
    worker.unref();
    const checks = setInterval(() => this.#check(), CHECK_MS).unref();
    worker.on('message', ({ id, answer = {} }: Message) => this.#end(id, answer));
    // An error, such as too much memory, is followed by the exit.
    worker.on('error', () => {});
    worker.on('exit', () => {
      clearInterval(checks);
      if (this.#worker === worker) this.#replace(this.#decoding[0]);
    });
    return worker;
  }

  #end(id: number, answer: Answer): void {
    this.#calls.get(id)?.resolve(answer);
    this.#calls.delete(id);
  }

  #check(): void {
    const [id = 0] = this.#decoding;
    if (id === 0 || id !== this.#busy.id) this.#busy = { id, ms: stopwatch() };
    else if (this.#busy.ms() >= MAX_BUSY_MS) this.#replace(id);
  }

  /**
   * Replaces a thread that is stuck, or has ended, while it decoded a response to this query. If
   * there is no such query, the next thread would end as well.
   */
  #replace(culprit = 0): void {
    if (culprit === 0) return void this.stop();
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#end(culprit, { query_problem: { cause: 'query_wrong_protocol', detail: TOO_MUCH } });
    for (const id of this.#calls.keys()) this.#post(id);
  }
}
