// The benchmark `console-flood`: the cost of skipping a console frame.

import { ProgramProcess } from '../program-process.ts';
import type { Benchmark } from '../report/benchmark.ts';
import { median, ratios } from '../report/statistics.ts';
import { medianAndSpread } from '../report/table.ts';
import type { FrameCosts, FrameCostsProgram } from './frame-costs.ts';

const DEFAULT_RUNS = 5;
const DEFAULT_SECONDS = 4;

const KINDS: readonly (readonly [kind: keyof FrameCosts, what: string])[] = [
  ['shortLine', 'console line of about 40 characters, skipped'],
  ['longLine', 'console line of about 2,000 characters, skipped'],
  ['stats', 'stats, parsed and kept (the baseline)'],
  ['recordedStats', 'stats, parsed and stored'],
];

export const consoleFlood: Benchmark = {
  name: 'console-flood',
  title: 'the cost of skipping a console frame, relative to parsing a stats frame',
  run: async ({ runs = DEFAULT_RUNS, seconds = DEFAULT_SECONDS, progress }) => {
    const costs: FrameCosts[] = [];
    for (let run = 1; run <= runs; run += 1) {
      progress(`run ${run} of ${runs}`);
      const program = await new ProgramProcess<FrameCostsProgram>('frame-costs', {}).start();
      costs.push(await program.ask('measure', { seconds }));
      await program.stop();
    }
    const ratiosOf = (kind: keyof FrameCosts) =>
      ratios(
        costs.map((cost) => cost[kind]),
        costs.map((cost) => cost.stats),
      );
    return {
      method: `handleFrame with frames prepared in memory, ${seconds} s per run in a new process, alternating between the kinds. Receiving a frame
(kernel, ws) costs the same for each kind and isn't included. Medians, with the minimum and maximum of ${runs} runs.`,
      tables: [
        {
          header: ['frame', 'ns/frame', '× stats'],
          rows: KINDS.map(([kind, what]) => [
            what,
            medianAndSpread(
              costs.map((cost) => cost[kind]),
              0,
            ),
            medianAndSpread(ratiosOf(kind), 3),
          ]),
        },
      ],
      targets: [
        {
          what: 'a skipped console line, relative to a parsed stats frame',
          bound: { kind: 'at most', value: 0.25 },
          unit: '×',
          measured: Math.max(median(ratiosOf('shortLine')), median(ratiosOf('longLine'))),
        },
      ],
    };
  },
};
