import { NO_STOPS, STOP_REASONS, type StopCounts } from '../domain/reading.ts';
import { finiteLimit, memoryLimitOf, SERVER_STATES, type ServerState } from '../domain/server.ts';
import type { PanelView, ServerView } from './server-view.ts';

/** One series of a family that has its own labels; a label whose value is undefined is omitted. */
type FamilyRow = readonly [labelValues: readonly (string | undefined)[], value: number];

/**
 * Whether users may rely on a family: a stable one keeps its name, type and labels until the next major version, and an
 * experimental one may change in any release. docs/metrics.md promises this.
 */
export type Stability = 'stable' | 'experimental';

/** A metric family as data. */
export interface Family<Subject> {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly stability: Stability;
  readonly help: string;
  /** Labels in addition to those that every series of the subject has; `read` returns their values in this order. */
  readonly labels?: readonly string[];
  /** The value; undefined if there is none: an unknown value is absent, never 0. */
  readonly read: (subject: Subject) => number | undefined | readonly FamilyRow[];
}

const flag = (value: boolean): number => (value ? 1 : 0);

/** For each state, the six rows in which that state alone is 1. */
const STATE_ROWS = new Map<ServerState, readonly FamilyRow[]>(
  SERVER_STATES.map((current) => [current, SERVER_STATES.map((state) => [[state], flag(state === current)])]),
);

const STOP_LABELS = STOP_REASONS.map((reason) => [reason, [reason]] as const);

function stopRows(stops: StopCounts): readonly FamilyRow[] {
  return STOP_LABELS.map(([reason, labels]) => [labels, stops[reason]]);
}

const NO_STOP_ROWS = stopRows(NO_STOPS);

