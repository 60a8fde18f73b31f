import {
  NAME,
  NEAR_LIMIT,
  NO_SERVERS,
  OF_PANEL,
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
  expected,
  gauge,
  info,
  type Resource,
  SHOWN,
  share,
  stopsByReason,
  unless,
  uptime,
  uptimeOf30Days,
  withInfo,
} from '../promql.ts';
import { STATUS_COLORS, STATUS_WORDS, serversByStatus, statusCode, statusesTroubleFirst } from '../status.ts';
import { table } from '../table.ts';

/** For the share of time in which a server was running. */
const UPTIME = steps(TROUBLE, [0.95, 'yellow'], [0.99, 'green']);

/** The servers with the lowest values, except for those that aren't expected to run. */
function lowest(vector: string): string {
  return `bottomk(${SHOWN}, ${unless(vector, `${expected()} == 0`)})`;
}

export const states: Section = {
  title: 'States',
  panels: [
    timeline({
      title: 'States of all servers',
      description:
        'State of each server over time, 25 servers per page. Servers with a problem at the end of the time range, or a crash within it, come first. Click a band to open its server.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 24,
      height: 12,
      mappings: [STATUS_WORDS],
      links: [SERIES_TO_SERVER],
      queries: statusesTroubleFirst().map((expr) => ({ expr, legend: NAME })),
    }),
    graph({
      title: 'Servers by state',
      description: 'Number of servers in each state.',
      unit: 'none',
      decimals: 0,
      min: 0,
      noValue: NO_SERVERS,
      width: 8,
      height: 9,
      stacked: true,
      queries: [{ expr: serversByStatus(), legend: '{{status}}' }],
      looks: coloredByName(STATUS_COLORS),
    }),
    graph({
      title: 'Stops by reason',
      description: 'Stops by reason. exited means exit code 0, and unknown that the daemon gave no reason.',
      unit: 'none',
      decimals: 0,
      noValue: NO_SERVERS,
      width: 8,
      height: 9,
      bars: true,
      queries: [{ expr: `sum by (reason) (${stopsByReason()})`, legend: '{{reason}}' }],
      looks: coloredByName(STOP_COLORS),
    }),
    ranking({
      title: 'Lowest uptime',
      description: `The ${SHOWN} servers that ran for the smallest share of the time range. Time without samples doesn't count. Servers that aren't expected to run aren't shown.`,
      unit: 'percentunit',
      decimals: 1,
      min: 0,
      max: 1,
      noValue: 'No current samples',
      width: 8,
      height: 9,
      thresholds: UPTIME,
      links: [SERIES_TO_SERVER],
      queries: [{ expr: lowest(uptime()), legend: NAME }],
    }),
  ],
};

export const month: Section = {
  title: '30-day uptime',
  collapsed: true,
  panels: [
    ranking({
      title: 'Lowest 30-day uptime',
      description: `The ${SHOWN} servers that ran for the smallest share of the last 30 days, regardless of the time range. Servers that aren't expected to run aren't shown. Requires the recording rules.`,
      unit: 'percentunit',
      decimals: 2,
      min: 0,
      max: 1,
      noValue: 'No data: load the recording rules in deploy/prometheus/rules',
      width: 16,
      height: 9,
      thresholds: UPTIME,
      links: [SERIES_TO_SERVER],
      queries: [{ expr: lowest(uptimeOf30Days()), legend: NAME }],
    }),
    ranking({
      title: '30-day uptime by node',
      description:
        "Average 30-day uptime of each node's servers, including servers that are off on purpose. Requires the recording rules.",
      unit: 'percentunit',
      decimals: 2,
      min: 0,
      max: 1,
      noValue: 'No data: load the recording rules',
      width: 8,
      height: 9,
      queries: [
        {
          expr: `avg by (panel, node) (${withInfo(uptimeOf30Days(), 'node')})`,
          legend: `{{node}}${OF_PANEL}`,
        },
      ],
    }),
  ],
};

export const all: Section = {
  title: 'All servers',
  panels: [
    table({
      title: 'All servers',
      description:
        'All servers at the end of the time range. CPU is in cores; columns with % show usage as a share of the limit.',
      unit: 'short',
      noValue: NO_SERVERS,
      height: 14,
      columns: [
        { label: 'server', name: 'Server', width: 102, grows: true, filters: true, link: ROW_TO_SERVER },
        { label: 'panel', name: 'Panel', width: 102, grows: true, filters: true },
        { label: 'node', name: 'Node', width: 102, grows: true, filters: true },
        { name: 'State', expr: statusCode(), width: 105, mappings: [STATUS_WORDS] },
        {
          name: 'Up for',
          expr: `time() - ${gauge('gameserver_start_time_seconds')}`,
          width: 85,
          unit: 's',
          decimals: 1,
        },
        { name: 'CPU', expr: gauge('gameserver_cpu_usage_cores'), width: 60, unit: 'none', decimals: 2 },
        { name: 'CPU %', ...ofLimit('cpu', 65) },
        {
          name: 'Memory',
          expr: gauge('gameserver_memory_usage_bytes'),
          width: 85,
          unit: 'bytes',
          decimals: 1,
        },
        { name: 'Mem. %', ...ofLimit('memory', 68) },
        { name: 'Disk %', ...ofLimit('disk', 65) },
        { name: 'Data', expr: dataSource(), width: 80, mappings: [SOURCE_WORDS] },
      ],
      rows: info('node'),
      hiddenLabels: ['server_id'],
      sortBy: [['Server', 'ascending']],
    }),
  ],
};

function ofLimit(resource: Resource, width: number) {
  return { expr: share(resource), width, unit: 'percentunit', decimals: 0, thresholds: NEAR_LIMIT };
}
