import { LIMITED, NAME, NO_SERVERS, SOURCE_WORDS, steps, wordsFor } from '../appearance.ts';
import type { Section } from '../board.ts';
import { DOWNWARDS, graph, timeline } from '../panels.ts';
import {
  byGrowth,
  dataSource,
  gauge,
  growth,
  ofServers,
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
      title: 'Starts and stops',
      description: `When the exporter saw the server start, and stop for which reason (downwards). ${LIMITED}`,
      unit: 'short',
      decimals: 0,
      noValue: 'No start and no stop in this time range',
      width: 12,
      bars: true,
      queries: [
        {
          expr: top(growth('gameserver_starts_total'), byGrowth('gameserver_starts_total')),
          legend: `${NAME} started`,
        },
        {
          expr: top(stopsByReason(), byGrowth('gameserver_stops_total')),
          legend: `${NAME} stopped: {{reason}}`,
        },
      ],
      looks: [['/ stopped: /', DOWNWARDS]],
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
            `bottomk(${SHOWN}, ${perServer(`last_over_time(${ofServers('gameserver_last_sample_timestamp_seconds')}[$__range] @ end())`)})`,
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
    table({
      title: 'Backups',
      description: 'Successful backups, where the exporter is told to ask for them.',
      unit: 'short',
      noValue: 'No backups, or the exporter is not told to ask for them',
      width: 24,
      height: 6,
      labels: { server: 'Server', panel: 'Panel' },
      hiddenLabels: ['server_id'],
      columns: [
        { name: 'Backups', expr: gauge('gameserver_backups') },
        {
          name: 'Age of the newest',
          expr: `time() - ${gauge('gameserver_backup_last_success_timestamp_seconds')}`,
          unit: 'dtdurations',
          thresholds: steps('green', [604_800, 'orange']),
        },
        {
          name: 'Since the last failure',
          expr: `time() - ${gauge('gameserver_backup_last_failure_timestamp_seconds')}`,
          unit: 'dtdurations',
        },
        { name: 'Size of the newest', expr: gauge('gameserver_backup_last_size_bytes'), unit: 'bytes' },
      ],
      sortBy: ['Age of the newest', 'descending'],
    }),
  ],
};
