import { NO_EXPORTER, NO_PANELS, steps, YES_NO } from '../appearance.ts';
import type { Section } from '../board.ts';
import { figure } from '../panels.ts';
import { gauge, ofEachExporter, ofExporters, ofPanels, totalOfSparse } from '../promql.ts';
import { table } from '../table.ts';

export const overview: Section = {
  title: 'Overview',
  panels: [
    figure({
      title: 'Servers with fresh samples',
      description: 'Part of the servers that there is a fresh sample of; blocked ones count as without.',
      unit: 'percentunit',
      decimals: 1,
      noValue: NO_PANELS,
      width: 5,
      thresholds: steps('red', [0.8, 'yellow'], [0.95, 'green']),
      queries: [{ expr: `avg(${gauge('gameserver_collection_up')})` }],
    }),
    figure({
      title: 'Panels in trouble',
      description: 'Panels whose API does not answer or does not accept the key.',
      unit: 'short',
      noValue: NO_PANELS,
      width: 5,
      thresholds: steps('green', [1, 'red']),
      queries: [{ expr: `sum(1 - min by (panel) (${ofPanels('gameserver_panel_up')}))` }],
    }),
    figure({
      title: 'Calls refused with 429',
      description: 'Calls in the time range that the panel refused because its rate limit was exceeded.',
      unit: 'short',
      decimals: 0,
      noValue: NO_PANELS,
      width: 5,
      thresholds: steps('green', [1, 'orange']),
      queries: [
        {
          expr: totalOfSparse('gameserver_exporter_api_requests_total', 'status="429"'),
        },
      ],
    }),
    figure({
      title: 'Shards that are missing',
      description: 'Shards that no exporter observes: their servers are not on these dashboards.',
      unit: 'short',
      noValue: NO_EXPORTER,
      width: 5,
      thresholds: steps('green', [1, 'red']),
      queries: [
        {
          expr: `sum(max by (job) (${ofExporters('gameserver_exporter_total_shards')}) - count by (job) (count_values by (job) ("shard", ${ofExporters('gameserver_exporter_shard_ordinal')})))`,
        },
      ],
    }),
    figure({
      title: 'Configurations refused',
      description: 'Exporters that run on an older configuration, because the newest could not be loaded.',
      unit: 'short',
      noValue: NO_EXPORTER,
      width: 4,
      thresholds: steps('green', [1, 'red']),
      queries: [{ expr: `sum(1 - ${ofEachExporter('gameserver_exporter_config_last_reload_successful')})` }],
    }),
    table({
      title: 'Exporters',
      description: 'Every exporter of the chosen jobs.',
      unit: 'short',
      noValue: NO_EXPORTER,
      width: 24,
      height: 6,
      labels: {
        instance: 'Instance',
        job: 'Job',
        version: 'Version',
        revision: 'Revision',
        nodeversion: 'Node.js',
      },
      columns: [
        {
          name: 'Build',
          expr: `max by (job, instance, version, revision, nodeversion) (${ofExporters('gameserver_exporter_build_info')})`,
          hidden: true,
        },
        { name: 'Shard', expr: ofEachExporter('gameserver_exporter_shard_ordinal') },
        { name: 'of', expr: ofEachExporter('gameserver_exporter_total_shards') },
        {
          name: 'Up for',
          expr: `time() - ${ofEachExporter('process_start_time_seconds')}`,
          unit: 'dtdurations',
        },
        {
          name: 'Newest configuration loaded',
          expr: ofEachExporter('gameserver_exporter_config_last_reload_successful'),
          mappings: [YES_NO],
        },
        {
          name: 'Configured since',
          expr: `time() - ${ofEachExporter('gameserver_exporter_config_last_reload_success_timestamp_seconds')}`,
          unit: 'dtdurations',
        },
      ],
      sortBy: ['Instance', 'ascending'],
    }),
  ],
};
