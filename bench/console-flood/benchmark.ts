import { ProgramProcess } from '../program-process.ts';
import type { Benchmark } from '../report/benchmark.ts';
import { median, ratios } from '../report/statistics.ts';
import { medianAndSpread } from '../report/table.ts';
import type { FrameCosts, FrameCostsProgram } from './frame-costs.ts';

const DEFAULT_RUNS = 5;
const DEFAULT_SECONDS = 4;

const KINDS: readonly (readonly [kind: keyof FrameCosts, what: string])[] = [
  ['shortLine', 'console line of some 40 characters, skipped'],
  ['longLine', 'console line of some 2,000 characters, skipped'],
  ['stats', 'stats, parsed and kept (the yardstick)'],
  ['recordedStats', 'stats, parsed and put into the store'],
];

export const consoleFlood: Benchmark = {
  name: 'console-flood',
  title: 'what it costs to skip a console frame, against a stats frame that is parsed',
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
      method: `handleFrame on frames that were prepared in memory, ${seconds} s a run in a new process; the kinds take turns. Receiving a frame
(the kernel, ws) comes on top for each kind alike and isn't part of it. Medians, with the lowest and the highest of ${runs} runs.`,
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
          what: 'a skipped console line, of a parsed stats frame',
          bound: { kind: 'at most', value: 0.25 },
          unit: '×',
          measured: Math.max(median(ratiosOf('shortLine')), median(ratiosOf('longLine'))),
        },
      ],
    };
  },
};
