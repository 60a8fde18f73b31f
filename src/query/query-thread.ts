import { Worker } from 'node:worker_threads';
import { BUILT } from '../build-info.ts';
import { type Cancel, SystemClock } from '../domain/clock.ts';
import {
  type Attempt,
  QUERY_DEADLINE_MS,
  type QueryClient,
  type QueryOutcome,
  type QueryTarget,
} from './client.ts';
import type { GameAnswer } from './query-game.ts';
import { Wire, type WireEvent, type WireOrder } from './wire.ts';

/** What the thread is told. */
export type ToQueryThread =
  | {
      readonly do: 'query';
      readonly id: number;
      readonly target: QueryTarget;
      readonly withinMs: number;
      /** The attempt that succeeded last time. */
      readonly known: Attempt | undefined;
    }
  | { readonly do: 'withdraw'; readonly id: number }
  | { readonly do: 'wire'; readonly wire: number; readonly event: WireEvent };

/** What the thread tells. */
export type FromQueryThread =
  | ({ readonly do: 'answer'; readonly id: number } & GameAnswer)
  | {
      readonly do: 'wire';
      readonly id: number;
      readonly wire: number;
      readonly port: number;
      readonly order: WireOrder;
    };

// Memory that both threads share: a counter that the thread increases while it isn't stuck, and the query whose answer it decoded
// last.
export const BEATS = 0;
export const DECODED = 1;

/** How often the thread increases its counter. */
export const BEAT_MS = 250;

/**
 * Queries that begin within this time are sent together, and so are most of the messages that follow: waking a thread costs more
 * than a message.
 */
const GATHER_MS = 100;

/** A thread whose counter is unchanged at this many checks in a row is stuck. */
const CHECK_MS = 500;
const MISSED_CHECKS = 2;

/**
 * Several times what 32 concurrent queries need. The young generation is small because the limit is checked only between
 * collections: a collection that moves more than the reserve that Node keeps would end the process instead of the thread.
 */
const MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 };

/** The number of servers whose successful attempt is remembered. */
const MAX_REMEMBERED = 20_000;

const MAX_ID = 2 ** 31 - 1;

interface Thread {
  readonly worker: Worker;
  readonly state: Int32Array;
  /** The counter at the last check. */
  beats: number;
  missed: number;
}

/** A query under way. */
interface Query {
  readonly target: QueryTarget;
  readonly askedAt: number;
  readonly wires: Map<number, Wire>;
  readonly end: (outcome: QueryOutcome | Promise<never>) => void;
}

/**
 * Queries game servers in a thread of its own, which starts with the first query: whatever an answer does to its decoder, only
 * this thread has to be replaced. The query whose answer was decoded last then fails, and the others are asked again.
 */
export class QueryThread implements QueryClient {
  /** The thread's counter follows real time. */
  readonly #clock = new SystemClock();
  readonly #program: URL;
  readonly #queries = new Map<number, Query>();
  /** The attempt that succeeded for servers that don't answer the first one. */
  readonly #answeredBy = new Map<string, Attempt>();
  #thread: Thread | undefined;
  #cancelCheck: Cancel | undefined;
  #outbox: ToQueryThread[] = [];
  #cancelGathering: Cancel | undefined;
  #flushing: NodeJS.Immediate | undefined;
  #lastId = 0;

  /** The program of the thread is part of the build. */
  constructor(program = new URL('query-worker.js', BUILT)) {
    this.#program = program;
  }

