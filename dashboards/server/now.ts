import { NAME, NEAR_LIMIT, NO_SERVERS, SOURCE_WORDS, steps, TIME_LEFT, TROUBLE } from '../appearance.ts';
import type { Section } from '../board.ts';
import { timeline } from '../panels.ts';
import {
  dataSource,
  gauge,
  info,
  type Resource,
  resourceMetric,
  sampleAge,
  secondsToFullDisk,
  share,
  uptime,
  uptimeOf30Days,
} from '../promql.ts';
import { STATUS_WORDS, statusCode } from '../status.ts';
import { table } from '../table.ts';

const UPTIME = {
  width: 75,
  unit: 'percentunit',
  thresholds: steps(TROUBLE, [0.95, 'yellow'], [0.99, 'green']),
};

function columns(
  resource: Resource,
  called: string,
  [unit, decimals]: readonly [unit: string, decimals: number],
  widths: readonly [usage: number, limit: number, share: number],
) {
  const [usage, limit] = (['usage', 'limit'] as const).map((kind) => gauge(resourceMetric(resource, kind)));
  return [
    { name: called, expr: usage ?? '', width: widths[0], unit, decimals },
    { name: `${called} limit`, expr: limit ?? '', width: widths[1], unit, decimals },
    {
      name: `${called} %`,
      expr: share(resource),
      width: widths[2],
      unit: 'percentunit',
      decimals: 0,
      thresholds: NEAR_LIMIT,
    },
  ];
}

export const now: Section = {
  title: 'Now',
  panels: [
    table({
      title: 'State',
      description: 'The selected servers at the end of the time range.',
      unit: 'short',
      noValue: NO_SERVERS,
      height: 5,
      columns: [
        { label: 'server', name: 'Server', width: 80, grows: true },
        { label: 'panel', name: 'Panel', width: 80, grows: true },
        { label: 'node', name: 'Node', width: 80, grows: true },
        { label: 'egg', name: 'Egg', width: 80, grows: true },
        { name: 'State', expr: statusCode(), width: 105, mappings: [STATUS_WORDS] },
        {
          name: 'Up for',
          expr: `time() - ${gauge('gameserver_start_time_seconds')}`,
          width: 80,
          unit: 's',
          decimals: 1,
        },
        { ...UPTIME, name: 'Uptime', expr: uptime(), decimals: 1 },
        { ...UPTIME, name: '30 days', expr: uptimeOf30Days(), decimals: 2 },
        {
          name: 'Last stop',
          expr: `time() - ${gauge('gameserver_last_stop_timestamp_seconds')}`,
          width: 85,
          unit: 's',
          decimals: 1,
        },
        { name: 'Exit code', expr: gauge('gameserver_last_exit_code'), width: 82, unit: 'none' },
        { name: 'Data', expr: dataSource(), width: 80, mappings: [SOURCE_WORDS] },
      ],
      rows: info('node', 'egg'),
      hiddenLabels: ['server_id'],
      sortBy: [['Server', 'ascending']],
    }),
    table({
      title: 'Usage',
      description:
        'Usage of the selected servers at the end of the time range. CPU is in cores; columns with % show usage as a share of the limit. Full in: time until the disk is full at the rate of the last six hours.',
      unit: 'short',
      noValue: NO_SERVERS,
      height: 5,
      columns: [
        { label: 'server', name: 'Server', width: 100, grows: true },
        ...columns('cpu', 'CPU', ['none', 2], [60, 90, 65]).filter(({ name }) => name !== 'CPU limit'),
        ...columns('memory', 'Memory', ['bytes', 1], [85, 112, 85]),
        ...columns('disk', 'Disk', ['bytes', 1], [85, 92, 65]),
        {
          name: 'Full in',
          expr: secondsToFullDisk(),
          width: 75,
          unit: 's',
          decimals: 0,
          thresholds: TIME_LEFT,
        },
        { name: 'Sample age', expr: sampleAge(), width: 92, unit: 's', decimals: 0 },
      ],
      rows: gauge('gameserver_collection_up'),
      hiddenLabels: ['panel', 'server_id'],
      sortBy: [['Server', 'ascending']],
    }),
    timeline({
      title: 'State over time',
      description: 'State of the selected servers over time, 25 servers per page.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 24,
      height: 6,
      mappings: [STATUS_WORDS],
      queries: [{ expr: statusCode(), legend: NAME }],
    }),
  ],
};
