/**
 * Decodes Calagopus' responses about servers, backups, schedules, nodes and the account
 * (shared/src/models).
 */

import { finiteLimit } from '../../../domain/limits.ts';
import type { NodeCapacity } from '../../../domain/reading.ts';
import { Sample } from '../../../domain/sample.ts';
import type { BlockedReason } from '../../../domain/server.ts';
import { MIB } from '../../../domain/units.ts';
import {
  type Backup,
  type BackupsPage,
  type Credentials,
  type KeyAccount,
  type ListedServer,
  type ListingPage,
  type NodesPage,
  type Resources,
  type Schedule,
  ShapeError,
} from '../../responses.ts';
import { type ListPage, readListPage } from '../list-page.ts';
import { readCredentials } from '../pterodactyl/credentials.ts';
import { decodeStats } from '../pterodactyl/stats.ts';
import { localAllocation, serverAddress } from '../server-address.ts';
import {
  asFields,
  asId,
  asText,
  completedBackup,
  type Fields,
  instant,
  limit,
  serverLimits,
  valueIn,
} from '../wire.ts';

/** The entries of the list in this field; throws a ShapeError if there is no list. */
function pageEntries<T>(
  body: unknown,
  name: string,
  requested: number,
  decode: (entry: Fields) => T | undefined,
): ListPage<T> {
  const { data: list, total } = asFields(valueIn(body, name)) ?? {};
  const pages = typeof total === 'number' ? Math.ceil(total / requested) : undefined;
  const where = `"data" in "${name}"`;
  return readListPage({ list, where, pages }, requested, (entry) => decode(asFields(entry) ?? {}));
}

/**
 * The servers on one page of the server list (server/mod.rs, `ApiServer`), in the panel's order.
 */
export function decodeListingPage(body: unknown, perPage: number): ListingPage {
  const { usable: servers, ...page } = pageEntries(body, 'servers', perPage, decodeServer);
  return { servers, ...page };
}

function decodeServer(entry: Fields): ListedServer | undefined {
  const uuid = asId(entry['uuid']);
  const identifier = asId(entry['uuid_short']);
  if (uuid === undefined || identifier === undefined) return undefined;
  const { ip, ip_alias: alias, port } = asFields(entry['allocation']) ?? {};
  const address = serverAddress([alias, ip], port);
  const allocation =
    address === undefined ? localAllocation([alias, ip, entry['sftp_host']], port) : undefined;
  return {
    identifier,
    uuid,
    name: asText(entry['name']) ?? identifier,
    node: asText(entry['node_name']),
    nodeId: asId(entry['node_uuid']),
    egg: asText(valueIn(entry, 'egg', 'name')),
    blocked: blockedBy(entry),
    withoutBackups: valueIn(entry, 'feature_limits', 'backups') === 0 || undefined,
    address,
    allocation,
    limits: serverLimits(asFields(entry['limits'])),
  };
}

/**
 * Why the panel denies access to a server. Access to servers of a node in maintenance is allowed.
 */
function blockedBy({ status, ...flags }: Fields): BlockedReason | undefined {
  if (flags['is_suspended'] === true) return 'suspended';
  if (flags['is_transferring'] === true) return 'transferring';
  if (status === 'restoring_backup' || status === 'backup_restore_failed') return 'restoring';
  if (status === 'install_failed') return 'install_failed';
  return status === 'installing' ? 'installing' : undefined;
}

/** The credentials of a console socket (servers/_server_/websocket.rs). */
export function decodeCredentials(body: unknown): Credentials {
  return readCredentials(valueIn(body, 'token'), valueIn(body, 'url'), '"token" and "url"');
}

/** A server's resources, from the panel's cache of 15 s (servers/_server_/resources.rs). */
export function decodeResources(body: unknown): Resources {
  const resources = asFields(valueIn(body, 'resources'));
  if (resources === undefined) throw new ShapeError('expected an object "resources"');
  return resourcesIn(resources);
}

/**
 * The resources of a node's servers that the account can access, by UUID
 * (servers/nodes/_node_/resources.rs). The list has no pages, and requires only `servers.read`.
 */
export function decodeResourcesOfNode(body: unknown): ReadonlyMap<string, Resources> {
  const resources = asFields(valueIn(body, 'resources'));
  if (resources === undefined) throw new ShapeError('expected an object "resources"');
  const servers = Object.entries(resources);
  return new Map(servers.map(([uuid, usage]) => [uuid.toLowerCase(), resourcesIn(usage)] as const));
}

/** A server's usage, which has the fields of the socket's `stats` event (`ResourceUsage`). */
function resourcesIn(usage: unknown): Resources {
  const sample = new Sample();
  const badFields = decodeStats(usage, sample);
  // Polls of other panels contain no memory limit, so nothing depends on one.
  return { sample, suspended: false, badFields };
}

export function decodeAccount(body: unknown): KeyAccount {
  const user = asFields(valueIn(body, 'user'));
  const username = asText(user?.['username']);
  if (username === undefined) throw new ShapeError('expected "username" in "user"');
  return { username, isAdmin: user?.['admin'] === true, isKeyUnlimited: false };
}

/**
 * The completed backups on one page of a server's list (server_backup/mod.rs), in the panel's
 * order.
 */
export function decodeBackupsPage(body: unknown, perPage: number): BackupsPage {
  const { usable: backups, totalPages } = pageEntries(body, 'backups', perPage, decodeBackup);
  return { backups, totalPages };
}

function decodeBackup({ is_successful: isSuccessful, completed, bytes }: Fields): Backup | undefined {
  return completedBackup(isSuccessful, completed, bytes);
}

export function decodeSchedules(body: unknown, perPage: number): readonly Schedule[] {
  return pageEntries(body, 'schedules', perPage, decodeSchedule).usable;
}

/**
 * A schedule in a server's list (server_schedule.rs). Its node runs it, so the panel doesn't know
 * the next run.
 */
function decodeSchedule(entry: Fields): Schedule | undefined {
  const id = asId(entry['uuid']);
  const name = asText(entry['name']);
  if (id === undefined || name === undefined) return undefined;
  return { id, name, isDue: entry['enabled'] === true, lastRunMs: instant(entry['last_run']) };
}

/**
 * The nodes on one page of the administrators' list (node/mod.rs, `AdminApiNode`), in the panel's
 * order.
 */
export function decodeNodesPage(body: unknown, perPage: number): NodesPage {
  const { usable: nodes, ...page } = pageEntries(body, 'nodes', perPage, decodeNode);
  return { nodes, ...page };
}

function decodeNode(entry: Fields): NodeCapacity | undefined {
  const name = asText(entry['name']);
  if (name === undefined) return undefined;
  return {
    name,
    memory_bytes: finiteLimit(limit(entry['memory'], MIB)),
    disk_bytes: finiteLimit(limit(entry['disk'], MIB)),
    maintenance: Number(entry['maintenance_enabled'] === true),
  };
}
