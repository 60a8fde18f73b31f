import type { Problem } from '../domain/problem.ts';
import {
  type MeasureName,
  NO_STOPS,
  type NodeCapacity,
  type NodeReading,
  type PanelReading,
  type ScheduleReading,
  type Snapshot,
  STOP_REASONS,
  type StopCounts,
} from '../domain/reading.ts';
import { SERVER_STATES, type ServerState } from '../domain/server.ts';

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

/** For each state, the rows in which that state alone is 1. */
const STATE_ROWS = new Map<ServerState, readonly FamilyRow[]>(
  SERVER_STATES.map((current) => [current, SERVER_STATES.map((state) => [[state], flag(state === current)])]),
);

const STOP_LABELS = STOP_REASONS.map((reason) => [reason, [reason]] as const);

function stopRows(stops: StopCounts): readonly FamilyRow[] {
  return STOP_LABELS.map(([reason, labels]) => [labels, stops[reason]]);
}

const NO_STOP_ROWS = stopRows(NO_STOPS);

/** What the name of every family about a server begins with. */
export const SERVER_PREFIX = 'gameserver_';

/** A family with one value per server: a number of the snapshot, under its own name. */
function measure(name: MeasureName, type: Family<Snapshot>['type'], help: string): Family<Snapshot> {
  return {
    name: `${SERVER_PREFIX}${name}`,
    type,
    stability: 'stable',
    help,
    read: (snapshot) => snapshot[name],
  };
}

/** A family with one series for each schedule; its name isn't unique, so its number is a label as well. */
function ofSchedules(
  name: string,
  help: string,
  read: (schedule: ScheduleReading) => number | undefined,
): Family<Snapshot> {
  return {
    name: `${SERVER_PREFIX}${name}`,
    type: 'gauge',
    stability: 'stable',
    help,
    labels: ['schedule', 'schedule_id'],
    read: ({ schedules }) =>
      schedules.flatMap((schedule) => {
        const value = read(schedule);
        return value === undefined ? [] : [[[schedule.name, schedule.id], value] as const];
      }),
  };
}

const inSeconds = (unixMs: number | undefined) => unixMs && unixMs / 1_000;

