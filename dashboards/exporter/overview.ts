import {
  GOOD,
  NO_EXPORTER,
  NONE_IS_GOOD,
  steps,
  TROUBLE,
  UP_OR_DOWN,
  WARNING,
  wordsFor,
} from '../appearance.ts';
import type { Section } from '../board.ts';
import { exportersUp, panelsDown } from '../infrastructure.ts';
import { figure } from '../panels.ts';
import {
  exporterUp,
  gauge,
  missingShards,
  ofEachExporter,
  ofExporters,
  totalOfSparse,
  unless,
} from '../promql.ts';
import { BLOCKED } from '../status.ts';
import { table } from '../table.ts';

const BUILDS = `max by (job, instance, version, revision, nodeversion) (${ofExporters('gameserver_exporter_build_info')})`;

export const overview: Section = {
  title: 'Overview',
  panels: [
    exportersUp(4),
    figure({
      title: 'Fresh data',
      description: "Share of the servers with a fresh sample. Blocked servers don't count.",
      unit: 'percentunit',
      decimals: 1,
      width: 4,
      thresholds: steps(TROUBLE, [0.8, 'yellow'], [0.95, GOOD]),
      queries: [{ expr: `avg(${unless(gauge('gameserver_collection_up'), BLOCKED)})` }],
    }),
    panelsDown(4),
    figure({
      title: 'HTTP 429',
      description: 'API calls in the time range that the panel rejected because its rate limit was exceeded.',
      unit: 'none',
      decimals: 0,
      width: 4,
      thresholds: steps(GOOD, [1, WARNING]),
      queries: [{ expr: totalOfSparse('gameserver_exporter_api_requests_total', 'status="429"') }],
    }),
    figure({
      title: 'Shards down',
      description: "Shards without an exporter: their servers aren't on these dashboards.",
      unit: 'none',
      width: 4,
      thresholds: NONE_IS_GOOD,
      queries: [{ expr: `sum(${missingShards()})` }],
    }),
    figure({
      title: 'Bad configs',
      description: 'Exporters that keep their previous configuration because the latest one is invalid.',
      unit: 'none',
      width: 4,
      thresholds: NONE_IS_GOOD,
      queries: [{ expr: `sum(1 - ${ofEachExporter('gameserver_exporter_config_last_reload_successful')})` }],
    }),
    table({
      title: 'Instances',
      description: 'Every exporter of the selected jobs.',
      unit: 'short',
      noValue: NO_EXPORTER,
      height: 6,
      columns: [
        { label: 'instance', name: 'Instance', width: 130, grows: true, filters: true },
        { label: 'job', name: 'Job', width: 100 },
        { name: 'Status', expr: exporterUp(), width: 65, mappings: [UP_OR_DOWN] },
        { label: 'version', name: 'Version', width: 75 },
        { label: 'revision', name: 'Revision', width: 90 },
        { label: 'nodeversion', name: 'Node.js', width: 80 },
        { name: 'Shard', expr: ofEachExporter('gameserver_exporter_shard_ordinal'), width: 60, unit: 'none' },
        { name: 'Shards', expr: ofEachExporter('gameserver_exporter_total_shards'), width: 65, unit: 'none' },
        {
          name: 'Up for',
          expr: `time() - ${ofEachExporter('process_start_time_seconds')}`,
          width: 85,
          unit: 's',
          decimals: 1,
        },
        {
          name: 'Config',
          expr: ofEachExporter('gameserver_exporter_config_last_reload_successful'),
          width: 75,
          mappings: [wordsFor({ 0: ['invalid', TROUBLE], 1: ['valid', GOOD] })],
        },
        {
          name: 'Config age',
          expr: `time() - ${ofEachExporter('gameserver_exporter_config_last_reload_success_timestamp_seconds')}`,
          width: 95,
          unit: 's',
          decimals: 1,
        },
      ],
      rows: `label_replace(${BUILDS}, "revision", "$1", "revision", "(.{7}).*")`,
      sortBy: [['Instance', 'ascending']],
    }),
  ],
};