  query(target: QueryTarget, signal: AbortSignal): Promise<QueryOutcome> {
    this.#lastId = (this.#lastId % MAX_ID) + 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const withdraw = () => {
        this.#tell({ do: 'withdraw', id });
        query.end(this.#failure(query, 'withdrawn'));
      };
      const end: Query['end'] = (outcome) => {
        this.#queries.delete(id);
        signal.removeEventListener('abort', withdraw);
        closeWires(query);
        resolve(outcome);
      };
      const query: Query = { target, askedAt: this.#clock.now(), wires: new Map(), end };
      if (signal.aborted) return withdraw();
      signal.addEventListener('abort', withdraw);
      this.#queries.set(id, query);
      this.#ask(id, query);
      this.#cancelCheck ??= this.#clock.schedule(CHECK_MS, () => this.#check());
    });
  }

  /** Ends the thread, and every query. */
  async stop(): Promise<void> {
    const { worker } = this.#thread ?? {};
    this.#thread = undefined;
    this.#cancelCheck?.();
    this.#cancelCheck = undefined;
    this.#empty();
    for (const query of this.#queries.values()) query.end(this.#failure(query, 'withdrawn'));
    await worker?.terminate();
  }

  #ask(id: number, { target, askedAt }: Query): void {
    const withinMs = QUERY_DEADLINE_MS - (this.#clock.now() - askedAt);
    this.#outbox.push({ do: 'query', id, target, withinMs, known: this.#answeredBy.get(keyOf(target)) });
    this.#cancelGathering ??= this.#clock.schedule(GATHER_MS, () => this.#flush());
  }

  #tell(message: ToQueryThread): void {
    this.#outbox.push(message);
    this.#flushing ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    const messages = this.#empty();
    if (messages.length === 0) return;
    this.#thread ??= this.#start();
    this.#thread.worker.postMessage(messages, []);
  }

  #empty(): readonly ToQueryThread[] {
    const messages = this.#outbox;
    this.#outbox = [];
    this.#cancelGathering?.();
    this.#cancelGathering = undefined;
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    return messages;
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
    const thread: Thread = { worker, state, beats: 0, missed: 0 };
    worker.on('message', (messages: readonly FromQueryThread[]) => {
      for (const message of messages) if (this.#thread === thread) this.#heard(message);
    });
    // An error, such as too much memory, is followed by the exit.
    worker.on('error', () => {});
    worker.on('exit', () => this.#thread === thread && this.#lost(thread));
    return thread;
  }

  #heard(message: FromQueryThread): void {
    const query = this.#queries.get(message.id);
    if (query === undefined) return;
    if (message.do === 'answer') {
      if (message.answeredBy !== undefined) this.#remember(keyOf(query.target), message.answeredBy);
      query.end(message.outcome);
    } else {
      const { wire, port, order } = message;
      const known = query.wires.get(wire);
      const used =
        known ??
        new Wire(query.target, port, this.#clock, (event) => this.#tell({ do: 'wire', wire, event }));
      if (known === undefined) query.wires.set(wire, used);
      used.obey(order);
    }
  }

  #check(): void {
    this.#cancelCheck = undefined;
    const thread = this.#thread;
    if (thread === undefined || this.#queries.size === 0) return;
    const beats = Atomics.load(thread.state, BEATS);
    // It isn't stuck while it starts.
    thread.missed = beats === thread.beats && beats > 0 ? thread.missed + 1 : 0;
    thread.beats = beats;
    if (thread.missed >= MISSED_CHECKS) this.#lost(thread);
    this.#cancelCheck = this.#clock.schedule(CHECK_MS, () => this.#check());
  }

  /** The thread is stuck or has ended. */
  #lost({ worker, state }: Thread): void {
    this.#thread = undefined;
    void worker.terminate();
    this.#empty();
    const culprit = Atomics.load(state, DECODED);
    for (const [id, query] of this.#queries) {
      closeWires(query);
      // Without any answer, it isn't an answer that ends the thread, and the next one would end as well.
      if (culprit === 0) query.end(Promise.reject(new Error('the thread for queries ended')));
      else if (id === culprit) query.end(this.#failure(query, 'decoding the answer takes too much'));
      else this.#ask(id, query);
    }
  }

  #failure({ target, askedAt }: Query, words: string): QueryOutcome {
    const durationSeconds = (this.#clock.now() - askedAt) / 1_000;
    const detail = `${target.ip}, port ${target.port}: ${words}`;
    return { ok: false, failure: 'query_wrong_protocol', detail, durationSeconds };
  }

  #remember(key: string, attempt: Attempt): void {
    this.#answeredBy.delete(key);
    this.#answeredBy.set(key, attempt);
    const [oldest] = this.#answeredBy.keys();
    if (this.#answeredBy.size > MAX_REMEMBERED && oldest !== undefined) this.#answeredBy.delete(oldest);
  }
}

function keyOf({ type, ip, port, isQueryPort }: QueryTarget): string {
  return [type, ip, port, isQueryPort].join(' ');
}

function closeWires({ wires }: Query): void {
  for (const wire of wires.values()) wire.close();
  wires.clear();
}
