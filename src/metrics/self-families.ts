import type { PanelReading, PlanReading } from '../domain/reading.ts';
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
    help: 'Index of the shard that this exporter observes, counted from 0.',
    labels: [],
  },
  totalShards: {
    name: 'gameserver_exporter_total_shards',
    type: 'gauge',
    stability: 'stable',
    help: 'Number of shards that the servers are divided into; 1 without sharding.',
    labels: [],
  },
  sockets: {
    name: 'gameserver_exporter_sockets',
    type: 'gauge',
    stability: 'stable',
    help: 'Console sockets, by state.',
    labels: ['panel', 'state'],
  },
  servers: {
    name: 'gameserver_exporter_servers',
    type: 'gauge',
    stability: 'stable',
    help: 'Servers, by condition: how they are being observed.',
    labels: ['panel', 'condition'],
  },
  reconnects: {
    name: 'gameserver_exporter_reconnects_total',
    type: 'counter',
    stability: 'stable',
    help: 'Console socket reconnects, by reason.',
    labels: ['panel', 'reason'],
  },
  messages: {
    name: 'gameserver_exporter_messages_total',
    type: 'counter',
    stability: 'stable',
    help: 'Messages received over console sockets, by event; unknown events count as other.',
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
    help: "Incomplete reads of the panel's listing: a page or an entry was left out.",
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
    // A panel answers from its cache in about 50 ms, or after up to 20 s if a node doesn't answer; 25 s is the timeout.
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
    help: 'Time of the last successful load of the configuration, as a Unix timestamp in seconds.',
    labels: [],
  },
  wantedDescriptors: {
    name: 'gameserver_exporter_wanted_file_descriptors',
    type: 'gauge',
    stability: 'stable',
    help: 'Open file limit needed for a console socket to every server that may stream; compare with process_max_fds.',
    labels: [],
  },
  logLinesDropped: {
    name: 'gameserver_exporter_log_lines_dropped_total',
    type: 'counter',
    stability: 'stable',
    help: 'Log lines dropped because they could not be written: the disk is full, or nothing reads the log.',
    labels: [],
  },
  scrapeDuration: {
    name: 'gameserver_exporter_scrape_duration_seconds',
    type: 'histogram',
    stability: 'stable',
    help: 'Time taken to render the metrics, in seconds; simultaneous scrapes share one render.',
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
  return {
    name: `gameserver_exporter_${name}`,
    type: 'gauge',
    stability: 'stable',
    help,
    labels: ['panel'],
    read,
  };
}

/** A gauge of the plan. How the exporter plans API calls may change, and these gauges with it. */
function planGauge(name: string, help: string, read: (plan: PlanReading) => number | undefined): PanelGauge {
  return { ...panelGauge(name, help, ({ plan }) => read(plan)), stability: 'experimental' };
}

/** The state of each panel's API budget, and the plan that keeps within it. */
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
  planGauge(
    'planned_sockets',
    'Servers planned to have a console socket all the time.',
    (plan) => plan.sockets,
  ),
  planGauge(
    'planned_turns',
    "Servers planned to take turns on console sockets, because the panel's rate limit is too low for one each.",
    (plan) => plan.turns,
  ),
  planGauge(
    'planned_turn_sockets',
    'Console sockets planned for servers that take turns.',
    (plan) => plan.turnSockets,
  ),
  planGauge(
    'planned_longest_age_seconds',
    'Highest planned age of a streamed sample, in seconds.',
    (plan) => plan.longestAgeMs / 1_000,
  ),
  planGauge('planned_polls', 'Servers planned to be polled.', (plan) => plan.polls),
  planGauge(
    'planned_poll_interval_seconds',
    'Planned interval between two polls of a server, in seconds; absent if no server is polled.',
    (plan) => (plan.polls > 0 ? plan.pollIntervalMs / 1_000 : undefined),
  ),
  planGauge(
    'planned_without_socket',
    "Servers that may stream, but are planned without a console socket because of the process's open file limit.",
    (plan) => plan.unseated,
  ),
  planGauge(
    'planned_calls_per_minute',
    'API calls per minute that the plan needs.',
    (plan) => plan.callsPerMinute,
  ),
  planGauge(
    'wanted_calls_per_minute',
    'API calls per minute needed to stream every server that may stream.',
    (plan) => plan.wantedCallsPerMinute,
  ),
  panelGauge(
    'discovered_servers',
    "Servers observed because they are in the panel's listing.",
    ({ discovery }) => discovery?.servers,
  ),
  panelGauge(
    'discovery_left_out_servers',
    "Servers in the panel's listing that are not observed: beyond discover.max_servers, or on a page with more entries than requested.",
    ({ discovery }) => discovery?.leftOut,
  ),
  panelGauge(
    'discovery_ambiguous_servers',
    "Servers in the panel's listing that are not observed because another UUID begins with the same 8 characters.",
    ({ discovery }) => discovery?.ambiguous,
  ),
  panelGauge(
    'discovery_last_success_timestamp_seconds',
    "Time at which all pages of the panel's listing were last read, as a Unix timestamp in seconds.",
    ({ discovery }) =>
      discovery?.succeededUnixMs === undefined ? undefined : Math.round(discovery.succeededUnixMs) / 1_000,
  ),
];
