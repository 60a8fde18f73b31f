// The benchmark `outcomes`: the cost of an outcome or a call while the whole fleet fails or waits.
import { type Cost, medianOf } from '../growth/cost.ts';
import type { Benchmark, Target } from '../report/benchmark.ts';
import { formatNumber, type Table } from '../report/table.ts';
import type { Layout } from './failing-health.ts';
import { type LayoutWork, NODE_TIMES, TIMES, WORKS } from './works.ts';

const SIZES = [100, 1_000, 10_000];
const NODES = 50;
/** The number of fleets of each size, because the cost depends on where a fleet lies in memory. */
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
    const columns = sizes.map((size) => `${size}: µs`);
    return {
      method: `An outcome is what is learned from a call or a socket. The health and the scheduler of one panel in one process, with a clock that stands still between events. CPU time of the main thread in
microseconds for one event, with all that follows at once: the median of ${runs} fleets of each size, built in turn, of each the median of five runs of ${TIMES} outcomes, or ${NODE_TIMES} starts, trials or addresses, after
one run that compiles the code. The ratio is that of the largest fleets to the smallest. Events about all servers, in the second table, are the median of five, with the longest turn of the event loop in the largest fleets.`,
      tables: [
        tableOf(all.filter(isOfOne), columns, { name: 'ratio', read: ({ ratio }) => formatNumber(ratio, 2) }),
        tableOf(all.filter(isOfAll), columns, {
          name: 'longest turn ms',
          read: (grown) => formatNumber(blockMsOf(grown), 2),
        }),
      ],
      targets: [
        worst('largest ratio', all.filter(isOfOne).filter(isCounted), {
          read: ({ ratio }) => ratio,
          most: MOST_GROWTH,
          unit: '×',
        }),
        worst('longest turn', all.filter(isOfAll), { read: blockMsOf, most: LONGEST_BLOCK_MS, unit: 'ms' }),
      ],
    };
  },
};

/**
 * The costs of the work in each layout. Layouts alternate, so that other load on the machine
 * affects all of them.
 */
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

const isOfAll = ({ work }: Grown): boolean => work.isOfAll === true;
const isOfOne = (grown: Grown): boolean => !isOfAll(grown);
const isCounted = ({ work }: Grown): boolean => work.isComparison !== true;

function blockMsOf({ costs }: Grown): number {
  return costs.at(-1)?.blockMs ?? Number.NaN;
}

/**
 * A table with one row per work, which contains the costs and the value of the column `last` for
 * each layout.
 */
function tableOf(
  all: readonly Grown[],
  columns: readonly string[],
  last: { readonly name: string; readonly read: (grown: Grown) => string },
): Table {
  const rows = new Map<LayoutWork, string[]>();
  for (const grown of all) {
    const row = rows.get(grown.work) ?? [grown.work.what];
    row.push(...grown.costs.map(({ cpuMs }) => formatNumber(cpuMs * US_PER_MS, 1)), last.read(grown));
    rows.set(grown.work, row);
  }
  return {
    header: ['event', ...LAYOUTS.flatMap(({ name }) => headerOf(name, [...columns, last.name]))],
    rows: [...rows.values()],
  };
}

/** Adds the layout's name to its first column. */
function headerOf(layout: string, columns: readonly string[]): readonly string[] {
  return columns.map((column, index) => (index === 0 ? `${layout}, ${column}` : column));
}

/** A target for all results, compared with the result that is farthest from it. */
function worst(
  what: string,
  all: readonly Grown[],
  target: { readonly read: (grown: Grown) => number; readonly most: number; readonly unit: string },
): Target {
  // A result that couldn't be measured misses the target.
  const order = (grown: Grown) => (Number.isNaN(target.read(grown)) ? Infinity : target.read(grown));
  const grown = all.toSorted((a, b) => order(b) - order(a))[0];
  return {
    what: `${what}: ${grown?.work.what}, ${grown?.layout}`,
    bound: { kind: 'at most', value: target.most },
    unit: target.unit,
    measured: grown === undefined ? Number.NaN : target.read(grown),
  };
}
