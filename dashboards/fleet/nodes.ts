import { NEAR_LIMIT, NO_SAMPLES, OF_PANEL, UP_OR_DOWN, YES_NO } from '../appearance.ts';
import type { Section } from '../board.ts';
import { DASHED, figure, graph } from '../panels.ts';
import { gauge, ofNodes, type Resource, resourceMetric, whereAlso, withInfo } from '../promql.ts';
import { RUNNING } from '../status.ts';
import { table } from '../table.ts';

const NO_LIMITS = 'The sum leaves out servers without a limit.';

function used(resource: Resource): string {
  return gauge(resourceMetric(resource, 'usage'));
}

/** The sum of the limits of servers that have one. */
function limits(resource: Resource): string {
  return gauge(resourceMetric(resource, 'limit'));
}

function byNode(vector: string): string {
  return `sum by (panel, node) (${withInfo(vector, 'node')})`;
}

function total(resource: Resource, called: string, unit: string) {
  return figure({
    title: called,
    description: `${called} usage of all servers, and the sum of their limits. ${NO_LIMITS}`,
    unit,
    decimals: 1,
    width: 8,
    trend: true,
    queries: [
      { expr: `sum(${used(resource)})`, legend: 'used' },
      { expr: `sum(${limits(resource)})`, legend: 'limits' },
    ],
  });
}

function overTime(resource: Resource, called: string, unit: string) {
  return graph({
    title: `${called} by node`,
    description: `${called} usage of each node's servers, and the sum of their limits (dashed). ${NO_LIMITS}`,
    unit,
    min: 0,
    noValue: NO_SAMPLES,
    width: 8,
    height: 8,
    queries: [
      { expr: byNode(used(resource)), legend: `{{node}}${OF_PANEL}` },
      { expr: byNode(limits(resource)), legend: `{{node}}${OF_PANEL} limits` },
    ],
    looks: [['/ limits$/', DASHED]],
  });
}

function columns(
  resource: Resource,
  called: string,
  unit: string,
  [usage, limit, share]: readonly [usage: number, limit: number, share: number],
) {
  return [
    { name: called, expr: byNode(used(resource)), width: usage, unit, decimals: 1 },
    { name: `${called} limits`, expr: byNode(limits(resource)), width: limit, unit, decimals: 1 },
    {
      name: `${called} %`,
      expr: `${byNode(whereAlso(used(resource), limits(resource)))} / ${byNode(limits(resource))}`,
      width: share,
      unit: 'percentunit',
      decimals: 0,
      thresholds: NEAR_LIMIT,
    },
  ];
}

/** A column with a value of each node from the panel's application API. */
function capacityOf(name: string): string {
  return `max by (panel, node) (${ofNodes(`gameserver_node_${name}`)})`;
}

/** The unit in the names of a resource's metrics, and the one in which it is shown. */
const UNITS = { memory: ['bytes', 'bytes'], disk: ['bytes', 'bytes'], cpu: ['cores', 'none'] } as const;

function allocation(resource: keyof typeof UNITS, called: string) {
  const [of, unit] = UNITS[resource];
  const capacity = `(${capacityOf(`${resource}_${of}`)} * (1 + ${capacityOf(`${resource}_overallocation_ratio`)}))`;
  const allocated = capacityOf(`${resource}_allocated_${of}`);
  return [
    { name: called, expr: capacityOf(`${resource}_${of}`), width: 85, unit, decimals: 1 },
    { name: `${called} allocated`, expr: allocated, width: 100, unit, decimals: 1 },
    {
      name: `${called} %`,
      expr: `${allocated} / ${capacity}`,
      width: 75,
      unit: 'percentunit',
      decimals: 0,
      thresholds: NEAR_LIMIT,
    },
  ];
}

export const nodes: Section = {
  title: 'Usage and limits',
  panels: [
    total('cpu', 'CPU', 'suffix:cores'),
    total('memory', 'Memory', 'bytes'),
    total('disk', 'Disk', 'bytes'),
    table({
      title: 'Nodes',
      description: `Usage of each node's servers, the sum of their limits, and usage as a share of the limits, of servers that have one.`,
      unit: 'short',
      noValue: 'No nodes: check the filters above',
      height: 7,
      columns: [
        { label: 'node', name: 'Node', width: 95, grows: true, filters: true },
        { label: 'panel', name: 'Panel', width: 95, grows: true, filters: true },
        {
          name: 'Status',
          expr: `max by (panel, node) (${ofNodes('gameserver_node_up')})`,
          width: 65,
          mappings: [UP_OR_DOWN],
        },
        {
          name: 'Servers',
          expr: `count by (panel, node) (${withInfo(gauge('gameserver_collection_up'), 'node')})`,
          width: 75,
        },
        { name: 'Running', expr: `count by (panel, node) (${withInfo(RUNNING, 'node')})`, width: 80 },
        ...columns('memory', 'Memory', 'bytes', [85, 120, 85]),
        ...columns('cpu', 'CPU', 'none', [60, 95, 65]),
      ],
      sortBy: [['Node', 'ascending']],
    }),
    overTime('cpu', 'CPU', 'suffix:cores'),
    overTime('memory', 'Memory', 'bytes'),
    overTime('disk', 'Disk', 'bytes'),
  ],
};

export const capacity: Section = {
  title: 'Node capacity',
  collapsed: true,
  panels: [
    table({
      title: 'Capacity of the nodes',
      description:
        'The memory, disk and (on Pelican) CPU of each node, what is allocated to servers (the sum of their limits) as a share of what may be allocated, and what its servers use. Requires nodes in the configuration of the panel.',
      unit: 'short',
      noValue: 'Not read: add nodes with an API key to the configuration of the panel',
      height: 6,
      columns: [
        { label: 'node', name: 'Node', width: 95, grows: true, filters: true },
        { label: 'panel', name: 'Panel', width: 95, grows: true },
        {
          name: 'Maintenance',
          expr: capacityOf('maintenance'),
          width: 100,
          mappings: [YES_NO],
        },
        ...allocation('memory', 'RAM'),
        {
          name: 'RAM used',
          expr: `${byNode(used('memory'))} and on (panel, node) ${capacityOf('maintenance')}`,
          width: 90,
          unit: 'bytes',
          decimals: 1,
        },
        ...allocation('disk', 'Disk'),
        ...allocation('cpu', 'CPU'),
      ],
      sortBy: [['Node', 'ascending']],
    }),
  ],
};
