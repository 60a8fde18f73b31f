import type { Snapshot } from '../domain/reading.ts';
import {
  identityOf,
  type Limit,
  type Limits,
  MIB,
  memoryLimitOf,
  type ServerTarget,
} from '../domain/server.ts';
import type { Family } from './families.ts';

/** A family under its name in another exporter, with the metric that replaces it. */
export interface CompatibilityFamily extends Family<Snapshot> {
  /** This exporter's metric with the same meaning; undefined if there is none. */
  readonly replacedBy?: string;
  /** The PromQL expression that turns that metric into the old value; `METRIC` stands for its name. */
  readonly translation?: string;
}

/** The panel sends percentages with three decimals; any finer digits come from the division by 100. */
const PERCENT_STEPS = 1_000;

function mebibytes(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : bytes / MIB;
}

function percent(cores: number | undefined): number | undefined {
  return cores === undefined ? undefined : Math.round(cores * 100 * PERCENT_STEPS) / PERCENT_STEPS;
}

/** A limit in the notation of the panel's server list; dashboards look for the word `unlimited`. */
function listed(
  limit: Limit | undefined,
  unlimited: number,
  convert: (limit: number) => number | undefined,
): number | undefined {
  if (limit === 'unlimited') return unlimited;
  return limit === undefined ? undefined : convert(limit);
}

/**
 * The memory limit as pterodactyl_exporter shows it: the same rule, except that the server list's number takes precedence over the
 * node's, which includes some overhead.
 */
function listedMemoryLimit(
  { memoryBytes, listedMemoryBytes }: Limits,
  reportedBytes: number | undefined,
): Limit | undefined {
  const first = memoryBytes ?? listedMemoryBytes;
  return memoryLimitOf({ memoryBytes: first }, reportedBytes);
}

// 0 for a server without any backup, because alerts on old backups rely on it.
function backupTime({
  backups,
  backup_last_success_timestamp_seconds: at = 0,
}: Snapshot): number | undefined {
  return backups === undefined ? undefined : at;
}

function gauge(
  name: string,
  help: string,
  read: (snapshot: Snapshot) => number | undefined,
  place: Pick<CompatibilityFamily, 'replacedBy' | 'translation'> = {},
): CompatibilityFamily {
  return { name, type: 'gauge', stability: 'stable', help, read, ...place };
}

/** Limits are shown together with usage. */
function ifUp(up: number | undefined, value: number | undefined): number | undefined {
  return up === 1 ? value : undefined;
}

const IN_MIB = 'METRIC / 1024^2';
const IN_PERCENT = 'METRIC * 100';

/**
 * The families of another exporter, so that dashboards made for it keep working. Names, labels and units are from the sources at
 * github.com/LOENS2/pterodactyl_exporter and of the PyPI package pelican-exporter 0.1.2, which has the same under another prefix. As
 * there, an unlimited resource has the limit 0; unknown values are absent.
 */
export function compatibilityFamilies(prefix: string): readonly CompatibilityFamily[] {
  return FAMILIES.map((family) => withPrefix(prefix, family));
}

function withPrefix(prefix: string, family: CompatibilityFamily): CompatibilityFamily {
  return { ...family, name: prefix + family.name };
}

/** What the metric names of pterodactyl_exporter and pelican-exporter begin with. */
export const COMPATIBILITY_PREFIXES = {
  pterodactyl_exporter: 'pterodactyl_server_',
  pelican_exporter: 'pelican_server_',
} as const;

/** Named without the prefix. */
const FAMILIES: readonly CompatibilityFamily[] = [
  gauge('memory_mebibyte', 'Memory in use, in MiB.', (server) => mebibytes(server.memory_usage_bytes), {
    replacedBy: 'gameserver_memory_usage_bytes',
    translation: IN_MIB,
  }),
  gauge('cpu_absolute', 'CPU in use, in percent of one core.', (server) => percent(server.cpu_usage_cores), {
    replacedBy: 'gameserver_cpu_usage_cores',
    translation: IN_PERCENT,
  }),
  gauge('disk_mebibyte', 'Disk space in use, in MiB.', (server) => mebibytes(server.disk_usage_bytes), {
    replacedBy: 'gameserver_disk_usage_bytes',
    translation: IN_MIB,
  }),
  gauge(
    'network_rx_mebibyte',
    'Data received over the network since the server started, in MiB.',
    (server) => mebibytes(server.network_receive_bytes_total),
    { replacedBy: 'gameserver_network_receive_bytes_total', translation: IN_MIB },
  ),
  gauge(
    'network_tx_mebibyte',
    'Data sent over the network since the server started, in MiB.',
    (server) => mebibytes(server.network_transmit_bytes_total),
    { replacedBy: 'gameserver_network_transmit_bytes_total', translation: IN_MIB },
  ),
  gauge(
    'uptime_milliseconds',
    'Time since the server started, in milliseconds; 0 while it is off.',
    (server) => server.uptime_milliseconds,
    { replacedBy: 'gameserver_start_time_seconds', translation: '(time() - METRIC) * 1000' },
  ),
  gauge(
    'max_memory_mebibyte',
    'Memory limit, in MiB; 0 if unlimited.',
    ({ collection_up: up, target, node_memory_limit_bytes }) =>
      ifUp(up, listed(listedMemoryLimit(target.limits, node_memory_limit_bytes), 0, mebibytes)),
    { replacedBy: 'gameserver_memory_limit_bytes', translation: IN_MIB },
  ),
  gauge(
    'max_swap_mebibyte',
    'Swap limit, in MiB; 0 if there is none, -1 if unlimited.',
    ({ collection_up: up, target }) => ifUp(up, listed(target.limits.swapBytes, -1, mebibytes)),
  ),
  gauge(
    'max_disk_mebibyte',
    'Disk space limit, in MiB; 0 if unlimited.',
    ({ collection_up: up, target }) => ifUp(up, listed(target.limits.diskBytes, 0, mebibytes)),
    { replacedBy: 'gameserver_disk_limit_bytes', translation: IN_MIB },
  ),
  gauge('io', "Weight of the server's block I/O, 10 to 1000.", ({ collection_up: up, target }) =>
    ifUp(up, target.limits.ioWeight),
  ),
  gauge(
    'max_cpu_absolute',
    'CPU limit, in percent of one core; 0 if unlimited.',
    ({ collection_up: up, target }) => ifUp(up, listed(target.limits.cpuCores, 0, percent)),
    { replacedBy: 'gameserver_cpu_limit_cores', translation: IN_PERCENT },
  ),
  gauge(
    'most_recent_backup_time',
    'Time at which the newest successful backup was completed, as a Unix timestamp in seconds; 0 if there is none.',
    backupTime,
    { replacedBy: 'gameserver_backup_last_success_timestamp_seconds', translation: 'METRIC' },
  ),
];

/** The labels of those families: the server's name and its short identifier, which is the beginning of its UUID. */
export function compatibilityLabels({ name, id, uuid }: ServerTarget): Readonly<Record<string, string>> {
  return { server_name: name, id: identityOf({ id: uuid ?? id }) };
}
