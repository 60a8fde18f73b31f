import type { PanelReading } from '../domain/reading.ts';
import { type Family, type FamilyHead, headOf } from './families.ts';

const PREFIX = 'gameserver_exporter_';

/** Families of the exporter itself, in addition to the gauges below and the process and Node.js families of prom-client. */
export const SELF_FAMILIES = {
  buildInfo: headOf(
    `${PREFIX}build_info`,
    'Version and revision of the exporter, and version of Node.js; always 1.',
    ['version', 'revision', 'nodeversion'],
  ),
  shardOrdinal: headOf(
    `${PREFIX}shard_ordinal`,
    'Index of the shard that this exporter monitors, counted from 0.',
  ),
  totalShards: headOf(
    `${PREFIX}total_shards`,
    'Number of shards that the servers are divided into; 1 without sharding.',
  ),
  webInfo: headOf(
    `${PREFIX}web_info`,
    'Address of the status page (--web.external-url), for links in alerts; always 1, absent if it is not set.',
    ['external_url'],
  ),
  panelInfo: headOf(
    `${PREFIX}panel_info`,
    'Address of the panel, which tells panels with the same name apart; always 1.',
    ['panel', 'panel_url'],
  ),
  sockets: headOf(`${PREFIX}sockets`, 'Console WebSockets, by state.', ['panel', 'state']),
  servers: headOf(`${PREFIX}servers`, 'Servers, by condition: how they are being monitored.', [
    'panel',
    'condition',
  ]),
  reconnects: headOf(`${PREFIX}reconnects_total`, 'Console WebSocket reconnects, by reason.', [
    'panel',
    'reason',
  ]),
  messages: headOf(
    `${PREFIX}messages_total`,
    'Messages received over console WebSockets, by event; unknown events count as other.',
    ['panel', 'event'],
  ),
  badMessages: headOf(
    `${PREFIX}bad_messages_total`,
    'Messages and API responses that were unusable, entirely or in part, by kind.',
    ['panel', 'kind'],
  ),
  discoveryFailures: headOf(
    `${PREFIX}discovery_failures_total`,
    "Incomplete reads of the panel's server list: a page or an entry was left out.",
    ['panel'],
  ),
  apiRequests: headOf(
    `${PREFIX}api_requests_total`,
    "Calls to the panel's API, by endpoint and by HTTP status or kind of failure.",
    ['panel', 'endpoint', 'status'],
  ),
  apiRequestDuration: {
    ...headOf(`${PREFIX}api_request_duration_seconds`, "Duration of calls to the panel's API, in seconds.", [
      'panel',
      'endpoint',
    ]),
    type: 'histogram',
    // A panel responds from its cache in about 50 ms, or after up to 20 s if a node doesn't respond; 25 s is the timeout.
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 25],
  },
  reloadSuccessful: headOf(
    `${PREFIX}config_last_reload_successful`,
    'Whether the last attempt to load the configuration was successful.',
  ),
  reloadSuccessTime: headOf(
    `${PREFIX}config_last_reload_success_timestamp_seconds`,
    'When the configuration was last loaded successfully.',
  ),
  requiredDescriptors: headOf(
    `${PREFIX}required_file_descriptors`,
    'File descriptors required to stream from every server that should stream; compare with gameserver_exporter_allowed_file_descriptors.',
  ),
  allowedDescriptors: headOf(
    `${PREFIX}allowed_file_descriptors`,
    'Open file limit of the process; absent if unknown.',
  ),
  logLinesDropped: headOf(
    `${PREFIX}log_lines_dropped_total`,
    'Log lines dropped because they could not be written: the disk is full, or nothing reads the log.',
  ),
} satisfies Record<string, FamilyHead>;

function panelGauge(
  name: string,
  help: string,
  read: (panel: PanelReading) => number | undefined,
): Family<PanelReading> {
  return { ...headOf(PREFIX + name, help, ['panel']), read };
}

/** The state of each panel's API budget and server list, and what the configuration requires of the panel. */
export const PANEL_GAUGES: readonly Family<PanelReading>[] = [
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