/** Every family that is about a server, in the order in which they are exposed. */
export const SERVER_FAMILIES: readonly Family<ServerView>[] = [
  {
    name: 'gameserver_info',
    type: 'gauge',
    stability: 'stable',
    help: 'Node, egg and UUID of the server, where known; always 1.',
    labels: ['node', 'egg', 'uuid'],
    read: ({ target, node }) => [[[node, target.egg, target.uuid], 1]],
  },
  {
    name: 'gameserver_state',
    type: 'gauge',
    stability: 'stable',
    help: 'Power state of the server: 1 for the current state, 0 for the others; unknown without a fresh sample.',
    labels: ['state'],
    read: ({ state }) => STATE_ROWS.get(state),
  },
  {
    name: 'gameserver_memory_usage_bytes',
    type: 'gauge',
    stability: 'stable',
    help: 'Memory in use, in bytes.',
    read: ({ sample }) => sample?.memoryBytes,
  },
  {
    name: 'gameserver_memory_limit_bytes',
    type: 'gauge',
    stability: 'stable',
    help: 'Memory limit, in bytes; absent if unlimited or unknown.',
    read: ({ sample, target }) =>
      sample && finiteLimit(memoryLimitOf(target.limits, sample.memoryLimitBytes)),
  },
  {
    name: 'gameserver_cpu_usage_cores',
    type: 'gauge',
    stability: 'stable',
    help: 'CPU in use, in cores.',
    read: ({ sample }) => sample?.cpuCores,
  },
  {
    name: 'gameserver_cpu_limit_cores',
    type: 'gauge',
    stability: 'stable',
    help: 'CPU limit, in cores; absent if unlimited or unknown.',
    read: ({ sample, target }) => sample && finiteLimit(target.limits.cpuCores),
  },
  {
    name: 'gameserver_disk_usage_bytes',
    type: 'gauge',
    stability: 'stable',
    help: 'Disk space in use, in bytes.',
    read: ({ sample }) => sample?.diskBytes,
  },
  {
    name: 'gameserver_disk_limit_bytes',
    type: 'gauge',
    stability: 'stable',
    help: 'Disk space limit, in bytes; absent if unlimited or unknown.',
    read: ({ sample, target }) => sample && finiteLimit(target.limits.diskBytes),
  },
  {
    name: 'gameserver_network_receive_bytes_total',
    type: 'counter',
    stability: 'stable',
    help: 'Bytes received over the network since the server started, as reported by the panel.',
    read: ({ sample }) => sample?.networkReceiveBytes,
  },
  {
    name: 'gameserver_network_transmit_bytes_total',
    type: 'counter',
    stability: 'stable',
    help: 'Bytes sent over the network since the server started, as reported by the panel.',
    read: ({ sample }) => sample?.networkTransmitBytes,
  },
  {
    name: 'gameserver_disk_read_bytes_total',
    type: 'counter',
    stability: 'stable',
    help: 'Bytes read from disk since the server started; absent if the panel does not report them.',
    read: ({ sample }) => sample?.diskReadBytes,
  },
  {
    name: 'gameserver_disk_written_bytes_total',
    type: 'counter',
    stability: 'stable',
    help: 'Bytes written to disk since the server started; absent if the panel does not report them.',
    read: ({ sample }) => sample?.diskWrittenBytes,
  },
  {
    name: 'gameserver_start_time_seconds',
    type: 'gauge',
    stability: 'stable',
    help: 'Time at which the server started, as a Unix timestamp in seconds; absent while it is off.',
    read: ({ startTimeSeconds }) => startTimeSeconds,
  },
  {
    name: 'gameserver_cpu_usage_peak_cores',
    type: 'gauge',
    stability: 'stable',
    help: 'Highest one-second CPU usage in the last 60 s, in cores.',
    read: ({ peaks }) => peaks?.cpuCores,
  },
  {
    name: 'gameserver_memory_usage_peak_bytes',
    type: 'gauge',
    stability: 'stable',
    help: 'Highest one-second memory usage in the last 60 s, in bytes.',
    read: ({ peaks }) => peaks?.memoryBytes,
  },
  {
    name: 'gameserver_network_receive_peak_bytes_per_second',
    type: 'gauge',
    stability: 'stable',
    help: 'Highest one-second receive rate in the last 60 s, in bytes per second.',
    read: ({ peaks }) => peaks?.networkReceiveBytesPerSecond,
  },
  {
    name: 'gameserver_network_transmit_peak_bytes_per_second',
    type: 'gauge',
    stability: 'stable',
    help: 'Highest one-second transmit rate in the last 60 s, in bytes per second.',
    read: ({ peaks }) => peaks?.networkTransmitBytesPerSecond,
  },
  {
    name: 'gameserver_starts_total',
    type: 'counter',
    stability: 'stable',
    help: 'Server starts observed by the exporter.',
    read: ({ starts }) => starts,
  },
  {
    name: 'gameserver_stops_total',
    type: 'counter',
    stability: 'stable',
    help: 'Server stops observed by the exporter, by reason.',
    labels: ['reason'],
    read: ({ stops }) => (stops === NO_STOPS ? NO_STOP_ROWS : stopRows(stops)),
  },
  {
    name: 'gameserver_last_exit_code',
    type: 'gauge',
    stability: 'stable',
    help: 'Exit code that the node last reported when the server stopped by itself; absent until known.',
    read: ({ lastExitCode }) => lastExitCode,
  },
  {
    name: 'gameserver_automatic_restart_aborted',
    type: 'gauge',
    stability: 'stable',
    help: 'Whether the node gave up restarting the server; 1 until the server starts again.',
    read: ({ isRestartAborted }) => flag(isRestartAborted),
  },
  {
    name: 'gameserver_running_seconds_total',
    type: 'counter',
    stability: 'stable',
    help: 'Seconds for which the server was observed running.',
    read: ({ durations }) => durations.running,
  },
  {
    name: 'gameserver_observed_seconds_total',
    type: 'counter',
    stability: 'stable',
    help: 'Seconds for which the server was observed in any state, excluding gaps of more than 60 s.',
    read: ({ durations }) => durations.observed,
  },
  {
    name: 'gameserver_cpu_saturated_seconds_total',
    type: 'counter',
    stability: 'stable',
    help: 'Seconds with CPU usage of at least 95 % of the limit; absent without a limit.',
    read: ({ durations }) => durations.cpuSaturated,
  },
  {
    name: 'gameserver_memory_saturated_seconds_total',
    type: 'counter',
    stability: 'stable',
    help: 'Seconds with memory usage of at least 95 % of the limit; absent without a limit.',
    read: ({ durations }) => durations.memorySaturated,
  },
  {
    name: 'gameserver_console_lines_total',
    type: 'counter',
    stability: 'stable',
    help: 'Console lines received from the server.',
    read: ({ consoleLines }) => consoleLines,
  },
  {
    name: 'gameserver_expected_running',
    type: 'gauge',
    stability: 'stable',
    help: 'Whether the server is expected to run (1) or may be in any state (0); absent while unknown.',
    read: ({ expected }) => (expected === undefined ? undefined : flag(expected)),
  },
  {
    name: 'gameserver_collection_up',
    type: 'gauge',
    stability: 'stable',
    help: 'Whether the exporter has a fresh sample of the server.',
    read: ({ sample }) => flag(sample !== undefined),
  },
  {
    name: 'gameserver_collection_streaming',
    type: 'gauge',
    stability: 'stable',
    help: 'Whether samples come from the console socket (1), or from polling or not at all (0).',
    read: ({ status }) => flag(status.condition === 'streaming'),
  },
  {
    name: 'gameserver_blocked',
    type: 'gauge',
    stability: 'stable',
    help: 'Why the server cannot be observed, according to the panel; always 1, present only while it is blocked.',
    labels: ['reason'],
    // A server that is observed isn't blocked, whatever the listing says, and neither is a server whose panel or API key is the
    // problem.
    read: ({ status }) =>
      status.condition !== 'blocked' || status.blocked === undefined ? undefined : [[[status.blocked], 1]],
  },
  {
    name: 'gameserver_backups',
    type: 'gauge',
    stability: 'stable',
    help: 'Successful backups of the server; absent if backups are not collected or not permitted.',
    read: ({ backups }) => backups?.count,
  },
  {
    name: 'gameserver_backup_last_success_timestamp_seconds',
    type: 'gauge',
    stability: 'stable',
    help: 'Time at which the newest successful backup was completed, as a Unix timestamp in seconds; absent if there is none.',
    read: ({ backups }) =>
      backups?.lastSuccessUnixMs === undefined ? undefined : backups.lastSuccessUnixMs / 1_000,
  },
  {
    name: 'gameserver_backup_last_failure_timestamp_seconds',
    type: 'gauge',
    stability: 'stable',
    help: 'Time at which the newest failed backup ended, as a Unix timestamp in seconds; absent if the panel lists none.',
    read: ({ backups }) =>
      backups?.lastFailureUnixMs === undefined ? undefined : backups.lastFailureUnixMs / 1_000,
  },
  {
    name: 'gameserver_backup_last_size_bytes',
    type: 'gauge',
    stability: 'stable',
    help: 'Size of the newest successful backup, in bytes; absent if there is none.',
    read: ({ backups }) => backups?.lastSizeBytes,
  },
  {
    name: 'gameserver_players',
    type: 'gauge',
    stability: 'stable',
    help: 'Players on the server, as reported by the game; absent if it is not queried, not running or does not answer.',
    read: ({ query }) => query?.players,
  },
  {
    name: 'gameserver_players_max',
    type: 'gauge',
    stability: 'stable',
    help: 'Maximum number of players, as reported by the game; absent if it reports no limit.',
    read: ({ query }) => query?.playersMax,
  },
  {
    name: 'gameserver_query_up',
    type: 'gauge',
    stability: 'stable',
    help: 'Whether the game answered the last query; absent if it is not queried or not running.',
    read: ({ query }) => query && flag(query.problem === undefined),
  },
  {
    name: 'gameserver_query_duration_seconds',
    type: 'gauge',
    stability: 'stable',
    help: 'Duration of the last query, answered or not, in seconds.',
    read: ({ query }) => query?.durationSeconds,
  },
  {
    name: 'gameserver_last_sample_timestamp_seconds',
    type: 'gauge',
    stability: 'stable',
    help: 'Time of the newest sample, as a Unix timestamp in seconds; absent before the first one.',
    read: ({ sampleTimeSeconds }) => sampleTimeSeconds,
  },
];

