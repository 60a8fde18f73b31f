import {
  NAME,
  NEAR_LIMIT,
  NO_SERVERS,
  ROW_TO_SERVER,
  SERIES_TO_SERVER,
  SOURCE_WORDS,
  STATE_WORDS,
} from '../appearance.ts';
import type { Section } from '../board.ts';
import { timeline } from '../panels.ts';
import { dataSource, gauge, sampleAge, share, stateCode } from '../promql.ts';
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
