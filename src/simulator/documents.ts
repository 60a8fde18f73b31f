import type { Usage } from './game-server.ts';
import type { BackupSpec, Conflict, Settings, WireLimits } from './schema.ts';

/** What the listing says of a server. */
export interface ListedServer {
  readonly uuid: string;
  readonly identifier: string;
  readonly name: string;
  readonly node: string;
  readonly egg: string;
  readonly owned: boolean;
  readonly conflict: Conflict | undefined;
  readonly backupLimit: number;
  readonly limits: Required<{ [Key in keyof WireLimits]: number }>;
}

/** The state of a server in a resources answer; `missing` where its node can't be asked. */
export type ResourceState = 'offline' | 'starting' | 'running' | 'stopping' | 'missing';

/** The body of a resources answer. */
export function resourcesDocument(
  state: ResourceState,
  usage: Usage,
  suspended: boolean,
  settings: Pick<Settings, 'resourceObject' | 'resourceUptime' | 'resourceSuspendedFlag'>,
): object {
  return {
    object: settings.resourceObject,
    attributes: {
      current_state: state,
      ...(settings.resourceSuspendedFlag && { is_suspended: suspended }),
      resources: {
        memory_bytes: usage.memoryBytes,
        cpu_absolute: usage.cpuAbsolute,
        disk_bytes: usage.diskBytes,
        network_rx_bytes: usage.rxBytes,
        network_tx_bytes: usage.txBytes,
        ...(settings.resourceUptime && { uptime: usage.uptimeMs }),
      },
    },
  };
}

const STATUS_WORDS: ReadonlySet<Conflict | undefined> = new Set<Conflict>([
  'installing',
  'install_failed',
  'reinstall_failed',
  'suspended',
  'restoring_backup',
]);

/** One server as an item of the listing. */
export function listedServerDocument(server: ListedServer, includeEgg: boolean): object {
  const { conflict } = server;
  return {
    object: 'server',
    attributes: {
      server_owner: server.owned,
      identifier: server.identifier,
      uuid: server.uuid,
      name: server.name,
      node: server.node,
      status: STATUS_WORDS.has(conflict) ? conflict : null,
      is_suspended: conflict === 'suspended',
      is_installing: conflict === 'installing' || conflict === 'install_failed',
      is_transferring: conflict === 'transferring',
      is_node_under_maintenance: conflict === 'maintenance',
      limits: { ...server.limits, threads: null, oom_disabled: true },
      feature_limits: { databases: 0, allocations: 0, backups: server.backupLimit },
      ...(includeEgg && {
        relationships: { egg: { object: 'egg', attributes: { name: server.egg } } },
      }),
    },
  };
}

/** A backup as an item of its list. */
export function backupDocument(backup: BackupSpec): object {
  return { object: 'backup', attributes: backup };
}

/** One page of a list with its pagination; `page` counts from 1. */
export function pageDocument<Item>(
  items: readonly Item[],
  page: number,
  perPage: number,
  document: (item: Item) => object,
): object {
  const shown = items.slice((page - 1) * perPage, page * perPage);
  return {
    object: 'list',
    data: shown.map(document),
    meta: {
      pagination: {
        total: items.length,
        count: shown.length,
        per_page: perPage,
        current_page: page,
        total_pages: Math.max(1, Math.ceil(items.length / perPage)),
        links: {},
      },
    },
  };
}
