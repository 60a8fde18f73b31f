/**
 * How a Calagopus panel describes servers, accounts, backups, schedules and nodes in its responses
 * (shared/src/models of calagopus/panel).
 */

import type { Clock } from '../domain/clock.ts';
import { listedAllocations } from './allocations.ts';
import { uuidFor } from './ids.ts';
import type { SimulatedSchedule } from './simulated-schedules.ts';
import { nodeName, type SimulatedServer } from './simulated-server.ts';
import type { BackupSpec, Conflict } from './simulator-schema.ts';
import type { NodeSpec, SimulatorSettings } from './simulator-settings.ts';

const MADE_AT = '2026-01-02T03:04:05.678901Z';

/** One page of a list; `page` starts at 1. */
export function pageDocument<Item>(
  items: readonly Item[],
  page: number,
  perPage: number,
  document: (item: Item) => object,
): object {
  const data = items.slice((page - 1) * perPage, page * perPage).map(document);
  return { total: items.length, per_page: perPage, page, data };
}

/** The states that the panel shows as a status of the server; others have flags. */
const STATUSES: ReadonlySet<Conflict | undefined> = new Set<Conflict>([
  'installing',
  'install_failed',
  'restoring_backup',
]);

export function serverDocument(server: SimulatedServer, settings: SimulatorSettings): object {
  const { uuid, identifier, name, conflict, limits, owned, egg, nodeAddress, backupLimit } = server;
  const chosen = listedAllocations(server).find(({ is_default: isDefault }) => isDefault);
  return {
    uuid,
    uuid_short: identifier,
    allocation: chosen && {
      uuid: uuidFor(`allocation ${chosen.port}`),
      ip: chosen.ip,
      ip_alias: chosen.ip_alias,
      port: chosen.port,
      notes: null,
      is_primary: true,
      created: MADE_AT,
    },
    egg: {
      uuid: uuidFor(egg),
      name: egg,
      description: null,
      startup_commands: { Default: './start' },
      separate_port: false,
      features: [],
      docker_images: { latest: 'ghcr.io/example/game:latest' },
      created: MADE_AT,
    },
    egg_configuration: {
      allocation_self_assign_enabled: false,
      allocation_self_assign_require_primary: true,
      startup_allow_custom_command: true,
      route_order: null,
    },
    status: STATUSES.has(conflict) ? conflict : null,
    is_owner: owned,
    is_suspended: conflict === 'suspended',
    is_transferring: conflict === 'transferring',
    permissions: settings.tokenPermissions,
    location_uuid: uuidFor('location'),
    location_name: 'here',
    location_flag: null,
    node_uuid: nodeUuid(server),
    node_name: nodeName(server),
    node_maintenance_enabled: conflict === 'maintenance',
    sftp_host: nodeAddress,
    sftp_port: 2_022,
    name,
    description: null,
    limits: { cpu: limits.cpu, memory: limits.memory, swap: limits.swap, disk: limits.disk },
    feature_limits: { allocations: 0, databases: 0, backups: backupLimit, schedules: 10 },
    startup: './start',
    image: 'ghcr.io/example/game:latest',
    auto_kill: { enabled: false, seconds: 30 },
    auto_start_behavior: 'unless_stopped',
    timezone: null,
    created: MADE_AT,
  };
}

export function userDocument({ admin }: SimulatorSettings): object {
  return {
    uuid: uuidFor('operator'),
    username: 'operator',
    role: null,
    avatar: null,
    email: 'operator@example.com',
    name_first: 'The',
    name_last: 'Operator',
    admin,
    frozen: false,
    suspended: false,
    totp_enabled: false,
    totp_last_used: null,
    require_two_factor: false,
    language: 'en',
    toast_position: 'top_right',
    start_on_grouped_servers: false,
    has_password: true,
    created: MADE_AT,
  };
}

export function backupDocument(backup: BackupSpec): object {
  return {
    uuid: uuidFor(`${backup.completed_at} ${backup.bytes}`),
    backup_group_uuid: null,
    name: 'Backup',
    ignored_files: [],
    is_successful: backup.is_successful,
    is_locked: false,
    is_browsable: false,
    is_streaming: false,
    checksum: null,
    bytes: backup.bytes,
    files: 0,
    metadata: {},
    deletion_status: null,
    completed: backup.completed_at,
    created: backup.completed_at ?? MADE_AT,
  };
}

export function scheduleDocument(
  { name, active, lastRunAt }: SimulatedSchedule,
  serverUuid: string,
  clock: Clock,
): object {
  return {
    uuid: uuidFor(`schedule ${serverUuid} ${name}`),
    name,
    enabled: active,
    triggers: [],
    condition: { type: 'none' },
    last_run: lastRunAt === undefined ? null : new Date(clock.toUnixMs(lastRunAt)).toISOString(),
    last_failure: null,
    created: MADE_AT,
  };
}

/** A node as administrators see it. */
export function nodeDocument({ name, memory, disk, maintenance_mode: isMaintained }: NodeSpec): object {
  return {
    uuid: uuidFor(`node ${name}`),
    name,
    description: null,
    deployment_enabled: true,
    maintenance_enabled: isMaintained,
    public_url: null,
    url: `https://${name}.example.com:8080/`,
    sftp_host: null,
    sftp_port: 2_022,
    memory,
    disk,
    created: MADE_AT,
  };
}

/** The UUID of a server's node. */
export function nodeUuid(server: SimulatedServer): string {
  return uuidFor(`node ${nodeName(server)}`);
}
