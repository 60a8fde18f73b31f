/** What a piece of work costs, in CPU time of the main thread. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { threadTime } from '../visitors/thread-time.ts';

export interface Cost {
  /** All of it, in milliseconds. */
  readonly cpuMs: number;
  /** The largest part in one turn of the event loop, in milliseconds. */
  readonly blockMs: number;
}

const readThread = threadTime();

/** The kernel updates a running thread's time in the file only when it is asked for the process's. */
function now(): number {
  process.cpuUsage();
  return readThread();
}

/** A turn of less than this is idle, and so many idle ones in a row are the end of the work. */
const IDLE_MS = 0.05;
const IDLE_TURNS = 10;

/** Runs work once, with what it leaves for later turns; `isDone` is asked if it may rest between turns. */
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
  // Its error is thrown below.
  ended.catch(() => undefined);
  while (!state.isEnded || !isDone() || state.idle < IDLE_TURNS) {
    await nextTurn();
    const at = now();
    const tookMs = at - before;
    before = at;
    blockMs = Math.max(blockMs, tookMs);
    // While another thread works, this one only looks.
    if (tookMs > IDLE_MS) cpuMs += tookMs;
    state.idle = tookMs > IDLE_MS ? 0 : state.idle + 1;
  }
  await ended;
  return { cpuMs, blockMs };
}

const REPEATS = 5;

/** The cost in the middle, with the largest part of any. */
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

/** The same for work that is done at once and takes too little to be measured once. */
export function costPerRun(work: () => unknown, times: number): () => Promise<Cost> {
  return async () => {
    const startedAt = now();
    for (let run = 0; run < times; run += 1) work();
    const cpuMs = (now() - startedAt) / times;
    return { cpuMs, blockMs: cpuMs };
  };
}

/** The same for work that takes several turns of promises, without anything else between. */
export function costPerTurn(work: () => Promise<unknown>, times: number): () => Promise<Cost> {
  return async () => {
    const startedAt = now();
    for (let run = 0; run < times; run += 1) await work();
    const cpuMs = (now() - startedAt) / times;
    return { cpuMs, blockMs: cpuMs };
  };
}
