import {
  GOOD,
  LIMITED,
  NAME,
  NO_SERVERS,
  SOURCE_WORDS,
  STOP_COLORS,
  steps,
  tooHighFrom,
  WARNING,
  wordsFor,
} from '../appearance.ts';
import type { Section } from '../board.ts';

/** The age from which on the newest successful backup is too old. */
export const OLD_BACKUP_SECONDS = 604_800;

import { coloredByName, graph, timeline } from '../panels.ts';
import {
  byGrowth,
  dataSource,
  gauge,
  growth,
  ofServers,
  overRange,
  perServer,
  SHOWN,
  sampleAge,
  stopsByReason,
  top,
  whereAlso,
} from '../promql.ts';
import { table } from '../table.ts';

export const runs: Section = {
  title: 'Restarts and data source',
  panels: [
    graph({
      title: 'Starts',
      description: `Starts. ${LIMITED}`,
      unit: 'none',
      decimals: 0,
      noValue: NO_SERVERS,
      width: 6,
      bars: true,
      queries: [
        { expr: top(growth('gameserver_starts_total'), byGrowth('gameserver_starts_total')), legend: NAME },
      ],
    }),
    graph({
      title: 'Stops by reason',
      description:
        'Stops of all selected servers. exited means exit code 0, and unknown that the daemon gave no reason.',
      unit: 'none',
      decimals: 0,
      noValue: NO_SERVERS,
      width: 8,
      bars: true,
      queries: [{ expr: `sum by (reason) (${stopsByReason()})`, legend: '{{reason}}' }],
      looks: coloredByName(STOP_COLORS),
    }),
    timeline({
      title: 'Data source',
      description:
        'Whether samples are streamed (every second) or polled, or there are none. 25 servers per page.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 10,
      mappings: [SOURCE_WORDS],
      queries: [{ expr: dataSource(), legend: NAME }],
    }),
    graph({
      title: 'Sample age',
      description: `Age of the latest sample: about 1 s for running servers that stream, up to 15 s for servers that are off, and up to 30 s for polled servers. After 60 s (dashed), the server's series are dropped. If more than ${SHOWN} servers are selected, shows those with the oldest sample.`,
      unit: 's',
      min: 0,
      noValue: 'No samples yet',
      width: 12,
      thresholds: tooHighFrom(60),
      thresholdLines: true,
      queries: [
        {
          expr: whereAlso(
            sampleAge(),
            `bottomk(${SHOWN}, ${overRange(`last_over_time(${ofServers('gameserver_last_sample_timestamp_seconds')}[$__range] @ end())`)})`,
          ),
          legend: NAME,
        },
      ],
    }),
    timeline({
      title: 'Blocked',
      description: 'When the panel blocked the server, and why. 25 servers per page.',
      unit: 'short',
      noValue: 'No data, or none of these servers was blocked',
      width: 12,
      mappings: [wordsFor({ 1: ['blocked', WARNING] })],
      emptyGaps: true,
      queries: [
        { expr: perServer(ofServers('gameserver_blocked'), 'reason'), legend: `${NAME}: {{reason}}` },
      ],
    }),
  ],
};

export const backups: Section = {
  title: 'Backups',
  collapsed: true,
  panels: [
    table({
      title: 'Backups',
      description: 'Backups at the end of the time range. Requires backups in the configuration.',
      unit: 'short',
      noValue: 'No backups: set backups in the configuration',
      height: 6,
      columns: [
        { label: 'server', name: 'Server', width: 120, grows: true },
        { label: 'panel', name: 'Panel', width: 120, grows: true },
        { name: 'Backups', expr: gauge('gameserver_backups'), width: 100, unit: 'none' },
        {
          name: 'Latest success',
          expr: `time() - ${gauge('gameserver_backup_last_success_timestamp_seconds')}`,
          width: 150,
          unit: 's',
          decimals: 1,
          thresholds: steps(GOOD, [OLD_BACKUP_SECONDS, WARNING]),
        },
        {
          name: 'Latest failure',
          expr: `time() - ${gauge('gameserver_backup_last_failure_timestamp_seconds')}`,
          width: 170,
          unit: 's',
          decimals: 1,
        },
        {
          name: 'Latest size',
          expr: gauge('gameserver_backup_last_size_bytes'),
          width: 150,
          unit: 'bytes',
          decimals: 1,
        },
      ],
      hiddenLabels: ['server_id'],
      sortBy: [['Latest success', 'descending']],
    }),
  ],
};
