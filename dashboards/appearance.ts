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
import type { Condition, SocketState } from '../src/domain/snapshot.ts';
import type { StopReason } from '../src/domain/stops.ts';
import { SHOWN } from './promql.ts';

/** A part of the SDK that consists only of data. */
interface Made<Part> {
  readonly build: () => Part;
}

export const UIDS = {
  fleet: 'gameserver-fleet',
  server: 'gameserver-server',
  exporter: 'gameserver-exporter',
} as const;

/** Ends the legend of a series with its panel while several are selected: names are unique only within a panel. */
export const OF_PANEL = '${of_panel}';

/** The legend of a server's series. */
export const NAME = `{{server}}${OF_PANEL}`;

/** Explains why a graph doesn't show every selected server. */
export const LIMITED = `If more than ${SHOWN} servers are selected, shows the top ${SHOWN}.`;

// The text of a panel without data. A tile has room for a few words, a graph or a table for a sentence.
export const NOTHING = 'No data';
export const NO_SERVERS = 'No servers: check that the exporter is scraped, and the filters above';
export const NO_SAMPLES = 'No samples of these servers in this time range';
export const NO_PANELS = 'No panels: check that the exporter is scraped, and the filters above';
export const NO_EXPORTER = 'No exporter: check that it is scraped, and the job filter above';

// Colors by meaning, used everywhere.
export const GOOD = 'green';
export const WARNING = 'orange';
export const TROUBLE = 'red';
/** Neutral. */
export const INFORMATION = 'blue';
/** Neutral, in the color of text. */
export const PLAIN = 'text';
/** Unknown. */
export const NO_DATA = '#808080';

/** A color for each reason for a stop. */
export const STOP_COLORS: Readonly<Record<StopReason, string>> = {
  requested: INFORMATION,
  exited: 'light-blue',
  crashed: TROUBLE,
  out_of_memory: 'dark-red',
  disk_full: WARNING,
  unknown: NO_DATA,
};

/** A color for each condition. */
export const CONDITION_COLORS: Readonly<Record<Condition, string>> = {
  streaming: GOOD,
  polling: 'yellow',
  connecting: 'light-blue',
  waiting: INFORMATION,
  failing: TROUBLE,
  blocked: 'purple',
  stopped: NO_DATA,
};

export const SOCKET_COLORS: Readonly<Record<SocketState, string>> = {
  streaming: GOOD,
  refreshing: 'light-green',
  connecting: 'light-blue',
  authenticating: INFORMATION,
  none: NO_DATA,
};

/** A mapping of numbers or words to texts and colors. */
export function wordsFor(words: Readonly<Record<string, readonly [text: string, color: string]>>): ValueMap {
  const options = Object.entries(words).map(
    ([value, [text, color]], index) => [value, { text, color, index }] as const,
  );
  return { type: MappingType.ValueToText, options: Object.fromEntries(options) };
}

export const SOURCE_WORDS: ValueMap = wordsFor({
  0: ['no data', NO_DATA],
  1: ['polling', 'yellow'],
  2: ['streaming', GOOD],
});

/** For conditions that should be true. */
export const YES_OR_TROUBLE: ValueMap = wordsFor({ 0: ['no', TROUBLE], 1: ['yes', GOOD] });

/** For conditions that may be true or false. */
export const YES_NO: ValueMap = wordsFor({ 0: ['no', INFORMATION], 1: ['yes', INFORMATION] });

export const UP_OR_DOWN: ValueMap = wordsFor({ 0: ['down', TROUBLE], 1: ['up', GOOD] });

/** Colors for values that are never negative: `first` applies from 0 on, and missing values are gray. */
export function steps(
  first: string,
  ...above: readonly (readonly [from: number, color: string])[]
): Made<ThresholdsConfig> {
  const rest: Threshold[] = [[0, first] as const, ...above].map(([value, color]) => ({ value, color }));
  return {
    build: () => ({ mode: ThresholdsMode.Absolute, steps: [{ value: null, color: NO_DATA }, ...rest] }),
  };
}

/** For usage as a share of a limit. */
export const NEAR_LIMIT = steps(GOOD, [0.8, 'yellow'], [0.95, TROUBLE]);

/**
 * For a line at a value that is too high. The first step has no visible line; the name `transparent` would give it the color of
 * the step below.
 */
export function tooHighFrom(value: number): Made<ThresholdsConfig> {
  return steps('#00000000', [value, TROUBLE]);
}

export const NONE_IS_GOOD = steps(GOOD, [1, TROUBLE]);

export const NEUTRAL = steps(PLAIN);

/** For the time until a disk is full. */
export const TIME_LEFT = steps(TROUBLE, [86_400, WARNING], [604_800, GOOD]);

/** Refers to the selected data source. */
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

/** A link from a table row to its server. */
export const ROW_TO_SERVER = link(
  'Open this server',
  `/d/${UIDS.server}?${CARRIED}&var-panel=\${__data.fields.panel}&var-server=\${__data.fields.server}`,
);

/** A link from a graph's series to its server. */
export const SERIES_TO_SERVER = link(
  'Open this server',
  `/d/${UIDS.server}?${CARRIED}&var-panel=\${__field.labels.panel}&var-server=\${__field.labels.server}`,
);

/** Links from each dashboard to the others that keep the selection. */
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
