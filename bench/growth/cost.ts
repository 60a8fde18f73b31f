// Measures the cost of work as CPU time of the main thread.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { threadTime } from '../visitors/thread-time.ts';

export interface Cost {
  /** The whole cost, in milliseconds. */
  readonly cpuMs: number;
  /** The highest cost in one turn of the event loop, in milliseconds. */
  readonly blockMs: number;
}

const readThread = threadTime();

/**
 * Reads the CPU time of the process first, because the kernel updates the file about a running
 * thread only then.
 */
function now(): number {
  process.cpuUsage();
  return readThread();
}

/**
 * A turn with less CPU time than this is idle. After this many idle turns in a row, the work is
 * over.
 */
const IDLE_MS = 0.05;
const IDLE_TURNS = 10;

/**
 * Measures work that may continue in later turns of the event loop. If it also pauses for several
 * turns, `isDone` says whether it is over.
 */
export async function costOf(work: () => unknown, isDone: () => boolean = () => true): Promise<Cost> {
  await nextTurn();
  let before = now();
  let cpuMs = 0;
  let blockMs = 0;
  const state = { isEnded: false, idle: 0 };
  const ended = Promise.resolve(work()).finally(() => {
    state.isEnded = true;
    state.idle = 0;
  });
  // The error is thrown by the `await` below.
  ended.catch(() => undefined);
  while (!state.isEnded || !isDone() || state.idle < IDLE_TURNS) {
    await nextTurn();
    const at = now();
    const tookMs = at - before;
    before = at;
    blockMs = Math.max(blockMs, tookMs);
    // An idle turn isn't counted, because it only waits for another thread.
    if (tookMs > IDLE_MS) cpuMs += tookMs;
    state.idle = tookMs > IDLE_MS ? 0 : state.idle + 1;
  }
  await ended;
  return { cpuMs, blockMs };
}

const REPEATS = 5;

/** The median cost, with the longest block of all costs. */
export function medianOf(costs: readonly Cost[]): Cost {
  const sorted = [...costs].sort((one, other) => one.cpuMs - other.cpuMs);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error('nothing was measured');
  return { cpuMs: middle.cpuMs, blockMs: Math.max(...costs.map(({ blockMs }) => blockMs)) };
}

/** The median of several runs, after one that compiles the code. */
export async function medianCost(run: () => Promise<Cost>): Promise<Cost> {
  await run();
  const costs: Cost[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat += 1) costs.push(await run());
  return medianOf(costs);
}

/** The mean cost of synchronous work that is too short to be measured once. */
export function costPerRun(work: () => unknown, times: number): () => Promise<Cost> {
  return async () => {
    const startedAt = now();
    for (let run = 0; run < times; run += 1) work();
    const cpuMs = (now() - startedAt) / times;
    return { cpuMs, blockMs: cpuMs };
  };
}

/**
 * The mean cost of work that takes several turns of promises, but no other turn of the event loop.
 */
export function costPerTurn(work: () => Promise<unknown>, times: number): () => Promise<Cost> {
  return async () => {
    const startedAt = now();
    for (let run = 0; run < times; run += 1) await work();
    const cpuMs = (now() - startedAt) / times;
    return { cpuMs, blockMs: cpuMs };
  };
}
