import {
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableHide,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE } from './appearance.ts';
import { ofExporters, ofPanels } from './promql.ts';

/** Grafana's number for variable queries that return the values of a label. */
const LABEL_VALUES = 1;

/** Grafana's number for variable queries that return the series of a result as text. */
const QUERY_RESULT = 3;

/** The variable for the data source. */
const DATASOURCE_VARIABLE = 'datasource';

/** The initial selection of a dashboard's `Server` variable: all servers, or the first one, without the option All. */
export type Servers = 'all' | 'one';

/**
 * The variables at the top of every dashboard: the data source, then jobs, panels, nodes, eggs and servers, each filtered by the
 * preceding ones. Some servers have no node or egg. The last variable is hidden.
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
    ofPanel(),
  ];
}

/** The value is a part of a legend, which Grafana inserts before it replaces the labels; empty without a result. */
function ofPanel(): QueryVariableBuilder {
  const panels = `count(group by (panel) (${ofPanels('gameserver_panel_up')})) > 1`;
  return queried('of_panel', `query_result(label_replace(${panels}, "legend", " · {{panel}}", "", ""))`)
    .label('Panel in legends')
    .regex('/legend="([^"]+)"/')
    .hide(VariableHide.HideVariable);
}

function choice(name: string, label: string, series: string): QueryVariableBuilder {
  return queried(name, `label_values(${series}, ${name})`)
    .label(label)
    .sort(VariableSort.NaturalAsc)
    .multi(true);
}

function queried(name: string, query: string): QueryVariableBuilder {
  const type = query.startsWith('label_values') ? LABEL_VALUES : QUERY_RESULT;
  return new QueryVariableBuilder(name)
    .datasource(DATASOURCE)
    .query({ qryType: type, query, refId: 'PrometheusVariableQueryEditor-VariableQuery' })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged);
}

/** Without a value of its own, All expands to all names, which makes queries very long with 500 servers. */
function all(variable: QueryVariableBuilder, value: string): QueryVariableBuilder {
  return variable
    .includeAll(true)
    .allValue(value)
    .current({ text: ['All'], value: ['$__all'] });
}
