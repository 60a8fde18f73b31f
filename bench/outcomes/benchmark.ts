/** `npm run bench -- outcomes`: what an outcome and a start cost beside a fleet that has an outage, or that waits. */
import { type Cost, medianOf } from '../growth/cost.ts';
import type { Benchmark, Target } from '../report/benchmark.ts';
import { formatNumber } from '../report/table.ts';
import type { Layout } from './failing-health.ts';
import { type LayoutWork, NODE_TIMES, TIMES, WORKS } from './works.ts';

const SIZES = [100, 1_000, 10_000];
const NODES = 50;
/** Where a fleet lies in memory differs from one to the next. */
const FLEETS = 3;
const MOST_GROWTH = 3;
const LONGEST_BLOCK_MS = 25;
const US_PER_MS = 1_000;

const LAYOUTS = [
  { name: `${NODES} nodes`, nodesOf: () => NODES },
  { name: 'a node each', nodesOf: (servers: number) => servers },
] as const;

interface Grown {
  readonly work: LayoutWork;
  readonly layout: string;
  readonly costs: readonly Cost[];
  readonly ratio: number;
}

export const outcomes: Benchmark = {
  name: 'outcomes',
  title:
    'what an outcome and the start of a call cost in fleets of different sizes, all of whose servers fail or wait',
  run: async ({ servers, runs = FLEETS, progress }) => {
    const sizes = servers === undefined ? SIZES : [servers];
    const all: Grown[] = [];
    for (const work of WORKS)
      for (const { name, nodesOf } of LAYOUTS) {
        const layouts = sizes.map((size): Layout => ({ servers: size, nodes: nodesOf(size) }));
        progress(`${work.what}: ${name}`);
        const costs = await costsOf(work, layouts, work.isOfAll === true ? 1 : runs);
        progress(costs.map(({ cpuMs }) => `${formatNumber(cpuMs * US_PER_MS, 1)} µs`).join(', '));
        const ratio = (costs.at(-1)?.cpuMs ?? Number.NaN) / (costs[0]?.cpuMs ?? Number.NaN);
        all.push({ work, layout: name, costs, ratio });
      }
    return {
      method: `The health and the scheduler of one panel in one process, with a clock that stands still between events. CPU time of the main thread in microseconds for one event, with all that follows at once: the median
of ${runs} fleets of each size, built in turn, of each the median of five runs of ${TIMES} outcomes, or ${NODE_TIMES} starts, trials or addresses, after one run that compiles the code (what is about all servers: the median of five
events). The ratio is that of the largest fleets to the smallest.`,
      tables: [
        {
          header: ['event', 'servers on', ...sizes.map((size) => `${size}: µs`), 'ratio'],
          rows: all.map(({ work, layout, costs, ratio }) => [
            work.what,
            layout,
            ...costs.map(({ cpuMs }) => formatNumber(cpuMs * US_PER_MS, 1)),
            work.isOfAll === true ? '' : formatNumber(ratio, 2),
          ]),
        },
      ],
      targets: all.filter(({ work }) => work.isComparison !== true).map(targetOf),
    };
  },
};

/** What the work costs in each layout; they take turns, so that what disturbs the machine concerns all of them. */
async function costsOf(
  work: LayoutWork,
  layouts: readonly Layout[],
  fleets: number,
): Promise<readonly Cost[]> {
  const costs: Cost[][] = layouts.map(() => []);
  for (let fleet = 0; fleet < fleets; fleet += 1)
    for (const [index, layout] of layouts.entries()) costs[index]?.push(await work.measure(layout));
  return costs.map(medianOf);
}

function targetOf({ work, layout, costs, ratio }: Grown): Target {
  const what = `${work.what}, ${layout}`;
  if (work.isOfAll !== true)
    return { what, bound: { kind: 'at most', value: MOST_GROWTH }, unit: '×', measured: ratio };
  const measured = costs.at(-1)?.blockMs ?? Number.NaN;
  return { what, bound: { kind: 'at most', value: LONGEST_BLOCK_MS }, unit: 'ms', measured };
}
