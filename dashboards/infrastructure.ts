import { NONE_IS_GOOD, steps, TROUBLE } from './appearance.ts';
import type { PanelBuilder } from './panel.ts';
import { figure } from './panels.ts';
import { exporterUp, ofNodes, ofPanels } from './promql.ts';

/** The numbers of exporters that Prometheus can and can't scrape. */
export function exportersUp(width: number): PanelBuilder {
  return figure({
    title: 'Exporters',
    description:
      "Exporters that Prometheus can and can't scrape. While an exporter is down, nothing is known about its servers.",
    unit: 'none',
    width,
    thresholds: NONE_IS_GOOD,
    queries: [
      { expr: `sum(${exporterUp()})`, legend: 'up' },
      { expr: `sum(1 - ${exporterUp()})`, legend: 'down' },
    ],
    looks: [['/^up$/', [{ id: 'thresholds', value: steps(TROUBLE, [1, 'green']).build() }]]],
  });
}

/** The number of panels that the exporters can't use. */
export function panelsDown(width: number): PanelBuilder {
  return figure({
    title: 'Panels down',
    description: "Panels whose API doesn't respond or rejects the API key.",
    unit: 'none',
    width,
    thresholds: NONE_IS_GOOD,
    queries: [{ expr: `sum(1 - min by (panel) (${ofPanels('gameserver_panel_up')}))` }],
  });
}

/** The number of nodes that can't be monitored. */
export function nodesDown(width: number): PanelBuilder {
  return figure({
    title: 'Nodes down',
    description: "Nodes whose servers can't be monitored because of a problem with the node.",
    unit: 'none',
    width,
    thresholds: NONE_IS_GOOD,
    queries: [{ expr: `sum(1 - max by (panel, node) (${ofNodes('gameserver_node_up')}))` }],
  });
}
