import type { PanelReading } from '../domain/reading.ts';
import type { Stability } from './families.ts';

/** A metric family of the exporter itself, as data. */
export interface SelfFamily {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly stability: Stability;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in seconds. */
  readonly buckets?: readonly number[];
}

/** Families of the exporter itself, in addition to the gauges below and the process and Node.js families of prom-client. */
export const SELF_FAMILIES = {
  buildInfo: {
    name: 'gameserver_exporter_build_info',
    type: 'gauge',
    stability: 'stable',
    help: 'Version and revision of the exporter, and version of Node.js; always 1.',
    labels: ['version', 'revision', 'nodeversion'],
  },
  shardOrdinal: {
    name: 'gameserver_exporter_shard_ordinal',
    type: 'gauge',
    stability: 'stable',
    help: 'Index of the shard that this exporter monitors, counted from 0.',
    labels: [],
  },
  totalShards: {
    name: 'gameserver_exporter_total_shards',
    type: 'gauge',
    stability: 'stable',
    help: 'Number of shards that the servers are divided into; 1 without sharding.',
    labels: [],
  },
  webInfo: {
    name: 'gameserver_exporter_web_info',
    type: 'gauge',
    stability: 'stable',
    help: 'Address of the status page (--web.external-url), for links in alerts; always 1, absent if it is not set.',
    labels: ['external_url'],
  },
  panelInfo: {
    name: 'gameserver_exporter_panel_info',
    type: 'gauge',
    stability: 'stable',
    help: 'Address of the panel, which tells panels with the same name apart; always 1.',
    labels: ['panel', 'panel_url'],
  },
  sockets: {
    name: 'gameserver_exporter_sockets',
    type: 'gauge',
    stability: 'stable',
    help: 'Console WebSockets, by state.',
    labels: ['panel', 'state'],
  },
  servers: {
    name: 'gameserver_exporter_servers',
    type: 'gauge',
    stability: 'stable',
    help: 'Servers, by condition: how they are being monitored.',
    labels: ['panel', 'condition'],
  },
  reconnects: {
    name: 'gameserver_exporter_reconnects_total',
    type: 'counter',
    stability: 'stable',
    help: 'Console WebSocket reconnects, by reason.',
    labels: ['panel', 'reason'],
  },
  messages: {
    name: 'gameserver_exporter_messages_total',
    type: 'counter',
    stability: 'stable',
    help: 'Messages received over console WebSockets, by event; unknown events count as other.',
    labels: ['panel', 'event'],
  },
  badMessages: {
    name: 'gameserver_exporter_bad_messages_total',
    type: 'counter',
    stability: 'stable',
    help: 'Messages and API responses that were unusable, entirely or in part, by kind.',
    labels: ['panel', 'kind'],
  },
  discoveryFailures: {
    name: 'gameserver_exporter_discovery_failures_total',
    type: 'counter',
    stability: 'stable',
    help: "Incomplete reads of the panel's server list: a page or an entry was left out.",
    labels: ['panel'],
  },
  apiRequests: {
    name: 'gameserver_exporter_api_requests_total',
    type: 'counter',
    stability: 'stable',
    help: "Calls to the panel's API, by endpoint and by HTTP status or kind of failure.",
    labels: ['panel', 'endpoint', 'status'],
  },
  apiRequestDuration: {
    name: 'gameserver_exporter_api_request_duration_seconds',
    type: 'histogram',
    stability: 'stable',
    help: "Duration of calls to the panel's API, in seconds.",
    labels: ['panel', 'endpoint'],
    // A panel responds from its cache in about 50 ms, or after up to 20 s if a node doesn't respond; 25 s is the timeout.
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 25],
  },
  reloadSuccessful: {
    name: 'gameserver_exporter_config_last_reload_successful',
    type: 'gauge',
    stability: 'stable',
    help: 'Whether the last attempt to load the configuration was successful.',
    labels: [],
  },
  reloadSuccessTime: {
    name: 'gameserver_exporter_config_last_reload_success_timestamp_seconds',
    type: 'gauge',
    stability: 'stable',
    help: 'When the configuration was last loaded successfully.',
    labels: [],
  },
  requiredDescriptors: {
    name: 'gameserver_exporter_required_file_descriptors',
    type: 'gauge',
    stability: 'stable',
    help: 'File descriptors required to stream from every server that should stream; compare with gameserver_exporter_allowed_file_descriptors.',
    labels: [],
  },
  allowedDescriptors: {
    name: 'gameserver_exporter_allowed_file_descriptors',
    type: 'gauge',
    stability: 'stable',
    help: 'Open file limit of the process; absent if unknown.',
    labels: [],
  },
  logLinesDropped: {
    name: 'gameserver_exporter_log_lines_dropped_total',
    type: 'counter',
    stability: 'stable',
    help: 'Log lines dropped because they could not be written: the disk is full, or nothing reads the log.',
    labels: [],
  },
} as const satisfies Record<string, SelfFamily>;

/** A gauge read from one panel; its only label is `panel`. */
export interface PanelGauge extends SelfFamily {
  /** The current value; undefined if there is none. */
  readonly read: (panel: PanelReading) => number | undefined;
}

function panelGauge(name: string, help: string, read: PanelGauge['read']): PanelGauge {
  return {
    name: `gameserver_exporter_${name}`,
    type: 'gauge',
    stability: 'stable',
    help,
    labels: ['panel'],
    read,
  };
}

/** The state of each panel's API budget and server list, and what the configuration requires of the panel. */
export const PANEL_GAUGES: readonly PanelGauge[] = [
  panelGauge(
    'api_budget_limit_calls_per_minute',
    'API calls per minute that the exporter limits itself to.',
    ({ budget }) => budget.limitPerMinute,
  ),
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
    ({ needs }) => (Number.isFinite(needs.allowedSockets) ? needs.allowedSockets : undefined),
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
    ({ discovery }) =>
      discovery?.succeededUnixMs === undefined ? undefined : Math.round(discovery.succeededUnixMs) / 1_000,
  ),
];
