// The benchmark `api-economy`: API calls per streaming server.

import type { Benchmark } from '../report/benchmark.ts';
import { median, ratios } from '../report/statistics.ts';
import { medianAndSpread } from '../report/table.ts';
import { startCompressedFleet } from './compressed-fleet.ts';

const SPEED = 20;
const STATS_INTERVAL_MS = 5_000;
const DEFAULT_RUNS = 3;

/** After these minutes, every server has data. The measurement then covers two lives of a token. */
const SETTLED_MINUTES = 3;
const MEASURED_MINUTES = 20;

type Mode = 'auto' | 'poll';

interface Cost {
  readonly calls: number;
  readonly openSockets: number;
  readonly perServerAndMinute: number;
}

/** Compares the API calls of streaming servers with those of polled ones. */
export const apiEconomy: Benchmark = {
  name: 'api-economy',
  title: 'API calls per streaming server and minute, over two lifetimes of a token',
  run: async ({ servers = 200, runs = DEFAULT_RUNS, progress }) => {
    const streamed: Cost[] = [];
    const polled: Cost[] = [];
    for (let run = 1; run <= runs; run += 1) {
      progress(`run ${run} of ${runs}: ${MEASURED_MINUTES} minutes, at ${SPEED} times real time`);
      const [stream, poll] = await Promise.all([costOf('auto', servers), costOf('poll', servers)]);
      streamed.push(stream);
      polled.push(poll);
    }
    const perServer = (costs: readonly Cost[]) => costs.map(({ perServerAndMinute }) => perServerAndMinute);
    const row = (way: string, costs: readonly Cost[]) => [
      way,
      spread(costs, 0, ({ openSockets }) => openSockets),
      spread(costs, 0, ({ calls }) => calls),
      spread(costs, 4, ({ perServerAndMinute }) => perServerAndMinute),
    ];
    return {
      method: `Compressed time (${SPEED} times real time), ${servers} servers, tokens that live 600 s, ${MEASURED_MINUTES} minutes after the first ${SETTLED_MINUTES}. Calls of every kind are counted. The
baseline is the same fleet with mode: poll, at the same time on another panel: one call every 30 s for one sample. Medians, with the minimum and maximum of ${runs} runs.`,
      tables: [
        {
          header: ['mode', 'sockets at the end', 'calls', 'calls per server and minute', '× polled'],
          rows: [
            [
              ...row('streamed', streamed),
              medianAndSpread(ratios(perServer(streamed), perServer(polled)), 3),
            ],
            [...row('polled', polled), ''],
          ],
        },
      ],
      targets: [
        {
          what: 'calls per server and minute',
          bound: { kind: 'at most', value: 0.13 },
          unit: '',
          measured: median(perServer(streamed)),
        },
        {
          // Ensures that the servers streamed, because servers without a socket need few calls.
          what: 'sockets at the end, of the streamed servers',
          bound: { kind: 'at least', value: servers },
          unit: '',
          measured: Math.min(...streamed.map(({ openSockets }) => openSockets)),
        },
      ],
    };
  },
};

function spread(costs: readonly Cost[], decimals: number, read: (cost: Cost) => number): string {
  return medianAndSpread(costs.map(read), decimals);
}

async function costOf(mode: Mode, servers: number): Promise<Cost> {
  const fleet = await startCompressedFleet({
    servers,
    limitPerMinute: 720,
    speed: SPEED,
    statsIntervalMs: STATS_INTERVAL_MS,
    mode,
  });
  try {
    await fleet.until(SETTLED_MINUTES);
    const before = fleet.panel.record.calls.length;
    const began = fleet.minutes();
    await fleet.until(SETTLED_MINUTES + MEASURED_MINUTES);
    const calls = fleet.panel.record.calls.length - before;
    const perServerAndMinute = calls / servers / (fleet.minutes() - began);
    return { calls, openSockets: fleet.panel.record.openSockets, perServerAndMinute };
  } finally {
    await fleet.stop();
  }
}
