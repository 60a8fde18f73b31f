import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { AnnotationQuery } from '@grafana/grafana-foundation-sdk/dashboard';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import { DATASOURCE } from '../appearance.ts';
import { CRASHES, gauge, ofServers, perServer, stopsByReason } from '../promql.ts';

/** Events of more servers than this would hide what they are written on. */
const MOST = 20;

/** What happened to the chosen servers, unless they are too many. */
export function serverEvents(): Builder<AnnotationQuery>[] {
  return [
    annotation('State changes', 'blue', '{{server}} · {{panel}}: {{state}}', stateChanges()),
    annotation('Crashes', 'red', '{{server}} · {{panel}}: {{reason}}', `${stopsByReason(CRASHES)} > 0`),
  ];
}

/**
 * The states that servers are in and weren't in a step before. Every state is a series at all times, so that a server which has only
 * just appeared did not change: there was no 0 before.
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
  // Older Grafanas take the query from `expr`. The SDK's builder would hide the switch in a menu.
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
