// The benchmark `query`: the cost of querying game servers for their players.

import { ProgramProcess } from '../program-process.ts';
import type { Benchmark } from '../report/benchmark.ts';
import { median } from '../report/statistics.ts';
import { medianAndSpread } from '../report/table.ts';
import type { AnswerersOptions, AnswerersProgram } from './answerers.ts';
import type { AskerProgram, QueryCosts } from './asker.ts';

const DEFAULT_SERVERS = 1_000;
const DEFAULT_SECONDS = 15;
const DEFAULT_RUNS = 3;
const INTERVAL_SECONDS = 30;
const TARGET_PERCENT = 5;

/**
 * The most common protocol (over UDP) and the most common game (over TCP), with their query types.
 */
const KINDS: readonly {
  readonly type: AnswerersOptions['type'];
  readonly queriedAs: string;
  readonly what: string;
}[] = [
  { type: 'valve', queriedAs: 'rust', what: "Valve's protocol, over UDP" },
  { type: 'minecraft', queriedAs: 'minecraft', what: 'Minecraft, over TCP' },
];

interface Row {
  readonly what: string;
  readonly costs: readonly QueryCosts[];
}

export const query: Benchmark = {
  name: 'query',
  title: 'the cost of querying game servers for their players',
  run: async ({ servers = DEFAULT_SERVERS, seconds = DEFAULT_SECONDS, runs = DEFAULT_RUNS, progress }) => {
    const rows: Row[] = [];
    for (const { type, queriedAs, what } of KINDS) {
      progress(what);
      const answerers = await new ProgramProcess<AnswerersProgram>('game-answerers', {
        type,
        servers,
      }).start();
      const ports = await answerers.ask('ports', undefined);
      const measured = async (asks: boolean) => {
        const costs: QueryCosts[] = [];
        for (let run = 1; run <= runs; run += 1)
          costs.push(await measure({ type: queriedAs, ports, asks, seconds }));
        return costs;
      };
      rows.push({ what, costs: await measured(true) });
      if (rows.length === KINDS.length)
        rows.push({ what: 'no queries, the same timers', costs: await measured(false) });
      await answerers.stop();
    }
    return {
      method: `${servers} game servers in another process, each with its own port; a process that does nothing else queries each of them every
${INTERVAL_SECONDS} s, evenly spread. User and system time in ${seconds} s, after a warm-up of half that time. Medians, with the minimum and maximum of ${runs} runs.`,
      tables: [
        {
          header: ['servers', '% of a core', 'answers/s', 'unanswered', 'peak RSS MB'],
          rows: rows.map(({ what, costs }) => [
            what,
            medianAndSpread(
              costs.map(({ usage }) => usage.cpuPercent),
              2,
            ),
            medianAndSpread(
              costs.map(({ answers, usage }) => answers / usage.seconds),
              1,
            ),
            String(costs.reduce((sum, { failures }) => sum + failures, 0)),
            medianAndSpread(
              costs.map(({ usage }) => usage.peakRssMb),
              0,
            ),
          ]),
        },
      ],
      targets: rows.slice(0, KINDS.length).map(({ what, costs }) => ({
        what: `${what}: ${servers} servers every ${INTERVAL_SECONDS} s`,
        bound: { kind: 'at most', value: TARGET_PERCENT },
        unit: '% of a core',
        measured: median(costs.map(({ usage }) => usage.cpuPercent)),
      })),
    };
  },
};

async function measure({
  seconds,
  ...options
}: {
  readonly type: string;
  readonly ports: readonly number[];
  readonly asks: boolean;
  readonly seconds: number;
}): Promise<QueryCosts> {
  const asker = await new ProgramProcess<AskerProgram>('query-asker', {
    ...options,
    intervalSeconds: INTERVAL_SECONDS,
  }).start();
  const costs = await asker.ask('measure', { seconds });
  await asker.stop();
  return costs;
}