/** Every family that is about a server, in the order in which they are exposed. */
export const SERVER_FAMILIES: readonly Family<Snapshot>[] = [
  {
    name: 'gameserver_info',
    type: 'gauge',
    stability: 'stable',
    help: 'Node, egg and UUID of the server, if known; proxy="true" for a proxy, whose players are on other servers. Always 1.',
    labels: ['node', 'egg', 'uuid', 'proxy'],
    read: ({ target, node }) => [[[node, target.egg, target.uuid, target.isProxy && 'true'], 1]],
  },
  {
    name: 'gameserver_state',
    type: 'gauge',
    stability: 'stable',
    help: 'Power state of the server: 1 for the current state, 0 for the others; unknown without a fresh sample.',
    labels: ['state'],
    read: ({ state }) => STATE_ROWS.get(state),
  },
  measure('memory_usage_bytes', 'gauge', 'Memory in use, in bytes.'),
  measure('memory_limit_bytes', 'gauge', 'Memory limit, in bytes; absent if unlimited or unknown.'),
  measure('cpu_usage_cores', 'gauge', 'CPU in use, in cores.'),
  measure(
    'cpu_seconds_total',
    'counter',
    'CPU time used while the exporter monitored the server, in seconds; absent without a fresh sample.',
  ),
  measure('cpu_limit_cores', 'gauge', 'CPU limit, in cores; absent if unlimited or unknown.'),
  measure('disk_usage_bytes', 'gauge', 'Disk space in use, in bytes.'),
  measure('disk_limit_bytes', 'gauge', 'Disk space limit, in bytes; absent if unlimited or unknown.'),
  measure(
    'network_receive_bytes_total',
    'counter',
    'Bytes received over the network since the server started, as reported by the panel.',
  ),
  measure(
    'network_transmit_bytes_total',
    'counter',
    'Bytes sent over the network since the server started, as reported by the panel.',
  ),
  measure(
    'disk_read_bytes_total',
    'counter',
    'Bytes read from disk since the server started; absent if the panel does not report them.',
  ),
  measure(
    'disk_written_bytes_total',
    'counter',
    'Bytes written to disk since the server started; absent if the panel does not report them.',
  ),
  measure('start_time_seconds', 'gauge', 'When the server started; absent while it is off.'),
  measure('cpu_usage_peak_cores', 'gauge', 'Highest one-second CPU usage in the last 60 s, in cores.'),
  measure('memory_usage_peak_bytes', 'gauge', 'Highest one-second memory usage in the last 60 s, in bytes.'),
  measure(
    'state_changed_timestamp_seconds',
    'gauge',
    'When the server entered its current state, as seen by the exporter; absent without a fresh sample.',
  ),
  measure('starts_total', 'counter', 'Server starts seen by the exporter.'),
  {
    name: 'gameserver_stops_total',
    type: 'counter',
    stability: 'stable',
    help: 'Server stops seen by the exporter, by reason.',
    labels: ['reason'],
    read: ({ stops }) => (stops === NO_STOPS ? NO_STOP_ROWS : stopRows(stops)),
  },
  measure(
    'last_stop_timestamp_seconds',
    'gauge',
    'When the exporter last saw the server stop; absent until there was a stop.',
  ),
  measure(
    'last_exit_code',
    'gauge',
    'Exit code that the node last reported when the server stopped by itself; absent until known.',
  ),
  measure(
    'automatic_restart_aborted',
    'gauge',
    'Whether the node gave up restarting the server; 1 until the server starts again.',
  ),
  measure('running_seconds_total', 'counter', 'Seconds for which the exporter saw the server running.'),
  measure(
    'observed_seconds_total',
    'counter',
    'Seconds for which the exporter monitored the server in any state, excluding gaps longer than 60 s.',
  ),
  measure(
    'cpu_saturated_seconds_total',
    'counter',
    'Seconds with CPU usage of at least 95 % of the limit; absent without a limit.',
  ),
  measure(
    'memory_saturated_seconds_total',
    'counter',
    'Seconds with memory usage of at least 95 % of the limit; absent without a limit.',
  ),
  measure('console_lines_total', 'counter', 'Console lines received from the server.'),
  measure(
    'expected_running',
    'gauge',
    'Whether the server is expected to run (1) or is allowed to be in any state (0); absent while unknown.',
  ),
  measure('collection_up', 'gauge', 'Whether the exporter has a fresh sample of the server.'),
  measure(
    'collection_streaming',
    'gauge',
    'Whether samples come from the console WebSocket (1), or from polling or not at all (0).',
  ),
  {
    name: 'gameserver_blocked',
    type: 'gauge',
    stability: 'stable',
    help: 'Why the server cannot be monitored, according to the panel; always 1, absent unless it is blocked.',
    labels: ['reason'],
    // A monitored server isn't blocked, whatever the server list shows. The same applies to a server whose panel or API key is the
    // problem.
    read: ({ blocked }) => (blocked === undefined ? undefined : [[[blocked], 1]]),
  },
  measure(
    'backups',
    'gauge',
    'Successful backups of the server; absent if backups are not collected or not permitted.',
  ),
  measure(
    'backup_last_success_timestamp_seconds',
    'gauge',
    'When the newest successful backup was completed; absent if there is none.',
  ),
  measure(
    'backup_last_failure_timestamp_seconds',
    'gauge',
    'When the newest failed backup ended; absent if the panel lists none.',
  ),
  measure(
    'backup_last_size_bytes',
    'gauge',
    'Size of the newest successful backup, in bytes; absent if there is none.',
  ),
  ofSchedules(
    'schedule_last_run_timestamp_seconds',
    'When the schedule last ran to its end; absent if it never did.',
    ({ lastRunUnixMs }) => inSeconds(lastRunUnixMs),
  ),
  ofSchedules(
    'schedule_next_run_timestamp_seconds',
    'Next scheduled run; absent if the schedule is inactive or has no tasks.',
    ({ nextRunUnixMs }) => inSeconds(nextRunUnixMs),
  ),
  ofSchedules('schedule_processing', '1 while the schedule is running, otherwise 0.', ({ isProcessing }) =>
    flag(isProcessing),
  ),
  measure(
    'schedules_last_read_timestamp_seconds',
    'gauge',
    'When the schedules of the server were last read; absent if they are not collected or not permitted.',
  ),
  measure(
    'players',
    'gauge',
    'People on the server, as reported by the game; absent if it is not queried or not running, does not respond, or hides them.',
  ),
  measure('bots', 'gauge', 'Bots on the server; absent if the game does not tell them apart from people.'),
  measure(
    'players_max',
    'gauge',
    'Maximum number of players, as reported by the game; absent if it reports no limit.',
  ),
  measure(
    'query_up',
    'gauge',
    'Whether the game responded to the last query; absent if it is not queried or not running.',
  ),
  measure('query_duration_seconds', 'gauge', 'Duration of the last query, successful or not, in seconds.'),
  measure(
    'last_sample_timestamp_seconds',
    'gauge',
    'Time of the newest sample; absent before the first one.',
  ),
];

