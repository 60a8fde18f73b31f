import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  type AnnotationQuery,
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { TO_THE_OTHERS } from './appearance.ts';
import type { PanelBuilder } from './panel.ts';
import { variables } from './variables.ts';

/** A heading and the panels under it, each line of which has to fill the width. */
export interface Section {
  readonly title: string;
  readonly panels: readonly PanelBuilder[];
}

export interface Board {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** How far back it shows at first, as in `now-6h`. */
  readonly from: string;
  readonly sections: readonly Section[];
  readonly annotations?: readonly Builder<AnnotationQuery>[];
}

/** A dashboard that loads by file provisioning; panels are numbered in the order in which they stand. */
export function dashboard(board: Board): Dashboard {
  const builder = new DashboardBuilder(board.title)
    .uid(board.uid)
    .description(board.description)
    .tags(['gameserver-exporter'])
    .time({ from: board.from, to: 'now' })
    .refresh('30s')
    .tooltip(DashboardCursorSync.Crosshair)
    .variables(variables())
    .annotations([...(board.annotations ?? [])])
    .link(TO_THE_OTHERS);
  let id = 0;
  for (const { title, panels } of board.sections) {
    builder.withRow(new RowBuilder(title).id((id += 1)));
    for (const panel of panels) {
      panel.id((id += 1));
      builder.withPanel(panel);
    }
  }
  return { ...builder.build(), id: null };
}

/** The file that Grafana is given. */
export function render(dashboard: Dashboard): string {
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}
