import { MappingType, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { ROW_TO_SERVER } from '../appearance.ts';
import type { Section } from '../board.ts';
import { ofPanels } from '../promql.ts';
import { table } from '../table.ts';
import { needAttention, SOON, URGENT } from './problems.ts';

const URGENCY: ValueMapping = {
  type: MappingType.RangeToText,
  options: { from: 1, to: URGENT, result: { text: 'now', color: 'red', index: 0 } },
};
const LESS_URGENT: ValueMapping = {
  type: MappingType.RangeToText,
  options: { from: URGENT + 1, to: SOON, result: { text: 'soon', color: 'orange', index: 1 } },
};
const LEAST_URGENT: ValueMapping = {
  type: MappingType.RangeToText,
  options: { from: SOON + 1, to: null, result: { text: 'look into it', color: 'blue', index: 2 } },
};

export const attention: Section = {
  title: 'Who needs attention first',
  panels: [
    table({
      title: 'Problems of panels and nodes',
      description:
        'What is wrong with panels, their API keys and their nodes; the troubleshooting page explains each cause. Alerts of the servers wait until it is fixed.',
      unit: 'short',
      noValue: 'No panel and no node has a problem',
      width: 24,
      height: 6,
      labels: { panel: 'Panel', node: 'Node', cause: 'Cause' },
      columns: [
        {
          name: 'Problem',
          expr: `max by (panel, cause) (${ofPanels('gameserver_panel_problem')}) or max by (panel, node, cause) (${ofPanels('gameserver_node_problem')})`,
          hidden: true,
        },
      ],
      sortBy: ['Panel', 'ascending'],
    }),
    table({
      title: 'Who needs attention first',
      description:
        'Servers with a problem, most urgent first; a server has a row for each of its problems. At most 50 rows.',
      unit: 'short',
      noValue: 'No server needs attention',
      width: 24,
      height: 9,
      labels: { problem: 'Problem', server: 'Server', panel: 'Panel' },
      hiddenLabels: ['server_id', 'reason'],
      columns: [{ name: 'Urgency', expr: needAttention(), mappings: [URGENCY, LESS_URGENT, LEAST_URGENT] }],
      sortBy: ['Urgency', 'ascending'],
      links: { on: ['server'], to: ROW_TO_SERVER },
    }),
  ],
};
