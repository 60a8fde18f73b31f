// Runs queries in a thread, because a hostile response may keep a decoder busy.

import { Worker } from 'node:worker_threads';
import { DIST_URL } from '../build-info.ts';
import { stopwatch, TOO_MUCH } from './cpu-stopwatch.ts';
import type { Answer, Question } from './query-model.ts';

/** Queries game servers for their number of players. */
export interface QueryClient {
  /**
   * Rejects only if queries are impossible. An abort withdraws the query, after which it may never
   * settle.
   */
  query(question: Question, signal: AbortSignal): Promise<Answer>;
  /** Ends all queries and frees the client's resources. */
  stop?(): Promise<void>;
}

/**
 * A message to or from the thread: a question, its withdrawal if there is no question, or its
 * answer.
 */
export interface Message {
  readonly id: number;
  readonly question?: Question | undefined;
  readonly answer?: Answer;
}

/** The CPU time for one query's responses after which the thread is replaced. */
const MAX_BUSY_MS = 250;
const CHECK_MS = 50;

/**
 * Several times the memory that 32 concurrent queries need. The young generation is small because
 * the limit is checked only between collections: if a collection moves more than Node's reserve,
 * the process ends instead of the thread.
 */
const MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 };

interface RunningQuery {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Queries games in a thread, which starts with the first query. Whatever a response does to its
 * decoder, only the thread has to be replaced: the query whose response was being decoded fails,
 * and the others are repeated.
 */
export class QueryThread implements QueryClient {
  readonly #program: URL;
  readonly #calls = new Map<number, RunningQuery>();
  #lastId = 0;
  #worker: Worker | undefined;
  /**
   * The query whose response the thread is decoding, or 0, in memory that is shared with the
   * thread.
   */
  #decoding = new Float64Array(new SharedArrayBuffer(8));
  /** The query whose response was being decoded at earlier checks, and for how long. */
  #busy = { id: 0, ms: stopwatch() };

  /** `program` is the thread's file, which is part of the build. */
  constructor(program = new URL('query-worker.js', DIST_URL)) {
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

  /** Ends the thread and all queries. */
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
   * Replaces a thread that is stuck or has ended while it decoded a response to the query
   * `culprit`. If there is no such query, a new thread would end as well.
   */
  #replace(culprit = 0): void {
    if (culprit === 0) return void this.stop();
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#end(culprit, { query_problem: { cause: 'query_wrong_protocol', detail: TOO_MUCH } });
    for (const id of this.#calls.keys()) this.#post(id);
  }
}
