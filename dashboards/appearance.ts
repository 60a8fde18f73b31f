import type * as common from '@grafana/grafana-foundation-sdk/common';
import {
  type DashboardLink,
  DashboardLinkType,
  MappingType,
  type Threshold,
  type ThresholdsConfig,
  ThresholdsMode,
  type ValueMap,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { ServerState } from '../src/domain/server.ts';
import { SHOWN, STATE_CODES } from './promql.ts';

/** A part of the SDK that is made of data alone. */
interface Made<Part> {
  readonly build: () => Part;
}

export const UIDS = {
  fleet: 'gameserver-fleet',
  server: 'gameserver-server',
  exporter: 'gameserver-exporter',
} as const;

/** What a server's series is called: names are unique within a panel only. */
export const NAME = '{{server}} · {{panel}}';

/** Why a graph doesn't show every server that was chosen. */
export const LIMITED = `Where more than ${SHOWN} servers are chosen, those with most of it.`;

// Texts for panels that have no data.
export const NO_SERVERS = 'No servers: is the exporter scraped, and is something chosen above?';
export const NO_SAMPLES = 'No samples: nothing was known of these servers in this time range';
export const NO_PANELS = 'No panels: is the exporter scraped, and is something chosen above?';
export const NO_EXPORTER = 'No exporter: is it scraped, and is its job chosen above?';

/** Every state's colour, wherever it is shown. */
export const STATE_COLORS: Readonly<Record<ServerState, string>> = {
  running: 'green',
  starting: 'light-blue',
  stopping: 'yellow',
  offline: 'red',
  stopped: 'dark-red',
  unknown: '#808080',
};

/** What numbers stand for, as text and colour. */
export function wordsFor(words: Readonly<Record<number, readonly [text: string, color: string]>>): ValueMap {
  const options = Object.entries(words).map(
    ([value, [text, color]], index) => [value, { text, color, index }] as const,
  );
  return { type: MappingType.ValueToText, options: Object.fromEntries(options) };
}

export const STATE_WORDS: ValueMap = wordsFor(
  Object.fromEntries(
    Object.entries(STATE_CODES).map(([state, code]) => [code, [state, STATE_COLORS[state as ServerState]]]),
  ),
);

export const SOURCE_WORDS: ValueMap = wordsFor({
  0: ['no data', 'red'],
  1: ['polling', 'yellow'],
  2: ['console socket', 'green'],
});

export const YES_NO: ValueMap = wordsFor({ 0: ['no', '#808080'], 1: ['yes', 'green'] });

/** Colours from a value on; the first counts below all others. */
export function steps(
  base: string,
  ...above: readonly (readonly [from: number, color: string])[]
): Made<ThresholdsConfig> {
  const rest: Threshold[] = above.map(([value, color]) => ({ value, color }));
  return {
    build: () => ({ mode: ThresholdsMode.Absolute, steps: [{ value: null, color: base }, ...rest] }),
  };
}

/** Of a limit that is used up: from four fifths on it is worth a look. */
export const NEAR_LIMIT = steps('green', [0.8, 'yellow'], [0.95, 'red']);

export const NONE_IS_GOOD = steps('green', [1, 'red']);

/** Names the chosen data source wherever one is asked for. */
export const DATASOURCE: common.DataSourceRef = { type: 'prometheus', uid: '${datasource}' };

function link(title: string, url: string): Made<DashboardLink> {
  return {
    build: () => ({
      title,
      type: DashboardLinkType.Link,
      url,
      icon: 'external link',
      tooltip: '',
      tags: [],
      asDropdown: false,
      targetBlank: false,
      includeVars: false,
      keepTime: false,
    }),
  };
}

const CARRIED = '${datasource:queryparam}&${job:queryparam}&${__url_time_range}';

/** From a row of a table to its server. */
export const ROW_TO_SERVER = link(
  'Open this server',
  `/d/${UIDS.server}?${CARRIED}&var-panel=\${__data.fields.panel}&var-server=\${__data.fields.server}`,
);

/** From a series of a graph to its server. */
export const SERIES_TO_SERVER = link(
  'Open this server',
  `/d/${UIDS.server}?${CARRIED}&var-panel=\${__field.labels.panel}&var-server=\${__field.labels.server}`,
);

/** From each of the dashboards to the others, with what was chosen. */
export const TO_THE_OTHERS: Made<DashboardLink> = {
  build: () => ({
    title: 'Game servers',
    type: DashboardLinkType.Dashboards,
    tags: ['gameserver-exporter'],
    icon: '',
    tooltip: '',
    asDropdown: false,
    targetBlank: false,
    includeVars: true,
    keepTime: true,
  }),
};
