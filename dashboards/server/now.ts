import { NAME, NEAR_LIMIT, NO_SERVERS, SOURCE_WORDS, STATE_WORDS, steps, YES_NO } from '../appearance.ts';
import type { Section } from '../board.ts';
import { timeline } from '../panels.ts';
import {
  dataSource,
  expected,
  gauge,
  ofServers,
  perServer,
  sampleAge,
  secondsToFullDisk,
  share,
  stateCode,
  uptime,
} from '../promql.ts';
import { table } from '../table.ts';

export const now: Section = {
  title: 'Now',
  panels: [
    table({
      title: 'Servers',
      description: 'The chosen servers as of the end of the time range. Columns sort by a click.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 24,
      height: 7,
      labels: { server: 'Server', panel: 'Panel', node: 'Node', egg: 'Egg' },
      hiddenLabels: ['server_id', 'uuid'],
      columns: [
        { name: 'State', expr: stateCode(), mappings: [STATE_WORDS] },
        { name: 'Should run', expr: expected(), mappings: [YES_NO] },
        { name: 'Up for', expr: `time() - ${gauge('gameserver_start_time_seconds')}`, unit: 'dtdurations' },
        { name: 'Uptime', expr: uptime(), unit: 'percentunit' },
        { name: 'Last exit code', expr: gauge('gameserver_last_exit_code') },
        { name: 'CPU', expr: gauge('gameserver_cpu_usage_cores'), unit: 'suffix:cores', decimals: 2 },
        { name: 'CPU of limit', expr: share('cpu'), unit: 'percentunit', thresholds: NEAR_LIMIT },
        { name: 'Memory', expr: gauge('gameserver_memory_usage_bytes'), unit: 'bytes' },
        { name: 'Memory of limit', expr: share('memory'), unit: 'percentunit', thresholds: NEAR_LIMIT },
        { name: 'Disk', expr: gauge('gameserver_disk_usage_bytes'), unit: 'bytes' },
        { name: 'Disk of limit', expr: share('disk'), unit: 'percentunit', thresholds: NEAR_LIMIT },
        {
          name: 'Disk full in',
          expr: secondsToFullDisk(),
          unit: 's',
          thresholds: steps('red', [86_400, 'orange'], [604_800, 'green']),
        },
        { name: 'Data', expr: dataSource(), mappings: [SOURCE_WORDS] },
        { name: 'Sample age', expr: sampleAge(), unit: 's', decimals: 1 },
        {
          name: 'Known',
          expr: perServer(ofServers('gameserver_info'), 'node', 'egg', 'uuid'),
          hidden: true,
        },
      ],
      sortBy: ['Server', 'ascending'],
    }),
    timeline({
      title: 'State',
      description: 'The state over time, 25 servers a page; unknown without a fresh sample.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 24,
      height: 6,
      mappings: [STATE_WORDS],
      queries: [{ expr: stateCode(), legend: NAME }],
    }),
  ],
};