/** Every family that is about a panel or its nodes; `panel` is the only label they all share. */
export const PANEL_FAMILIES: readonly Family<PanelView>[] = [
  {
    name: 'gameserver_panel_up',
    type: 'gauge',
    stability: 'stable',
    help: "Whether the panel's API answers and accepts the API key.",
    read: (panel) => flag(panel.up),
  },
  {
    name: 'gameserver_panel_problem',
    type: 'gauge',
    stability: 'stable',
    help: "Problem with the panel, its API key, the connection to it, or the exporter's own limits; always 1, present only while it lasts.",
    labels: ['cause'],
    read: ({ problems }) => problems.map(({ cause }) => [[cause], 1]),
  },
  {
    name: 'gameserver_node_up',
    type: 'gauge',
    stability: 'stable',
    help: 'Whether the servers of the node can be observed; 0 if the node itself has a problem and none of its servers is observed.',
    labels: ['node'],
    read: ({ nodes }) => nodes.map(({ name, up }) => [[name], flag(up)]),
  },
  {
    name: 'gameserver_node_problem',
    type: 'gauge',
    stability: 'stable',
    help: 'Problem with the node, or with its console WebSockets while its servers are polled; always 1, absent when there is none.',
    labels: ['node', 'cause'],
    read: ({ nodes }) =>
      nodes.flatMap(({ name, problem }) =>
        problem === undefined ? [] : [[[name, problem.cause], 1] as const],
      ),
  },
];
