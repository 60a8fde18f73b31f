// The numeric fields of a server, each with one name from the snapshot to the metric.

/**
 * A number of a server. As in Prometheus, its name ends with the unit, or with `_total` for a
 * counter.
 */
interface Field {
  /** The help text of the metric `gameserver_<name>`; absent if there is no such metric. */
  readonly help?: string;
}

/**
 * The numbers of a server, in the order of their metrics. Each has the same name in the snapshot,
 * the metrics, `/api/v1` and on the page.
 */
export const FIELDS = {
  memory_usage_bytes: { help: 'Memory in use, in bytes.' },
  memory_limit_bytes: { help: 'Memory limit, in bytes; absent if unlimited or unknown.' },
  cpu_usage_cores: { help: 'CPU in use, in cores.' },
  cpu_seconds_total: {
    help: 'CPU time used while the exporter monitored the server, in seconds; absent without a fresh sample.',
  },
  cpu_limit_cores: { help: 'CPU limit, in cores; absent if unlimited or unknown.' },
  disk_usage_bytes: { help: 'Disk space in use, in bytes.' },
  disk_limit_bytes: { help: 'Disk space limit, in bytes; absent if unlimited or unknown.' },
  network_receive_bytes_total: {
    help: 'Bytes received over the network since the server started, as reported by the panel.',
  },
  network_transmit_bytes_total: {
    help: 'Bytes sent over the network since the server started, as reported by the panel.',
  },
  /** This rate and the next cover the last 5 to 10 seconds, or the time between two polls. */
  network_receive_bytes_per_second: {},
  network_transmit_bytes_per_second: {},
  disk_read_bytes_total: {
    help: 'Bytes read from disk since the server started; absent if the panel does not report them.',
  },
  disk_written_bytes_total: {
    help: 'Bytes written to disk since the server started; absent if the panel does not report them.',
  },
  start_time_seconds: { help: 'When the server started; absent while it is off.' },
  uptime_milliseconds: {},
  cpu_usage_peak_cores: { help: 'Highest one-second CPU usage in the last 60 s, in cores.' },
  memory_usage_peak_bytes: { help: 'Highest one-second memory usage in the last 60 s, in bytes.' },
  state_changed_timestamp_seconds: {
    help: 'When the server entered its current state, as seen by the exporter; absent without a fresh sample.',
  },
  starts_total: { help: 'Server starts seen by the exporter.' },
  last_stop_timestamp_seconds: {
    help: 'When the exporter last saw the server stop; absent until there was a stop.',
  },
  last_exit_code: {
    help: 'Exit code that the node last reported when the server stopped by itself; absent until known.',
  },
  automatic_restart_aborted: {
    help: 'Whether the node gave up restarting the server, or never restarts it (crash detection disabled); 1 until the server starts again.',
  },
  running_seconds_total: { help: 'Seconds for which the exporter saw the server running.' },
  observed_seconds_total: {
    help: 'Seconds for which the exporter monitored the server in any state, excluding gaps longer than 60 s.',
  },
  cpu_saturated_seconds_total: {
    help: 'Seconds with CPU usage of at least 95 % of the limit; absent without a limit.',
  },
  /** The share of the last ten minutes at the CPU limit; undefined without a limit. */
  cpu_saturated_share: {},
  memory_saturated_seconds_total: {
    help: 'Seconds with memory usage of at least 95 % of the limit; absent without a limit.',
  },
  console_lines_total: { help: 'Console lines received from the server.' },
  expected_running: {
    help: 'Whether the server is expected to run (1) or is allowed to be in any state (0); absent while unknown.',
  },
  collection_up: { help: 'Whether the exporter has a fresh sample of the server.' },
  collection_streaming: {
    help: 'Whether samples come from the console WebSocket (1), or from polling or not at all (0).',
  },
  backups: {
    help: 'Successful backups of the server; absent if backups are not collected or not permitted.',
  },
  backup_last_success_timestamp_seconds: {
    help: 'When the newest successful backup was completed; absent if there is none.',
  },
  backup_last_failure_timestamp_seconds: {
    help: 'When the newest failed backup ended; absent if the panel lists none.',
  },
  backup_last_size_bytes: {
    help: 'Size of the newest successful backup, in bytes; absent if there is none.',
  },
  schedules_last_read_timestamp_seconds: {
    help: 'When the schedules of the server were last read; absent if they are not collected or not permitted.',
  },
  schedules_left_out: {
    help: 'Schedules of the server beyond the 20th, which have no series; absent if there are none.',
  },
  players: {
    help: 'People on the server, as reported by the game; absent if it is not queried or not running, does not respond, or hides them.',
  },
  bots: { help: 'Bots on the server; absent if the game does not tell them apart from people.' },
  players_max: {
    help: 'Maximum number of players, as reported by the game; absent if it reports no limit.',
  },
  query_up: {
    help: 'Whether the game responded to the last query; absent if it is not queried or not running.',
  },
  query_duration_seconds: { help: 'Duration of the last query, successful or not, in seconds.' },
  last_sample_timestamp_seconds: { help: 'Time of the newest sample; absent before the first one.' },
  sample_age_seconds: {},
} satisfies Record<string, Field>;

export type FieldName = keyof typeof FIELDS;
export const FIELD_ENTRIES = Object.entries(FIELDS) as readonly (readonly [FieldName, Field])[];
