import { Worker } from 'node:worker_threads';
import { BUILT } from '../build-info.ts';
import { SystemClock, sleep } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';
import { inScope } from '../domain/until-aborted.ts';
import { Attempt, type AttemptOptions } from './attempt.ts';
import {
  type Asked,
  inSeconds,
  type Players,
  QUERY_DEADLINE_MS,
  QUERY_FAILURES,
  type QueryClient,
  type QueryFailure,
  type QueryTarget,
} from './client.ts';
import type { News, Order, Start } from './network.ts';
import { type Way, waysOf } from './types.ts';

/** Queries that begin within this time begin together: waking the decoding thread costs more than its work. */
const GATHER_MS = 100;

/** While one protocol is awaited at a port, the next one is tried after this time, so that its server's response isn't late. */
const NEXT_PROTOCOL_MS = 400;

/** The number of servers whose successful way is remembered. */
const MAX_REMEMBERED = 20_000;

/** The ways to query a port of an address. */
interface Place {
  readonly ip: string;
  readonly ways: readonly Way[];
}

interface KnownWay extends Way {
  readonly ip: string;
}

/**
 * Queries games in the ways of their types. Ports are tried one after another, each for its share of the time, so that a port that
 * may belong to another server never responds in place of a slow one.
 */
export class GameClient implements QueryClient {
  readonly #options: AttemptOptions;
  /** The way that succeeded for servers that don't respond to the first one. */
  readonly #known = new Map<string, KnownWay>();
  #gathering: Promise<void> | undefined;

  constructor(options: AttemptOptions) {
    this.#options = options;
  }

  async query(target: QueryTarget, signal: AbortSignal): Promise<Asked> {
    await this.#gathered();
    const { clock } = this.#options;
    const startedAt = clock.now();
    const passedMs = () => clock.now() - startedAt;
    const places = this.#placesOf(target);
    const failures: QueryFailure[] = [];
    for (const [index, place] of places.entries()) {
      if (signal.aborted) break;
      const shareMs = (QUERY_DEADLINE_MS - passedMs()) / (places.length - index);
      const answer = await this.#queryPlace(target, place, failures, shareMs, signal);
      if (answer !== undefined) return { ...answer, durationSeconds: inSeconds(passedMs()) };
    }
    return { problem: combined(failures), durationSeconds: inSeconds(passedMs()) };
  }

  #gathered(): Promise<void> {
    this.#gathering ??= new Promise((resolve) => {
      this.#options.clock.schedule(GATHER_MS, () => {
        this.#gathering = undefined;
        resolve();
      });
    });
    return this.#gathering;
  }

  /** Queries a port of an address in several ways; the first response ends it. */
  #queryPlace(
    target: QueryTarget,
    { ip, ways }: Place,
    failures: QueryFailure[],
    withinMs: number,
    signal: AbortSignal,
  ): Promise<Players | undefined> {
    const { clock } = this.#options;
    return inScope(signal, async (scope) => {
      let answer: Players | undefined;
      const run = async (way: Way) => {
        const result = await new Attempt({ ...target, ip }, way, this.#options, scope.signal).result;
        if ('cause' in result) failures.push(result);
        else {
          answer ??= result;
          this.#remember(target, { ...way, ip });
          scope.abort();
        }
      };
      const cancel = clock.schedule(withinMs, () => scope.abort());
      const runs: Promise<void>[] = [];
      try {
        for (const way of ways) {
          if (scope.signal.aborted) break;
          const latest = run(way);
          runs.push(latest);
          await Promise.race([latest, sleep(clock, NEXT_PROTOCOL_MS, scope.signal).catch(() => {})]);
        }
        await Promise.all(runs);
        return answer;
      } finally {
        cancel();
        scope.abort();
      }
    });
  }

  /** Where and how to query a server: the address, port and protocol that responded last time come first. */
  #placesOf(target: QueryTarget): readonly Place[] {
    const known = this.#known.get(keyOf(target));
    const first = <Item>(items: readonly Item[], item: Item | undefined) =>
      items.toSorted((a, b) => Number(b === item) - Number(a === item));
    const ways = waysOf(target);
    const ports = first([...new Set(ways.map(({ port }) => port))], known?.port);
    return ports.flatMap((port) => {
      const here = ways.filter((way) => way.port === port);
      const ordered = first(
        here,
        here.find(({ protocol }) => protocol === known?.protocol),
      );
      return first([target.ip, ...(target.otherIps ?? [])], known?.ip).map((ip) => ({ ip, ways: ordered }));
    });
  }

  #remember(target: QueryTarget, way: KnownWay): void {
    const key = keyOf(target);
    this.#known.delete(key);
    this.#known.set(key, way);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }
}

function keyOf({ type, ip, port, isQueryPort }: QueryTarget): string {
  return [type, ip, port, isQueryPort].join(' ');
}

/** The most informative cause, and what happened at each address and port. */
function combined(failures: readonly QueryFailure[]): Problem {
  const rank = ({ cause }: QueryFailure) => QUERY_FAILURES.indexOf(cause);
  const ordered = failures.toSorted((a, b) => rank(a) - rank(b));
  const details = new Set(ordered.map(({ detail }) => detail));
  return { cause: ordered[0]?.cause ?? 'query_no_answer', detail: [...details].join('; ') || 'not queried' };
}

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

// Memory that both threads share: the number of the response being decoded, 0 if there is none, and the attempt whose response was
// decoded last.
export const DECODING = 0;
export const DECODED = 1;

/** A response that is still being decoded after this much CPU time, between two checks, takes too much: about 50 ms in all. */
const CHECK_MS = 25;

/**
 * Several times what 32 concurrent queries need. The young generation is small because the limit is checked only between
 * collections: a collection that moves more than the reserve that Node keeps would end the process instead of the thread.
 */
const MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 };

/** Numbers of attempts and responses start again after this one. */
export const MAX_NUMBER = 2 ** 31 - 1;

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
 * Queries a panel's game servers, with their protocols in a thread of its own, which starts with the first query: whatever a response
 * does to its decoder, only this thread has to be replaced. The attempt whose response was decoded last then fails, and the others
 * start again.
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
    this.#lastId = (this.#lastId % MAX_NUMBER) + 1;
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
    let decoding = 0;
    let cpu = process.cpuUsage();
    const check = () => {
      const before = decoding;
      decoding = Atomics.load(state, DECODING);
      if (decoding !== before) cpu = process.cpuUsage();
      // On a busy machine, the thread may have waited for a core.
      else if (decoding !== 0 && cpuMsSince(cpu) >= CHECK_MS) this.#lost(thread);
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

/** The CPU time of the process since an earlier reading, in milliseconds. */
function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
