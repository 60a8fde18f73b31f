import {
  NAME,
  NEAR_LIMIT,
  NO_SERVERS,
  ROW_TO_SERVER,
  SERIES_TO_SERVER,
  SOURCE_WORDS,
  STOP_COLORS,
  steps,
  TROUBLE,
} from '../appearance.ts';
import type { Section } from '../board.ts';
import { coloredByName, graph, ranking, timeline } from '../panels.ts';
import {
  dataSource,
  gauge,
  info,
  SHOWN,
  share,
  stopsByReason,
  uptime,
  uptimeOf30Days,
  withInfo,
} from '../promql.ts';
import { STATUS_COLORS, STATUS_WORDS, serversByStatus, statusCode, statusesTroubleFirst } from '../status.ts';
import { table } from '../table.ts';

/** For the share of time in which a server was running. */
const UPTIME = steps(TROUBLE, [0.95, 'yellow'], [0.99, 'green']);

export const states: Section = {
  title: 'States',
  panels: [
    timeline({
      title: 'States of all servers',
      description:
        'What each server did over time, 25 servers a page: first those in trouble at its end and those that crashed in the time range, then the others. A click on a band leads to its server.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 24,
      height: 15,
      mappings: [STATUS_WORDS],
      links: [SERIES_TO_SERVER],
      queries: statusesTroubleFirst().map((expr) => ({ expr, legend: NAME })),
    }),
    graph({
      title: 'Servers by state',
      description: 'How many servers did what.',
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: NO_SERVERS,
      width: 24,
      height: 7,
      stacked: true,
      queries: [{ expr: serversByStatus(), legend: '{{status}}' }],
      looks: coloredByName(STATUS_COLORS),
    }),
    graph({
      title: 'Stops by reason',
      description:
        'Stops that the exporter saw. exited: the server ended by itself with code 0; unknown: nothing said why.',
      unit: 'none',
      decimals: 0,
      noValue: NO_SERVERS,
      width: 14,
      bars: true,
      queries: [{ expr: `sum by (reason) (${stopsByReason()})`, legend: '{{reason}}' }],
      looks: coloredByName(STOP_COLORS),
    }),
    ranking({
      title: 'Lowest uptime',
      description: `The ${SHOWN} servers that ran for the smallest share of the time range. Time in which nothing was known of a server doesn't count.`,
      unit: 'percentunit',
      decimals: 1,
      min: 0,
      max: 1,
      noValue: 'No server was observed in this time range',
      width: 10,
      thresholds: UPTIME,
      links: [SERIES_TO_SERVER],
      query: { expr: `bottomk(${SHOWN}, ${uptime()})`, legend: NAME },
    }),
  ],
};

export const month: Section = {
  title: 'Uptime of 30 days',
  collapsed: true,
  panels: [
    ranking({
      title: 'Lowest uptime of 30 days',
      description: `The ${SHOWN} servers that ran for the smallest share of the last 30 days, whatever the time range is. It needs the recording rules.`,
      unit: 'percentunit',
      decimals: 2,
      min: 0,
      max: 1,
      noValue: 'No data: the recording rules in deploy/prometheus/rules have to be loaded',
      width: 16,
      height: 9,
      thresholds: UPTIME,
      links: [SERIES_TO_SERVER],
      query: { expr: `bottomk(${SHOWN}, ${uptimeOf30Days()})`, legend: NAME },
    }),
    ranking({
      title: 'Uptime of 30 days by node',
      description:
        "Mean of the 30-day uptimes of each node's servers. Servers that are off on purpose lower it. It needs the recording rules.",
      unit: 'percentunit',
      decimals: 2,
      min: 0,
      max: 1,
      noValue: 'No data: the recording rules have to be loaded',
      width: 8,
      height: 9,
      query: {
        expr: `avg by (panel, node) (${withInfo(uptimeOf30Days(), 'node')})`,
        legend: '{{node}} · {{panel}}',
      },
    }),
  ],
};

export const all: Section = {
  title: 'All servers',
  panels: [
    table({
      title: 'All servers',
      description:
        'Every server as of the end of the time range. Columns sort by a click, and names filter by the funnel.',
      unit: 'short',
      noValue: NO_SERVERS,
      height: 14,
      columns: [
        { label: 'server', name: 'Server', width: 125, grows: true, link: ROW_TO_SERVER },
        { label: 'panel', name: 'Panel', width: 80, grows: true },
        { label: 'node', name: 'Node', width: 80, grows: true },
        { name: 'State', expr: statusCode(), width: 120, mappings: [STATUS_WORDS] },
        {
          name: 'Up for',
          expr: `time() - ${gauge('gameserver_start_time_seconds')}`,
          width: 90,
          unit: 's',
          decimals: 1,
        },
        { name: 'CPU', expr: gauge('gameserver_cpu_usage_cores'), width: 70, unit: 'none', decimals: 2 },
        { name: 'of CPU', ...ofLimit('cpu') },
        {
          name: 'Memory',
          expr: gauge('gameserver_memory_usage_bytes'),
          width: 85,
          unit: 'bytes',
          decimals: 1,
        },
        { name: 'of mem.', ...ofLimit('memory') },
        { name: 'of disk', ...ofLimit('disk') },
        { name: 'Data', expr: dataSource(), width: 80, mappings: [SOURCE_WORDS] },
      ],
      rows: info('node'),
      hiddenLabels: ['server_id'],
      sortBy: [['Server', 'ascending']],
    }),
  ],
};

function ofLimit(resource: 'cpu' | 'memory' | 'disk') {
  return { expr: share(resource), width: 70, unit: 'percentunit', decimals: 0, thresholds: NEAR_LIMIT };
}
