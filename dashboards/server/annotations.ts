import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { AnnotationQuery } from '@grafana/grafana-foundation-sdk/dashboard';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import { DATASOURCE } from '../appearance.ts';
import { CRASHES, gauge, ofServers, perServer, stopsByReason } from '../promql.ts';

/** With more servers than this, the events would hide the graphs. */
const MOST = 20;

/** The events of the selected servers, unless there are too many servers. */
export function serverEvents(): Builder<AnnotationQuery>[] {
  return [
    annotation('State changes', 'blue', '{{server}} · {{panel}}: {{state}}', stateChanges()),
    annotation('Crashes', 'red', '{{server}} · {{panel}}: {{reason}}', `${stopsByReason(CRASHES)} > 0`),
  ];
}

/**
 * The states of servers that differ from the previous step. Every state is a series at all times, so a server that has just
 * appeared doesn't count as changed: it had no 0 before.
 */
function stateChanges(): string {
  const state = ofServers('gameserver_state');
  return perServer(`(${state} == 1) and (${state} offset $__interval == 0)`, 'state');
}

function annotation(
  name: string,
  iconColor: string,
  titleFormat: string,
  expr: string,
): Builder<AnnotationQuery> {
  const few = `count(${gauge('gameserver_collection_up')}) <= ${MOST}`;
  const limited = `(${expr}) and on () (${few})`;
  const target = new prometheus.DataqueryBuilder()
    .datasource(DATASOURCE)
    .refId('Anno')
    .editorMode(prometheus.QueryEditorMode.Code)
    .expr(limited)
    .range()
    .build();
  // Older versions of Grafana read the query from `expr`. The SDK's builder would hide the switch in a menu.
  const query = {
    name,
    datasource: DATASOURCE,
    enable: true,
    iconColor,
    titleFormat,
    tagKeys: 'panel,server',
  };
  return { build: () => ({ ...query, expr: limited, target }) };
}
