// Queries game servers, as a program of the benchmarks.

import { composeQuestion } from '../../src/query/ask-players.ts';
import type { Answer } from '../../src/query/query-model.ts';
import { QueryThread } from '../../src/query/query-thread.ts';
import { listWays } from '../../src/query/ways-to-query.ts';
import { type ProcessUsage, watchProcess } from '../fleet/process-usage.ts';

/** The thread's program in `dist`. This module runs from `.bench/bench/query`. */
const PROGRAM = new URL('../../../dist/query-worker.js', import.meta.url);

/** The cost and the results of queries. */
export interface QueryCosts {
  readonly usage: ProcessUsage;
  readonly answers: number;
  /** Queries without the expected response. */
  readonly failures: number;
}

/** A process that does nothing but query. */
export type AskerProgram = {
  /** Queries all servers once per interval, evenly spread, and measures this many seconds. */
  readonly measure: (window: { readonly seconds: number }) => Promise<QueryCosts>;
};

export interface AskerOptions {
  readonly type: string;
  readonly ports: readonly number[];
  readonly intervalSeconds: number;
  /** Whether the process queries. If not, only its timers are measured. */
  readonly asks: boolean;
}

export async function start({ type, ports, intervalSeconds, asks }: AskerOptions): Promise<AskerProgram> {
  const client = new QueryThread(PROGRAM);
  let [answers, failures] = [0, 0];
  const count = (outcome: Answer) => {
    if (outcome.players === 12) answers += 1;
    else failures += 1;
  };
  let next = 0;
  const ask = async () => {
    const port = ports[next % ports.length] ?? 0;
    next += 1;
    if (!asks) return;
    const place = { host: '127.0.0.1', port, isQueryPort: true };
    const ways = listWays(type, [place.host], place, {}, () => false);
    count(await client.query(composeQuestion(ways, undefined), new AbortController().signal));
  };
  return {
    measure: async ({ seconds }) => {
      const timer = setInterval(() => void ask(), (intervalSeconds * 1_000) / ports.length);
      // A warm-up isn't measured: code is compiled in it, and first queries differ from later ones.
      await watchProcess({ seconds: seconds / 2 });
      [answers, failures] = [0, 0];
      const usage = await watchProcess({ seconds });
      clearInterval(timer);
      return { usage, answers, failures };
    },
  };
}
