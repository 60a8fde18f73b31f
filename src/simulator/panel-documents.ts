// The differences between kinds of panels in the data about accounts and servers.

import { serverIdentifier, uuidFor } from './ids.ts';
import type { BackupSpec, Conflict, DaemonType, PanelKind, WireLimits } from './simulator-schema.ts';

/** An address of a server, as on the wire. */
export interface Allocation {
  readonly ip: string;
  readonly ip_alias: string | null;
  readonly port: number;
  readonly is_default: boolean;
}

/** The server list's data about a server. */
export interface ListingEntry {
  readonly uuid: string;
  readonly identifier: string;
  readonly name: string;
  readonly node: string;
  readonly egg: string;
  readonly owned: boolean;
  readonly conflict: Conflict | undefined;
  readonly backupLimit: number;
  readonly allocations: readonly Allocation[];
  readonly variables: Readonly<Record<string, string>>;
  readonly nodeAddress: string;
  readonly limits: Required<{ [Key in keyof WireLimits]: number }>;
  readonly daemonType: DaemonType;
}

/**
 * The differences between the responses of a kind of panel and Pterodactyl's
 * (app/Transformers/Api/Client of each).
 */
interface KindOfPanel {
  /** The attributes of the account. */
  readonly account: (isAdmin: boolean) => object;
  /** Attributes of a server in addition to Pterodactyl's, or in their place. */
  readonly serverExtras: (server: ListingEntry) => object;
  readonly limitsExtras: object;
  readonly featureExtras: object;
  /** Attributes of a backup in addition to Pterodactyl's. */
  readonly backupExtras: object;
  /** Whether the paths of most endpoints of a server contain its daemon. */
  readonly hasDaemonPaths: boolean;
}

const USERNAME = 'operator';
const EMAIL = 'operator@example.com';
const MADE_AT = '2026-01-02T03:04:05+00:00';

const PTERODACTYL: KindOfPanel = {
  account: (admin) => ({
    id: 1,
    admin,
    username: USERNAME,
    email: EMAIL,
    first_name: 'The',
    last_name: 'Operator',
    language: 'en',
  }),
  serverExtras: ({ uuid, identifier }) => ({
    __deprecated_uuid_short: identifier,
    server_identifier: serverIdentifier(uuid),
  }),
  limitsExtras: {},
  featureExtras: {},
  backupExtras: {},
  hasDaemonPaths: false,
};

export const PANEL_KINDS: Readonly<Record<PanelKind, KindOfPanel>> = {
  pterodactyl: PTERODACTYL,
  pelican: {
    ...PTERODACTYL,
    account: (admin) => ({
      uuid: uuidFor(USERNAME),
      username: USERNAME,
      email: EMAIL,
      language: 'en',
      image: 'https://gravatar.com/avatar/0',
      admin,
      root_admin: admin,
      '2fa_enabled': false,
      created_at: MADE_AT,
      updated_at: MADE_AT,
    }),
    serverExtras: ({ nodeAddress }) => ({ sftp_details: { ...sftpDetails(nodeAddress), alias: null } }),
    limitsExtras: { oom_killer: false },
    backupExtras: { is_scheduled: false },
  },
  hydrodactyl: {
    ...PTERODACTYL,
    serverExtras: ({ daemonType, egg }) => ({
      sftp_alias: { ip: null, port: null },
      egg: uuidFor(egg),
      daemon_type: daemonType,
      backup_disk: 'local',
    }),
    limitsExtras: { overhead_memory: 0 },
    featureExtras: { backupStorageMb: null },
    hasDaemonPaths: true,
  },
  /** Unused: Calagopus has its own API (`calagopus-api.ts`). */
  calagopus: PTERODACTYL,
};

/** The account that owns all keys. */
export function accountDocument(kind: PanelKind, isAdmin: boolean): object {
  return { object: 'user', attributes: PANEL_KINDS[kind].account(isAdmin) };
}

const STATUS_WORDS: ReadonlySet<Conflict | undefined> = new Set<Conflict>([
  'installing',
  'install_failed',
  'reinstall_failed',
  'suspended',
  'restoring_backup',
]);

/** One server as an item of the server list, or as the response of its own endpoint. */
export function serverDocument(kind: PanelKind, server: ListingEntry, includeEgg: boolean) {
  const { serverExtras, limitsExtras, featureExtras } = PANEL_KINDS[kind];
  const { conflict } = server;
  const attributes = {
    server_owner: server.owned,
    identifier: server.identifier,
    internal_id: 1,
    uuid: server.uuid,
    name: server.name,
    node: server.node,
    is_node_under_maintenance: conflict === 'maintenance',
    sftp_details: sftpDetails(server.nodeAddress),
    description: '',
    limits: { ...server.limits, threads: null, oom_disabled: true, ...limitsExtras },
    invocation: './start',
    docker_image: 'ghcr.io/example/game:latest',
    egg_features: [],
    feature_limits: { databases: 0, allocations: 0, backups: server.backupLimit, ...featureExtras },
    status: STATUS_WORDS.has(conflict) ? conflict : null,
    is_suspended: conflict === 'suspended',
    is_installing: conflict === 'installing' || conflict === 'install_failed',
    is_transferring: conflict === 'transferring',
    ...serverExtras(server),
    relationships: {
      allocations: { object: 'list', data: server.allocations.map(allocationDocument) },
      variables: { object: 'list', data: Object.entries(server.variables).map(variableDocument) },
      ...(includeEgg && {
        egg: { object: 'egg', attributes: { uuid: uuidFor(server.egg), name: server.egg } },
      }),
    },
  };
  return { object: 'server', attributes };
}

function sftpDetails(ip: string): object {
  return { ip, port: 2_022 };
}

function allocationDocument(allocation: Allocation): object {
  return { object: 'allocation', attributes: { id: allocation.port, notes: null, ...allocation } };
}

function variableDocument([name, value]: readonly [string, string]): object {
  return {
    object: 'egg_variable',
    attributes: {
      name,
      description: '',
      env_variable: name,
      default_value: '',
      server_value: value,
      is_editable: true,
      rules: 'required|string',
    },
  };
}

/** A backup as an item of the list of backups. */
export function backupDocument(kind: PanelKind, backup: BackupSpec): object {
  return {
    object: 'backup',
    attributes: {
      uuid: uuidFor(`${backup.completed_at} ${backup.bytes}`),
      is_locked: false,
      ...PANEL_KINDS[kind].backupExtras,
      name: 'Backup',
      ignored_files: [],
      checksum: backup.is_successful ? 'sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709' : null,
      created_at: backup.completed_at ?? MADE_AT,
      ...backup,
    },
  };
}
