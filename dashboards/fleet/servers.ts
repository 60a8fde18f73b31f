import {
  NAME,
  NEAR_LIMIT,
  NO_SERVERS,
  ROW_TO_SERVER,
  SERIES_TO_SERVER,
  SOURCE_WORDS,
  STATE_WORDS,
  steps,
} from '../appearance.ts';
import type { Section } from '../board.ts';
import { graph, ranking, timeline } from '../panels.ts';
import { dataSource, gauge, SHOWN, sampleAge, share, stateCode, stopsByReason, uptime } from '../promql.ts';
import { table } from '../table.ts';

export const states: Section = {
  title: 'States',
  panels: [
    timeline({
      title: 'States of all servers',
      description:
        'The state of each server over time, 25 servers a page. A click on a band leads to its server.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 24,
      height: 14,
      mappings: [STATE_WORDS],
      links: [SERIES_TO_SERVER],
      queries: [{ expr: stateCode(), legend: NAME }],
    }),
    graph({
      title: 'Stops by reason',
      description:
        'Stops that the exporter saw. exited: the server ended by itself with code 0; unknown: nothing said why.',
      unit: 'short',
      decimals: 0,
      noValue: 'No stop in this time range',
      width: 14,
      bars: true,
      stacked: true,
      queries: [{ expr: `sum by (reason) (${stopsByReason()})`, legend: '{{reason}}' }],
    }),
    ranking({
      title: 'Lowest uptime',
      description: `The ${SHOWN} servers that ran for the smallest share of the time range. Time in which nothing was known of a server doesn't count.`,
      unit: 'percentunit',
      min: 0,
      max: 1,
      noValue: 'No server was observed in this time range',
      width: 10,
      thresholds: steps('red', [0.95, 'yellow'], [0.99, 'green']),
      links: [SERIES_TO_SERVER],
      query: { expr: `bottomk(${SHOWN}, ${uptime()})`, legend: NAME },
    }),
  ],
};

export const all: Section = {
  title: 'All servers',
  panels: [
    table({
      title: 'All servers',
      description:
        'Every server as of the end of the time range. Columns sort by a click and filter by the funnel.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 24,
      height: 14,
      labels: { server: 'Server', panel: 'Panel' },
      hiddenLabels: ['server_id'],
      columns: [
        { name: 'State', expr: stateCode(), mappings: [STATE_WORDS] },
        { name: 'Up for', expr: `time() - ${gauge('gameserver_start_time_seconds')}`, unit: 'dtdurations' },
        { name: 'CPU', expr: gauge('gameserver_cpu_usage_cores'), unit: 'suffix:cores', decimals: 2 },
        { name: 'CPU of limit', expr: share('cpu'), unit: 'percentunit', thresholds: NEAR_LIMIT },
        { name: 'Memory', expr: gauge('gameserver_memory_usage_bytes'), unit: 'bytes' },
        { name: 'Memory of limit', expr: share('memory'), unit: 'percentunit', thresholds: NEAR_LIMIT },
        { name: 'Disk', expr: gauge('gameserver_disk_usage_bytes'), unit: 'bytes' },
        { name: 'Disk of limit', expr: share('disk'), unit: 'percentunit', thresholds: NEAR_LIMIT },
        { name: 'Data', expr: dataSource(), mappings: [SOURCE_WORDS] },
        { name: 'Sample age', expr: sampleAge(), unit: 's', decimals: 1 },
      ],
      sortBy: ['Server', 'ascending'],
      links: { on: ['server'], to: ROW_TO_SERVER },
    }),
  ],
};
