import {
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE } from './appearance.ts';
import { ofExporters, ofPanels } from './promql.ts';

/** Grafana's number for variable queries that return the values of a label. */
const LABEL_VALUES = 1;

/** The variable for the data source. */
const DATASOURCE_VARIABLE = 'datasource';

/** The initial selection of a dashboard's `Server` variable: all servers, or the first one, without the option All. */
export type Servers = 'all' | 'one';

/**
 * The variables at the top of every dashboard: the data source, then jobs, panels, nodes, eggs and servers, each filtered by the
 * preceding ones. Some servers have no node or egg.
 */
export function variables(servers: Servers) {
  const info = ofPanels('gameserver_info');
  const narrowed = ofPanels('gameserver_info', 'node=~"$node"', 'egg=~"$egg"');
  const server = choice('server', 'Server', narrowed).description('Game servers.');
  return [
    new DatasourceVariableBuilder(DATASOURCE_VARIABLE)
      .label('Data source')
      .description('The Prometheus that scrapes the exporter.')
      .type('prometheus'),
    all(choice('job', 'Job', 'gameserver_exporter_build_info'), '.+').description(
      'Scrape jobs of the exporter.',
    ),
    all(choice('panel', 'Panel', ofExporters('gameserver_panel_up')), '.+').description(
      'Panels, by their names in the configuration.',
    ),
    all(choice('node', 'Node', info), '.*').description('Nodes of the panels.'),
    all(choice('egg', 'Egg', info), '.*').description('Eggs of the servers.'),
    servers === 'all' ? all(server, '.+') : server.includeAll(false),
  ];
}

function choice(name: string, label: string, series: string): QueryVariableBuilder {
  const query = `label_values(${series}, ${name})`;
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(DATASOURCE)
    .query({ qryType: LABEL_VALUES, query, refId: 'PrometheusVariableQueryEditor-VariableQuery' })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc)
    .multi(true);
}

/** Without a value of its own, All expands to all names, which makes queries very long with 500 servers. */
function all(variable: QueryVariableBuilder, value: string): QueryVariableBuilder {
  return variable
    .includeAll(true)
    .allValue(value)
    .current({ text: ['All'], value: ['$__all'] });
}
