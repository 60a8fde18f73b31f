import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  type AnnotationQuery,
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  type Panel,
  RowBuilder,
  type RowPanel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { TO_THE_OTHERS } from './appearance.ts';
import type { PanelBuilder } from './panel.ts';
import { type Servers, variables } from './variables.ts';

/** A heading and the panels under it; each line of panels has to fill the width. */
export interface Section {
  readonly title: string;
  readonly panels: readonly PanelBuilder[];
  /** Initially collapsed, and without queries until it is opened: it is empty if a feature isn't used, or for a closer look. */
  readonly collapsed?: true;
}

export interface Board {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** The start of the initial time range, such as `now-6h`. */
  readonly from: string;
  readonly servers: Servers;
  readonly sections: readonly Section[];
  readonly annotations?: readonly Builder<AnnotationQuery>[];
}

/** A dashboard for file provisioning; panels are numbered in their order. */
export function dashboard(board: Board): Dashboard {
  const builder = new DashboardBuilder(board.title)
    .uid(board.uid)
    .description(board.description)
    .tags(['gameserver-exporter'])
    .time({ from: board.from, to: 'now' })
    .refresh('1m')
    .tooltip(DashboardCursorSync.Crosshair)
    .variables(variables(board.servers))
    .annotations([...(board.annotations ?? [])])
    .link(TO_THE_OTHERS);
  let id = 0;
  for (const { title, panels, collapsed } of board.sections) {
    const row = new RowBuilder(title).id((id += 1));
    for (const panel of panels) panel.id((id += 1));
    if (collapsed) {
      row.collapsed(true);
      for (const panel of panels) row.withPanel(panel);
    }
    builder.withRow(row);
    if (!collapsed) for (const panel of panels) builder.withPanel(panel);
  }
  const built = builder.build();
  return { ...built, id: null, panels: closedUp(built.panels ?? []) };
}

/** The SDK leaves space below a collapsed row for its panels; Grafana expects none. */
function closedUp(panels: readonly (Panel | RowPanel)[]): (Panel | RowPanel)[] {
  let up = 0;
  return panels.map((panel) => {
    const moved = shifted(panel, up);
    if (!('panels' in moved)) return moved;
    const panels = moved.panels.map((inner) => shifted(inner, up));
    const bottoms = panels.map(({ gridPos }) => (gridPos?.y ?? 0) + (gridPos?.h ?? 0));
    up += Math.max(0, ...bottoms.map((bottom) => bottom - (moved.gridPos?.y ?? 0) - 1));
    return { ...moved, panels };
  });
}

function shifted<Kind extends Panel | RowPanel>(panel: Kind, up: number): Kind {
  return panel.gridPos === undefined
    ? panel
    : { ...panel, gridPos: { ...panel.gridPos, y: panel.gridPos.y - up } };
}

/** The text of the dashboard's file. */
export function render(dashboard: Dashboard): string {
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}