/** What the metrics show of a panel at one instant. */
export interface PanelView {
  readonly name: string;
  readonly up: boolean;
  /** One problem for each cause. */
  readonly problems: readonly Problem[];
  readonly nodes: readonly NodeReading[];
  readonly capacities: readonly NodeCapacity[];
}

/**
 * The view of a panel at the monotonic instant `now`; looks at each of its servers once, to determine the state of the nodes.
 */
export function panelViewOf(panel: PanelReading, now: number): PanelView {
  const { name, up, problems } = panel;
  const isFirst = ({ cause }: Problem, at: number) =>
    problems.findIndex((problem) => problem.cause === cause) === at;
  return {
    name,
    up,
    problems: problems.filter(isFirst),
    nodes: panel.nodes(now),
    capacities: panel.capacities(now),
  };
}

/** Every family that is about a panel or its nodes; `panel` is the only label they all share. */
export const PANEL_FAMILIES: readonly Family<PanelView>[] = [
  {
    name: 'gameserver_panel_up',
    type: 'gauge',
    stability: 'stable',
    help: "Whether the panel's API responds and accepts the API key.",
    read: (panel) => flag(panel.up),
  },
  {
    name: 'gameserver_panel_problem',
    type: 'gauge',
    stability: 'stable',
    help: "1 for each active problem of the panel, its API key, the connection to it, or the exporter's own limits, by cause; absent when there is none.",
    labels: ['cause'],
    read: ({ problems }) => problems.map(({ cause }) => [[cause], 1]),
  },
  {
    name: 'gameserver_node_up',
    type: 'gauge',
    stability: 'stable',
    help: 'Whether the servers of the node can be monitored; 0 if the node itself has a problem and none of its servers is monitored.',
    labels: ['node'],
    read: ({ nodes }) => nodes.map(({ name, up }) => [[name], flag(up)]),
  },
  {
    name: 'gameserver_node_problem',
    type: 'gauge',
    stability: 'stable',
    help: '1 for each active problem of the node, or of its console WebSockets while its servers are polled, by cause; absent when there is none.',
    labels: ['node', 'cause'],
    read: ({ nodes }) =>
      nodes.flatMap(({ name, problem }) =>
        problem === undefined ? [] : [[[name, problem.cause], 1] as const],
      ),
  },
  capacity(
    'memory_bytes',
    'Memory that the node has for servers, in bytes; absent if unlimited.',
    (node) => node.memoryBytes,
  ),
  capacity(
    'memory_allocated_bytes',
    "Sum of the memory limits of the node's servers, in bytes.",
    (node) => node.memoryAllocatedBytes,
  ),
  capacity(
    'memory_overallocation_ratio',
    'Allowed memory overallocation of the node, as a ratio (0.2 is 20 %); +Inf if unlimited.',
    (node) => node.memoryOverallocation,
  ),
  capacity(
    'disk_bytes',
    'Disk space that the node has for servers, in bytes; absent if unlimited.',
    (node) => node.diskBytes,
  ),
  capacity(
    'disk_allocated_bytes',
    "Sum of the disk limits of the node's servers, in bytes.",
    (node) => node.diskAllocatedBytes,
  ),
  capacity(
    'disk_overallocation_ratio',
    'Allowed disk overallocation of the node, as a ratio (0.2 is 20 %); +Inf if unlimited.',
    (node) => node.diskOverallocation,
  ),
  capacity('maintenance', 'Whether the node is in maintenance mode.', (node) =>
    flag(node.isUnderMaintenance),
  ),
];

/** A family about what the panel's application API reports for each node; absent unless the configuration has `nodes`. */
function capacity(
  name: string,
  help: string,
  read: (node: NodeCapacity) => number | undefined,
): Family<PanelView> {
  return {
    name: `gameserver_node_${name}`,
    type: 'gauge',
    stability: 'stable',
    help,
    labels: ['node'],
    read: ({ capacities }) =>
      capacities.flatMap((node) => {
        const value = read(node);
        return value === undefined ? [] : [[[node.name], value] as const];
      }),
  };
}
