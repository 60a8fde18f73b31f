// The benchmark `growth`: how the cost of each kind of work grows with the fleet.

import type { Benchmark, Target } from '../report/benchmark.ts';
import { formatNumber } from '../report/table.ts';
import type { Cost } from './cost.ts';
import { WORKS, type Work } from './works.ts';

const SIZES = [100, 1_000, 10_000];
const LONGEST_BLOCK_MS = 25;
/**
 * The maximum cost of work about one server in the largest fleet, relative to the smallest fleet.
 */
const MOST_GROWTH = 3;
/** Shorter times count as this long, because the ratio of shorter ones would be noise. */
const NOTHING_MS = 0.005;

interface Grown {
  readonly work: Work;
  readonly costs: readonly Cost[];
}

export const growth: Benchmark = {
  name: 'growth',
  title: 'what an event, a read, a scrape and a reload cost in fleets of different sizes',
  run: async ({ servers, progress }) => {
    const sizes = servers === undefined ? SIZES : [servers];
    const all: Grown[] = [];
    for (const work of WORKS) {
      const costs: Cost[] = [];
      for (const size of sizes) {
        progress(`${work.what}: ${size} servers`);
        costs.push(await work.measure(size));
      }
      all.push({ work, costs });
    }
    return {
      method: `The exporter's own parts in one process, with a panel that responds at once and sockets without a network. CPU time of the main thread in milliseconds: of the whole work, the median of five
runs after one that compiles the code, and the largest part in one turn of the event loop, of all five. Work about all servers grows with them, but must not block; all other work must cost the same
in a fleet of any size.`,
      tables: [
        {
          header: [
            'work',
            'about',
            ...sizes.map((size) => `${size}: ms`),
            ...sizes.map((size) => `${size}: block`),
          ],
          rows: all.map(({ work, costs }) => [
            work.what,
            work.isOfAll === true ? 'all' : 'one',
            ...costs.map(({ cpuMs }) => formatNumber(cpuMs, 3)),
            ...costs.map(({ blockMs }) => formatNumber(blockMs, 1)),
          ]),
        },
      ],
      targets: all.flatMap(targetsOf),
    };
  },
};

function targetsOf({ work, costs }: Grown): readonly Target[] {
  const [first, last] = [costs[0], costs.at(-1)];
  if (first === undefined || last === undefined) return [];
  const block: Target = {
    what: `${work.what}: longest block`,
    bound: { kind: 'at most', value: LONGEST_BLOCK_MS },
    unit: 'ms',
    measured: last.blockMs,
  };
  if (work.isOfAll === true || costs.length === 1) return [block];
  const measured = Math.max(last.cpuMs, NOTHING_MS) / Math.max(first.cpuMs, NOTHING_MS);
  return [
    block,
    { what: `${work.what}: growth`, bound: { kind: 'at most', value: MOST_GROWTH }, unit: '×', measured },
  ];
}
