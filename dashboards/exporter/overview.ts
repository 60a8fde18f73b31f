import {
  GOOD,
  NO_EXPORTER,
  NONE_IS_GOOD,
  steps,
  TROUBLE,
  UP_OR_DOWN,
  WARNING,
  YES_OR_TROUBLE,
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
import { HELD } from '../status.ts';
import { table } from '../table.ts';

export const overview: Section = {
  title: 'Overview',
  panels: [
    exportersUp(4),
    figure({
      title: 'Fresh samples',
      description:
        'Share of the servers that there is a fresh sample of. Those that the panel holds, as suspended ones, do not count.',
      unit: 'percentunit',
      decimals: 1,
      width: 4,
      thresholds: steps(TROUBLE, [0.8, 'yellow'], [0.95, GOOD]),
      queries: [{ expr: `avg(${unless(gauge('gameserver_collection_up'), HELD)})` }],
    }),
    panelsDown(4),
    figure({
      title: 'Calls refused (429)',
      description: 'Calls in the time range that the panel refused because its rate limit was exceeded.',
      unit: 'none',
      decimals: 0,
      width: 4,
      thresholds: steps(GOOD, [1, WARNING]),
      queries: [{ expr: totalOfSparse('gameserver_exporter_api_requests_total', 'status="429"') }],
    }),
    figure({
      title: 'Missing shards',
      description: 'Shards that no exporter observes: their servers are not on these dashboards.',
      unit: 'none',
      width: 4,
      thresholds: NONE_IS_GOOD,
      queries: [{ expr: `sum(${missingShards()})` }],
    }),
    figure({
      title: 'Refused configs',
      description: 'Exporters that run on an older configuration, because the newest could not be loaded.',
      unit: 'none',
      width: 4,
      thresholds: NONE_IS_GOOD,
      queries: [{ expr: `sum(1 - ${ofEachExporter('gameserver_exporter_config_last_reload_successful')})` }],
    }),
    table({
      title: 'Exporters',
      description: 'Every exporter of the chosen jobs.',
      unit: 'short',
      noValue: NO_EXPORTER,
      height: 6,
      columns: [
        { label: 'instance', name: 'Instance', width: 140, grows: true },
        { label: 'job', name: 'Job', width: 90, grows: true },
        { name: 'Exporter is', expr: exporterUp(), width: 100, mappings: [UP_OR_DOWN] },
        { label: 'version', name: 'Version', width: 80 },
        { label: 'revision', name: 'Revision', width: 90 },
        { label: 'nodeversion', name: 'Node.js', width: 85 },
        { name: 'Shard', expr: ofEachExporter('gameserver_exporter_shard_ordinal'), width: 65, unit: 'none' },
        { name: 'of', expr: ofEachExporter('gameserver_exporter_total_shards'), width: 45, unit: 'none' },
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
          width: 65,
          mappings: [YES_OR_TROUBLE],
        },
        {
          name: 'Loaded',
          expr: `time() - ${ofEachExporter('gameserver_exporter_config_last_reload_success_timestamp_seconds')}`,
          width: 85,
          unit: 's',
          decimals: 1,
        },
      ],
      rows: `max by (job, instance, version, revision, nodeversion) (${ofExporters('gameserver_exporter_build_info')})`,
      sortBy: [['Instance', 'ascending']],
    }),
  ],
};
