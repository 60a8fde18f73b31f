import type { CauseCode } from '../../domain/problem.ts';
import type { ServerReading, Snapshot } from '../../domain/reading.ts';
import { identityOf, MIB } from '../../domain/server.ts';
import { type Attention, attentionOf } from './attention.ts';
import { problemOf } from './problems.ts';

/** The fields of the snapshot that the page shows. */
type Shown =
  | 'node'
  | 'state'
  | 'condition'
  | 'blocked'
  | 'source'
  | 'cpu_usage_cores'
  | 'cpu_limit_cores'
  | 'memory_usage_bytes'
  | 'memory_limit_bytes'
  | 'disk_usage_bytes'
  | 'disk_limit_bytes'
  | 'network_receive_bytes_per_second'
  | 'network_transmit_bytes_per_second'
  | 'last_sample_timestamp_seconds'
  | 'start_time_seconds'
  | 'expected_running'
  | 'players'
  | 'players_max'
  | 'last_stop'
  | 'last_crash'
  | 'starts_total'
  | 'backups'
  | 'backup_last_success_timestamp_seconds'
  | 'backup_last_failure_timestamp_seconds'
  | 'backup_last_size_bytes';

/** A server as the page receives it: its identity, and what is shown of its snapshot, under the names of `/api/v1`. */
export interface LiveServer extends Pick<Snapshot, Shown> {
  readonly panel: string;
  readonly server: string;
  readonly server_id: string;
  readonly uuid: string | undefined;
  readonly egg: string | undefined;
  /** The user's own labels as one text. */
  readonly labels: string;
  readonly attention: Attention | undefined;
  /** The code of its problem, and what happened. */
  readonly cause: CauseCode | undefined;
  readonly trouble: string | undefined;
  /** Unwanted stops in the last hour. */
  readonly crashes: number;
  /** Its states in the last two hours, in the form of `stripText`. */
  readonly strip: string;
}

export type LiveField = keyof LiveServer;

/** Samples older than this many seconds are shown with their age. */
export const LIVE_SECONDS = 3;

/** The fields that follow from a server's description alone; with another description, everything is sent again. */
export const IDENTITY_FIELDS = [
  'panel',
  'server',
  'server_id',
  'uuid',
  'egg',
  'labels',
] as const satisfies readonly LiveField[];

/** How each field follows from the snapshot of a server at an instant. Numbers are rounded as displayed: more digits would be sent but not seen. */
export const LIVE_FIELDS: {
  readonly [Field in LiveField]: (server: Snapshot, reading: ServerReading, now: number) => LiveServer[Field];
} = {
  panel: ({ target }) => target.panel,
  server: ({ target }) => target.name,
  server_id: ({ target }) => identityOf(target),
  uuid: ({ target }) => target.uuid,
  egg: ({ target }) => target.egg,
  labels: ({ target }) =>
    Object.entries(target.labels)
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
  node: ({ node }) => node,
  state: ({ state }) => state,
  condition: ({ condition }) => condition,
  blocked: ({ blocked }) => blocked,
  attention: attentionOf,
  cause: (server) => problemOf(server)?.cause,
  trouble: (server) => problemOf(server)?.detail,
  source: ({ source }) => source,
  cpu_usage_cores: (server) => hundredths(server.cpu_usage_cores),
  cpu_limit_cores: (server) => hundredths(server.cpu_limit_cores),
  memory_usage_bytes: (server) => shownSize(server.memory_usage_bytes),
  memory_limit_bytes: (server) => server.memory_limit_bytes,
  disk_usage_bytes: (server) => shownSize(server.disk_usage_bytes),
  disk_limit_bytes: (server) => server.disk_limit_bytes,
  network_receive_bytes_per_second: (server) => shortened(server.network_receive_bytes_per_second, 2),
  network_transmit_bytes_per_second: (server) => shortened(server.network_transmit_bytes_per_second, 2),
  // 0 while samples keep coming, so that a streaming server causes no changes here.
  last_sample_timestamp_seconds: ({ last_sample_timestamp_seconds: at, sample_age_seconds: age }) =>
    age !== undefined && age < LIVE_SECONDS ? 0 : whole(at),
  start_time_seconds: (server) => whole(server.start_time_seconds),
  expected_running: (server) => server.expected_running,
  players: (server) => server.players,
  players_max: (server) => server.players_max,
  last_stop: (server) => server.last_stop,
  last_crash: (server) => server.last_crash,
  crashes: ({ unwanted_stops }) => unwanted_stops.length,
  strip: (_, reading, now) => reading.strip(now),
  starts_total: (server) => server.starts_total,
  backups: (server) => server.backups,
  backup_last_success_timestamp_seconds: (server) => whole(server.backup_last_success_timestamp_seconds),
  backup_last_failure_timestamp_seconds: (server) => whole(server.backup_last_failure_timestamp_seconds),
  backup_last_size_bytes: (server) => shownSize(server.backup_last_size_bytes),
};

function hundredths(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value * 100) / 100;
}

function whole(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.floor(value);
}

/** Rounded to three significant digits of its MiB. */
function shownSize(bytes: number | undefined): number | undefined {
  const mebibytes = shortened(bytes === undefined ? undefined : bytes / MIB, 3);
  return mebibytes === undefined ? undefined : mebibytes * MIB;
}

/** A whole number rounded to this many significant digits. */
export function shortened(value: number | undefined, digits: number): number | undefined {
  if (value === undefined) return undefined;
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) + 1 - digits);
  return Math.round(value / unit) * unit;
}
