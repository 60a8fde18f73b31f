import {
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE } from './appearance.ts';
import { ofExporters, ofPanels } from './promql.ts';

/** Grafana's number for a variable whose query asks for the values of a label. */
const LABEL_VALUES = 1;

/** What is chosen at the top of every dashboard: the data source, then jobs, panels and servers, each among what was chosen before. */
export function variables() {
  return [
    new DatasourceVariableBuilder('datasource')
      .label('Data source')
      .description('The Prometheus that scrapes the exporter.')
      .type('prometheus'),
    choice('job', 'Job', 'gameserver_exporter_build_info').description('Scrape jobs of the exporter.'),
    choice('panel', 'Panel', ofExporters('gameserver_panel_up')).description(
      'Hosting panels, as the configuration names them.',
    ),
    choice('server', 'Server', ofPanels('gameserver_collection_up')).description('Game servers.'),
  ];
}

function choice(name: string, label: string, series: string): QueryVariableBuilder {
  const query = `label_values(${series}, ${name})`;
  return (
    new QueryVariableBuilder(name)
      .label(label)
      .datasource(DATASOURCE)
      .query({ qryType: LABEL_VALUES, query, refId: 'PrometheusVariableQueryEditor-VariableQuery' })
      .definition(query)
      .refresh(VariableRefresh.OnTimeRangeChanged)
      .sort(VariableSort.NaturalAsc)
      .multi(true)
      .includeAll(true)
      // Without it, All becomes the names of all: with 500 servers a query of ten thousand letters.
      .allValue('.+')
      .current({ text: ['All'], value: ['$__all'] })
  );
}
