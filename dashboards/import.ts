import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { CARRIED_DATASOURCE, DATASOURCE } from './appearance.ts';
import { DATASOURCE_VARIABLE } from './variables.ts';

/** An input that Grafana asks for when it imports a dashboard. */
interface Input {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly type: 'datasource';
  readonly pluginId: string;
  readonly pluginName: string;
}

/** A part of Grafana that a dashboard requires. */
interface Requirement {
  readonly type: 'grafana' | 'datasource' | 'panel';
  readonly id: string;
  readonly name: string;
  readonly version: string;
}

/** A dashboard in the format of grafana.com and Grafana's import. */
export type ImportedDashboard = Dashboard & {
  readonly __inputs: readonly Input[];
  readonly __elements: Readonly<Record<string, never>>;
  readonly __requires: readonly Requirement[];
};

/** The oldest version of Grafana that displays everything correctly. */
const GRAFANA_VERSION = '12.0.0';

const INPUT: Input = {
  name: 'DS_PROMETHEUS',
  label: 'Prometheus',
  description: 'The Prometheus that scrapes the exporter.',
  type: 'datasource',
  pluginId: 'prometheus',
  pluginName: 'Prometheus',
};

const PANEL_NAMES: Readonly<Record<string, string>> = {
  bargauge: 'Bar gauge',
  stat: 'Stat',
  'state-timeline': 'State timeline',
  table: 'Table',
  timeseries: 'Time series',
};

/** The same dashboard with its data source as an input of the import instead of a variable. */
export function forImport(dashboard: Dashboard): ImportedDashboard {
  const list = (dashboard.templating?.list ?? []).filter(({ name }) => name !== DATASOURCE_VARIABLE);
  const text = JSON.stringify({ ...dashboard, templating: { list } })
    .replaceAll(CARRIED_DATASOURCE, '')
    .replaceAll(JSON.stringify(DATASOURCE.uid), JSON.stringify(`\${${INPUT.name}}`));
  return {
    __inputs: [INPUT],
    __elements: {},
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: GRAFANA_VERSION },
      { type: 'datasource', id: 'prometheus', name: 'Prometheus', version: '1.0.0' },
      ...panelTypes(dashboard).map((id): Requirement => {
        const name = PANEL_NAMES[id];
        if (name === undefined) throw new Error(`expected the name of the panel ${id}`);
        return { type: 'panel', id, name, version: '' };
      }),
    ],
    ...(JSON.parse(text) as Dashboard),
  };
}

function panelTypes({ panels = [] }: Dashboard): readonly string[] {
  const all = panels.flatMap((panel) => ('panels' in panel ? panel.panels : [panel]));
  return [...new Set(all.map(({ type }) => type))].toSorted();
}
