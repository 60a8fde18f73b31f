import { NEAR_LIMIT, UP_OR_DOWN } from '../appearance.ts';
import type { Section } from '../board.ts';
import { DASHED, figure, graph } from '../panels.ts';
import { gauge, ofNodes, type Resource, resourceMetric, withInfo } from '../promql.ts';
import { RUNNING } from '../status.ts';
import { table } from '../table.ts';

const NO_LIMITS = 'Servers without a limit promise nothing here, though they may use all.';

function used(resource: Resource): string {
  return gauge(resourceMetric(resource, 'usage'));
}

/** The sum of the limits of servers that have one. */
function promised(resource: Resource): string {
  return gauge(resourceMetric(resource, 'limit'));
}

function byNode(vector: string): string {
  return `sum by (panel, node) (${withInfo(vector, 'node')})`;
}

function total(resource: Resource, called: string, unit: string) {
  return figure({
    title: called,
    description: `What all servers use of ${called}, and what their limits promise them. ${NO_LIMITS}`,
    unit,
    decimals: 1,
    width: 8,
    queries: [
      { expr: `sum(${used(resource)})`, legend: 'used' },
      { expr: `sum(${promised(resource)})`, legend: 'promised' },
    ],
  });
}

function overTime(resource: Resource, called: string, unit: string) {
  return graph({
    title: `${called} by node`,
    description: `What each node's servers use of ${called}, and what their limits promise them (dashed). ${NO_LIMITS}`,
    unit,
    min: 0,
    noValue: 'No samples: did any of these servers run?',
    width: 8,
    height: 9,
    queries: [
      { expr: byNode(used(resource)), legend: '{{node}} · {{panel}}' },
      { expr: byNode(promised(resource)), legend: '{{node}} · {{panel}} promised' },
    ],
    looks: [['/ promised$/', DASHED]],
  });
}

function columns(resource: Resource, called: string, unit: string) {
  const share = {
    name: `of ${called}`,
    expr: `${byNode(used(resource))} / ${byNode(promised(resource))}`,
    width: 85,
    unit: 'percentunit',
    decimals: 0,
    thresholds: NEAR_LIMIT,
  };
  return [
    { name: called, expr: byNode(used(resource)), width: 90, unit, decimals: 1 },
    { name: 'promised', expr: byNode(promised(resource)), width: 95, unit, decimals: 1 },
    share,
  ];
}

export const nodes: Section = {
  title: 'Use and promises',
  panels: [
    total('cpu', 'CPU', 'suffix:cores'),
    total('memory', 'memory', 'bytes'),
    total('disk', 'disk', 'bytes'),
    table({
      title: 'Nodes',
      description: `What the servers of each node use, and what their limits promise them. ${NO_LIMITS}`,
      unit: 'short',
      noValue: 'No node is known yet',
      height: 8,
      columns: [
        { label: 'node', name: 'Node', width: 110, grows: true },
        { label: 'panel', name: 'Panel', width: 80, grows: true },
        {
          name: 'Node is',
          expr: `max by (panel, node) (${ofNodes('gameserver_node_up')})`,
          width: 70,
          mappings: [UP_OR_DOWN],
        },
        {
          name: 'Servers',
          expr: `count by (panel, node) (${withInfo(gauge('gameserver_collection_up'), 'node')})`,
          width: 75,
        },
        { name: 'Running', expr: `count by (panel, node) (${withInfo(RUNNING, 'node')})`, width: 80 },
        ...columns('memory', 'Memory', 'bytes'),
        ...columns('cpu', 'CPU', 'none').slice(0, 2),
      ],
      sortBy: [['Node', 'ascending']],
    }),
    overTime('cpu', 'CPU', 'suffix:cores'),
    overTime('memory', 'Memory', 'bytes'),
    overTime('disk', 'Disk', 'bytes'),
  ],
};
