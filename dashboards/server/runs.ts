import {
  GOOD,
  LIMITED,
  NAME,
  NO_SERVERS,
  SOURCE_WORDS,
  STOP_COLORS,
  steps,
  WARNING,
  wordsFor,
} from '../appearance.ts';
import type { Section } from '../board.ts';
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
  title: 'Restarts and data',
  panels: [
    graph({
      title: 'Starts',
      description: `Starts that the exporter saw. ${LIMITED}`,
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
        'Stops that the exporter saw, of all chosen servers. exited: the server ended by itself with code 0; unknown: nothing said why.',
      unit: 'none',
      decimals: 0,
      noValue: NO_SERVERS,
      width: 6,
      bars: true,
      queries: [{ expr: `sum by (reason) (${stopsByReason()})`, legend: '{{reason}}' }],
      looks: coloredByName(STOP_COLORS),
    }),
    timeline({
      title: 'Data source',
      description:
        'How samples come: by console socket every second, by polling, or not at all. 25 servers a page.',
      unit: 'short',
      noValue: NO_SERVERS,
      width: 12,
      mappings: [SOURCE_WORDS],
      queries: [{ expr: dataSource(), legend: NAME }],
    }),
    graph({
      title: 'Sample age',
      description: `Seconds since the newest sample: about one while the server runs and streams, up to 15 while it is off, up to 30 by polling. Over 60 its values leave. Where more than ${SHOWN} servers are chosen, those with the oldest sample.`,
      unit: 's',
      min: 0,
      noValue: 'No sample ever came',
      width: 12,
      thresholds: steps('green', [60, 'red']),
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
      description: 'When the server could not be observed, and why. 25 servers a page.',
      unit: 'short',
      noValue: 'None of these servers was blocked',
      width: 12,
      mappings: [wordsFor({ 1: ['blocked', 'orange'] })],
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
      description: 'Successful backups, where the exporter is told to ask for them.',
      unit: 'short',
      noValue: 'No backups, or the exporter is not told to ask for them',
      height: 6,
      columns: [
        { label: 'server', name: 'Server', width: 140, grows: true },
        { label: 'panel', name: 'Panel', width: 100, grows: true },
        { name: 'Backups', expr: gauge('gameserver_backups'), width: 100, unit: 'none' },
        {
          name: 'Age of the newest',
          expr: `time() - ${gauge('gameserver_backup_last_success_timestamp_seconds')}`,
          width: 150,
          unit: 's',
          decimals: 1,
          thresholds: steps(GOOD, [604_800, WARNING]),
        },
        {
          name: 'Since a failure',
          expr: `time() - ${gauge('gameserver_backup_last_failure_timestamp_seconds')}`,
          width: 170,
          unit: 's',
          decimals: 1,
        },
        {
          name: 'Size of the newest',
          expr: gauge('gameserver_backup_last_size_bytes'),
          width: 150,
          unit: 'bytes',
          decimals: 1,
        },
      ],
      hiddenLabels: ['server_id'],
      sortBy: [['Age of the newest', 'descending']],
    }),
  ],
};
