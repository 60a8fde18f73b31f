// The metrics under the names of other exporters, for dashboards made for those.

import type { Limit, Limits } from '../domain/limits.ts';
import type { ServerTarget } from '../domain/server.ts';
import { shortId } from '../domain/server-ids.ts';
import type { Snapshot } from '../domain/snapshot.ts';
import { MIB } from '../domain/units.ts';

/**
 * The metric prefixes of pterodactyl_exporter and pelican-exporter, which have the same metrics.
 */
export const COMPATIBILITY_PREFIXES = {
  pterodactyl_exporter: 'pterodactyl_server_',
  pelican_exporter: 'pelican_server_',
} as const;

// A panel's percentages have three decimals, and a byte is about a millionth of a mebibyte: more
// digits would only come from the division.
const scaled = (factor: number, unlimited: number) => (value: Limit | undefined) =>
  typeof value === 'number' ? Math.round(value * factor * 1e6) / 1e6 : value && unlimited;
const mebibytes = scaled(1 / MIB, 0);
const percent = scaled(100, 0);

type ReadValue = (server: Snapshot, limits: Limits) => number | undefined;

/**
 * For each old name, the PromQL expression that replaces it (empty if there is none) and the value.
 */
const TABLE: Readonly<Record<string, readonly [string, ReadValue]>> = {
  memory_mebibyte: ['gameserver_memory_usage_bytes / 1024^2', (s) => mebibytes(s.memory_usage_bytes)],
  cpu_absolute: ['gameserver_cpu_usage_cores * 100', (s) => percent(s.cpu_usage_cores)],
  disk_mebibyte: ['gameserver_disk_usage_bytes / 1024^2', (s) => mebibytes(s.disk_usage_bytes)],
  network_rx_mebibyte: [
    'gameserver_network_receive_bytes_total / 1024^2',
    (s) => mebibytes(s.network_receive_bytes_total),
  ],
  network_tx_mebibyte: [
    'gameserver_network_transmit_bytes_total / 1024^2',
    (s) => mebibytes(s.network_transmit_bytes_total),
  ],
  uptime_milliseconds: ['(time() - gameserver_start_time_seconds) * 1000', (s) => s.uptime_milliseconds],
  max_memory_mebibyte: [
    'gameserver_memory_limit_bytes / 1024^2',
    (s, limits) => mebibytes(limits.memoryBytes ?? limits.listedMemoryBytes ?? s.memory_limit_bytes),
  ],
  max_swap_mebibyte: ['', (_, { swapBytes }) => scaled(1 / MIB, -1)(swapBytes)],
  max_disk_mebibyte: ['gameserver_disk_limit_bytes / 1024^2', (_, { diskBytes }) => mebibytes(diskBytes)],
  io: ['', (_, { ioWeight }) => ioWeight],
  max_cpu_absolute: ['gameserver_cpu_limit_cores * 100', (_, { cpuCores }) => percent(cpuCores)],
  most_recent_backup_time: [
    'gameserver_backup_last_success_timestamp_seconds',
    (s) => (s.backups === undefined ? undefined : (s.backup_last_success_timestamp_seconds ?? 0)),
  ],
};

/**
 * The families of another exporter, for its dashboards. Limits are present only together with
 * usage.
 */
export const compatibilityFamilies = (prefix: string) =>
  Object.entries(TABLE).map(([name, [replacement, read]]) => ({
    name: prefix + name,
    type: 'gauge' as const,
    help: replacement === '' ? "From the panel's server list." : `The same as ${replacement}.`,
    labels: [],
    replacement,
    read: (snapshot: Snapshot) => read(snapshot, snapshot.collection_up === 1 ? snapshot.target.limits : {}),
  }));

/** The labels of these families: the server's name and its short identifier. */
export function compatibilityLabels({ name, id, uuid }: ServerTarget): Readonly<Record<string, string>> {
  return { server_name: name, id: shortId({ id: uuid ?? id }) };
}
