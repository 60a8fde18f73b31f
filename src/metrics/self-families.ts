import type { PanelReading } from '../domain/reading.ts';

/** A metric family of the exporter itself, as data. */
export interface SelfFamily {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
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
    help: 'Version and revision of the exporter and version of Node.js; always 1.',
    labels: ['version', 'revision', 'nodeversion'],
  },
  shardOrdinal: {
    name: 'gameserver_exporter_shard_ordinal',
    type: 'gauge',
    help: 'Which shard of the servers this exporter observes, counted from 0.',
    labels: [],
  },
  totalShards: {
    name: 'gameserver_exporter_total_shards',
    type: 'gauge',
    help: 'How many shards the servers are divided into; 1 where they are not.',
    labels: [],
  },
  sockets: {
    name: 'gameserver_exporter_sockets',
    type: 'gauge',
    help: 'Console sockets by state.',
    labels: ['panel', 'state'],
  },
  servers: {
    name: 'gameserver_exporter_servers',
    type: 'gauge',
    help: 'Servers by how they are being observed.',
    labels: ['panel', 'condition'],
  },
  reconnects: {
    name: 'gameserver_exporter_reconnects_total',
    type: 'counter',
    help: 'Times that a console socket had to be connected anew, by reason.',
    labels: ['panel', 'reason'],
  },
  messages: {
    name: 'gameserver_exporter_messages_total',
    type: 'counter',
    help: 'Messages received over console sockets, by event; names that are not known count as other.',
    labels: ['panel', 'event'],
  },
  badMessages: {
    name: 'gameserver_exporter_bad_messages_total',
    type: 'counter',
    help: 'Messages and answers that could not be used, wholly or in part, by what was wrong.',
    labels: ['panel', 'kind'],
  },
  discoveryFailures: {
    name: 'gameserver_exporter_discovery_failures_total',
    type: 'counter',
    help: "Walks through the panel's listing that left out a page or an entry.",
    labels: ['panel'],
  },
  apiRequests: {
    name: 'gameserver_exporter_api_requests_total',
    type: 'counter',
    help: "Calls of the panel's API, by endpoint and by HTTP status or kind of failure.",
    labels: ['panel', 'endpoint', 'status'],
  },
  apiRequestDuration: {
    name: 'gameserver_exporter_api_request_duration_seconds',
    type: 'histogram',
    help: "Duration of calls of the panel's API, in seconds.",
    labels: ['panel', 'endpoint'],
    // A panel answers from its cache in about 50 ms, or after up to 20 s if a node doesn't answer; 25 s is the timeout.
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 25],
  },
  reloadSuccessful: {
    name: 'gameserver_exporter_config_last_reload_successful',
    type: 'gauge',
    help: 'Whether the configuration could be loaded the last time.',
    labels: [],
  },
  reloadSuccessTime: {
    name: 'gameserver_exporter_config_last_reload_success_timestamp_seconds',
    type: 'gauge',
    help: 'When the configuration was last loaded successfully, in Unix time in seconds.',
    labels: [],
  },
  wantedDescriptors: {
    name: 'gameserver_exporter_wanted_file_descriptors',
    type: 'gauge',
    help: 'The limit on open files that gives every server that may stream a console socket; compare process_max_fds.',
    labels: [],
  },
  logLinesDropped: {
    name: 'gameserver_exporter_log_lines_dropped_total',
    type: 'counter',
    help: 'Log lines that were dropped because they could not be written: the disk is full, or nothing reads the log.',
    labels: [],
  },
  scrapeDuration: {
    name: 'gameserver_exporter_scrape_duration_seconds',
    type: 'histogram',
    help: 'Time that it took to render the metrics, in seconds; scrapes of the same moment share one render.',
    labels: [],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  },
} as const satisfies Record<string, SelfFamily>;

/** A gauge read from one panel; its only label is `panel`. */
export interface PanelGauge extends SelfFamily {
  /** The current value; undefined if there is none. */
  readonly read: (panel: PanelReading) => number | undefined;
}

function panelGauge(name: string, help: string, read: PanelGauge['read']): PanelGauge {
  return { name: `gameserver_exporter_${name}`, type: 'gauge', help, labels: ['panel'], read };
}

/** The state of each panel's API budget, and the plan that keeps within it. */
export const PANEL_GAUGES: readonly PanelGauge[] = [
  panelGauge(
    'api_budget_limit_calls_per_minute',
    "Calls a minute of the panel's API that the exporter allows itself.",
    ({ budget }) => budget.limitPerMinute,
  ),
  panelGauge(
    'api_budget_used_calls_per_minute',
    "Calls of the panel's API in the last 60 s.",
    ({ budget }) => budget.usedLastMinute,
  ),
  panelGauge(
    'api_budget_queue_length',
    "Calls of the panel's API that wait for their turn.",
    ({ budget }) => budget.queueLength,
  ),
  panelGauge(
    'api_budget_paused',
    'Whether all calls are held back because the panel said that its rate limit was exceeded.',
    ({ budget }) => (budget.paused ? 1 : 0),
  ),
  panelGauge(
    'planned_sockets',
    'Servers that are planned to have a console socket all the time.',
    ({ plan }) => plan.sockets,
  ),
  panelGauge(
    'planned_turns',
    "Servers that are planned to share console sockets by turns, because the panel's limit can't renew one for each.",
    ({ plan }) => plan.turns,
  ),
  panelGauge(
    'planned_turn_sockets',
    'Console sockets that are planned to be shared by turns.',
    ({ plan }) => plan.turnSockets,
  ),
  panelGauge(
    'planned_longest_age_seconds',
    'Age that a streamed sample is planned to reach at the most, in seconds.',
    ({ plan }) => plan.longestAgeMs / 1_000,
  ),
  panelGauge('planned_polls', 'Servers that are planned to be polled.', ({ plan }) => plan.polls),
  panelGauge(
    'planned_poll_interval_seconds',
    'How often each polled server is planned to be polled, in seconds; absent where none is.',
    ({ plan }) => (plan.polls > 0 ? plan.pollIntervalMs / 1_000 : undefined),
  ),
  panelGauge(
    'planned_without_socket',
    "Servers that may stream, but are planned without a console socket because of the process's limit on open files.",
    ({ plan }) => plan.unseated,
  ),
  panelGauge(
    'planned_calls_per_minute',
    "Calls a minute of the panel's API that the plan costs.",
    ({ plan }) => plan.callsPerMinute,
  ),
  panelGauge(
    'wanted_calls_per_minute',
    "Calls a minute of the panel's API that would stream every server that may be streamed.",
    ({ plan }) => plan.wantedCallsPerMinute,
  ),
  panelGauge(
    'discovered_servers',
    "Servers that are observed because the panel's listing names them.",
    ({ discovery }) => discovery?.servers,
  ),
  panelGauge(
    'discovery_left_out_servers',
    "Servers in the panel's listing that are not observed: beyond discover.max_servers, or on a page with more than were asked for.",
    ({ discovery }) => discovery?.leftOut,
  ),
  panelGauge(
    'discovery_ambiguous_servers',
    "Servers in the panel's listing that are not observed because the UUID of another one begins with the same 8 characters.",
    ({ discovery }) => discovery?.ambiguous,
  ),
  panelGauge(
    'discovery_last_success_timestamp_seconds',
    "When every page of the panel's listing was last read, in Unix time in seconds.",
    ({ discovery }) =>
      discovery?.succeededUnixMs === undefined ? undefined : Math.round(discovery.succeededUnixMs) / 1_000,
  ),
];
