// The exporter's metrics about itself, as data.

import type { FleetReading, PanelReading } from '../domain/reading.ts';
import { type Family, familyHead } from './families.ts';
import type { ServerCounts } from './server-counts.ts';

/** The prefix of all metrics about the exporter. */
export const SELF_PREFIX = 'gameserver_exporter_';

/** The exporter's facts about itself. */
export interface SelfFacts {
  readonly version: string;
  /** The commit from which the program was built, or `unknown`. */
  readonly revision: string;
  /** The index of this exporter's shard and the number of shards; absent without sharding. */
  readonly shard?: { readonly index: number; readonly total: number };
  /** The address of the status page in a browser; without it, there is no metric. */
  readonly externalUrl?: string | undefined;
  /** Read only at a scrape. */
  readonly fleet: FleetReading;
  /** The address of a panel, without secrets; undefined if the panel is no longer configured. */
  readonly panelUrl?: (panel: string) => string | undefined;
  /**
   * The open file limit with which every server gets a socket, and the limit of the process,
   * infinite if unknown. Without it, there are no metrics.
   */
  readonly descriptors?: () => { readonly required: number; readonly allowed: number };
}

/**
 * When the configuration was last loaded, and when loading first failed after that, in Unix
 * milliseconds.
 */
export interface Reload {
  readonly successAtMs: number | undefined;
  readonly failingSinceMs: number | undefined;
}

/** The exporter's facts about itself at one scrape. */
interface SelfView extends SelfFacts {
  readonly counts: ServerCounts;
  readonly reload: Reload | undefined;
  /** When the exporter's own code last threw an exception, in Unix milliseconds. */
  readonly internalErrorAtMs: number | undefined;
}

function gauge(
  name: string,
  help: string,
  read: Family<SelfView>['read'],
  labels: readonly string[] = [],
): Family<SelfView> {
  return { ...familyHead(SELF_PREFIX + name, help, labels), read };
}

/** Gauges of the exporter itself, in addition to those of each panel. */
export const SELF_GAUGES: readonly Family<SelfView>[] = [
  gauge(
    'build_info',
    'Version and revision of the exporter, and version of Node.js; always 1.',
    ({ version, revision }) => [[[version, revision, process.version], 1]],
    ['version', 'revision', 'nodeversion'],
  ),
  gauge(
    'shard_ordinal',
    'Index of the shard that this exporter monitors, counted from 0.',
    ({ shard }) => shard?.index ?? 0,
  ),
  gauge(
    'total_shards',
    'Number of shards that the servers are divided into; 1 without sharding.',
    ({ shard }) => shard?.total ?? 1,
  ),
  gauge(
    'web_info',
    'Address of the status page (--web.external-url), for links in alerts; always 1, absent if it is not set.',
    ({ externalUrl }) => (externalUrl === undefined ? [] : [[[externalUrl], 1]]),
    ['external_url'],
  ),
  gauge(
    'panel_info',
    'Address of the panel, which tells panels with the same name apart; always 1.',
    ({ fleet, panelUrl }) =>
      fleet.panels().flatMap(({ name }) => {
        const url = panelUrl?.(name);
        return url === undefined ? [] : [[[name, url], 1] as const];
      }),
    ['panel', 'panel_url'],
  ),
  gauge('sockets', 'Console WebSockets, by state.', ({ counts }) => rows(counts.sockets), ['panel', 'state']),
  gauge(
    'servers',
    'Servers, by condition: how they are being monitored.',
    ({ counts }) => rows(counts.conditions),
    ['panel', 'condition'],
  ),
  gauge(
    'config_last_reload_successful',
    'Whether the last attempt to load the configuration was successful.',
    ({ reload }) => reload && Number(reload.failingSinceMs === undefined),
  ),
  gauge(
    'config_last_reload_success_timestamp_seconds',
    'When the configuration was last loaded successfully.',
    ({ reload }) => seconds(reload?.successAtMs),
  ),
  gauge(
    'config_reload_failing_since_timestamp_seconds',
    'When reloads of the configuration began to fail; absent after a successful one.',
    ({ reload }) => seconds(reload?.failingSinceMs),
  ),
  gauge(
    'last_internal_error_timestamp_seconds',
    "When the exporter's own code last threw an exception.",
    ({ internalErrorAtMs }) => seconds(internalErrorAtMs),
  ),
  gauge(
    'required_file_descriptors',
    'File descriptors required to stream from every server that should stream; compare with gameserver_exporter_allowed_file_descriptors.',
    ({ descriptors }) => descriptors?.().required,
  ),
  gauge('allowed_file_descriptors', 'Open file limit of the process; absent if unknown.', ({ descriptors }) =>
    finite(descriptors?.().allowed),
  ),
];

function rows(counts: ServerCounts[keyof ServerCounts]) {
  return [...counts].flatMap(([panel, ofPanel]) =>
    [...ofPanel].map(([state, n]) => [[panel, state], n] as const),
  );
}

function seconds(unixMs: number | undefined): number | undefined {
  return unixMs === undefined ? undefined : Math.round(unixMs) / 1_000;
}

function finite(value: number | undefined): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

function panelGauge(
  name: string,
  help: string,
  read: (panel: PanelReading) => number | undefined,
): Family<PanelReading> {
  return { ...familyHead(SELF_PREFIX + name, help, ['panel']), read };
}

/** Gauges of each panel: its API budget, its server list and its needs. */
export const PANEL_GAUGES: readonly Family<PanelReading>[] = [
  panelGauge(
    'api_budget_used_calls_per_minute',
    'API calls in the last 60 s.',
    ({ budget }) => budget.usedLastMinute,
  ),
  panelGauge(
    'api_budget_queue_length',
    'API calls waiting in the queue.',
    ({ budget }) => budget.queueLength,
  ),
  panelGauge(
    'api_budget_paused',
    'Whether all API calls are paused because the panel reported that its rate limit was exceeded.',
    ({ budget }) => (budget.paused ? 1 : 0),
  ),
  panelGauge(
    'required_calls_per_minute',
    'API calls per minute required to stream and poll every server as configured.',
    ({ needs }) => needs.requiredCallsPerMinute,
  ),
  panelGauge(
    'allowed_calls_per_minute',
    'API calls per minute that the exporter may use.',
    ({ budget }) => budget.limitPerMinute,
  ),
  panelGauge('required_sockets', 'Servers that should stream.', ({ needs }) => needs.requiredSockets),
  panelGauge(
    'allowed_sockets',
    "Console WebSockets that the process's open file limit allows; absent if unlimited.",
    ({ needs }) => finite(needs.allowedSockets),
  ),
  panelGauge(
    'discovered_servers',
    "Servers monitored because they are in the panel's server list.",
    ({ discovery }) => discovery?.servers,
  ),
  panelGauge(
    'discovery_left_out_servers',
    "Servers in the panel's server list that are not monitored: beyond discover.max_servers, or on a page with more entries than requested.",
    ({ discovery }) => discovery?.leftOut,
  ),
  panelGauge(
    'discovery_ambiguous_servers',
    "Servers in the panel's server list that are not monitored because another UUID begins with the same 8 characters.",
    ({ discovery }) => discovery?.ambiguous,
  ),
  panelGauge(
    'discovery_last_success_timestamp_seconds',
    "When all pages of the panel's server list were last read.",
    ({ discovery }) => seconds(discovery?.succeededUnixMs),
  ),
];
