/** Decodes Pterodactyl's responses about servers, backups, schedules, nodes and the account. */

import { isPort } from '../../../addresses/hosts.ts';
import { finiteLimit, type Limit, type Limits } from '../../../domain/limits.ts';
import type { NodeCapacity } from '../../../domain/reading.ts';
import type { BlockedReason } from '../../../domain/server.ts';
import { SHORT_ID_LENGTH } from '../../../domain/server-ids.ts';
import { MIB } from '../../../domain/units.ts';
import {
  type Backup,
  type BackupsPage,
  type KeyAccount,
  type ListedServer,
  type ListingPage,
  type NodesPage,
  type Schedule,
  ShapeError,
} from '../../responses.ts';
import { DAEMONS } from '../facts.ts';
import { type ListPage, readListPage } from '../list-page.ts';
import { localAllocation, serverAddress } from '../server-address.ts';
import {
  asFields,
  asId,
  asText,
  completedBackup,
  cpuLimit,
  type Fields,
  instant,
  limit,
  serverLimits,
  valueIn,
} from '../wire.ts';

/** The `attributes` of one of the panel's objects. */
export function attributesIn(object: unknown): Fields | undefined {
  return asFields(valueIn(object, 'attributes'));
}

/** The attributes of the entries of the body's list; throws a ShapeError if there is no list. */
function pageEntries<T>(
  body: unknown,
  requested: number,
  decode: (attributes: Fields) => T | undefined,
): ListPage<T> {
  const list = valueIn(body, 'data');
  const pages = valueIn(body, 'meta', 'pagination', 'total_pages');
  const where = '"data"';
  return readListPage({ list, where, pages }, requested, (entry) => decode(attributesIn(entry) ?? {}));
}

/** The servers on one page of the server list, in the panel's order. */
export function decodeListingPage(body: unknown, perPage: number): ListingPage {
  const { usable: servers, ...page } = pageEntries(body, perPage, decodeServer);
  return { servers, ...page };
}

/** A server in the list; undefined if the entry doesn't identify one. */
function decodeServer(attributes: Fields): ListedServer | undefined {
  const given = { uuid: asId(attributes['uuid']), identifier: asId(attributes['identifier']) };
  // Either id identifies the server. An entry without a UUID isn't monitored, but doesn't count as
  // missing.
  const uuid = given.uuid ?? given.identifier;
  const identifier = given.identifier ?? given.uuid?.slice(0, SHORT_ID_LENGTH);
  if (identifier === undefined || uuid === undefined) return undefined;
  return {
    identifier,
    uuid,
    name: asText(attributes['name']) ?? identifier,
    node: asText(attributes['node']),
    daemon: DAEMONS.find((name) => name === attributes['daemon_type']),
    egg: asText(valueIn(attributes, 'relationships', 'egg', 'attributes', 'name')),
    blocked: blockedBy(attributes),
    isReinstallFailed: attributes['status'] === 'reinstall_failed' || undefined,
    withoutBackups: valueIn(attributes, 'feature_limits', 'backups') === 0 || undefined,
    ...decodePorts(attributes),
    limits: decodeLimits(asFields(attributes['limits'])),
  };
}

/** Why the panel denies access to a server. */
function blockedBy({ status, ...flags }: Fields): BlockedReason | undefined {
  if (flags['is_suspended'] === true || status === 'suspended') return 'suspended';
  if (flags['is_transferring'] === true) return 'transferring';
  if (status === 'restoring_backup') return 'restoring';
  // Panels treat such a server like one that is being installed, and reject its calls with the same
  // message.
  if (status === 'install_failed') return 'install_failed';
  if (flags['is_installing'] === true || status === 'installing') return 'installing';
  return flags['is_node_under_maintenance'] === true ? 'maintenance' : undefined;
}

function decodeLimits(limits: Fields | undefined): Limits {
  const ioWeight = limit(limits?.['io'], 1);
  return { ...serverLimits(limits), ioWeight: typeof ioWeight === 'number' ? ioWeight : undefined };
}

/** Far more than any server has, but few enough to be fast. */
const MAX_RELATED = 1_000;

/**
 * The maximum number of a server's other ports: a game with a separate query port has it among the
 * first.
 */
const MAX_OTHER_PORTS = 15;

/**
 * Names of variables that contain a game's query port, as in the eggs of parkervcp/eggs and
 * pelican-eggs.
 */
const QUERY_PORT = /^(?:[A-Z]{1,20}_)?QUERY_?PORT$|^QPORT$/;

/**
 * The addresses and ports of a server (`AllocationTransformer`, `EggVariableTransformer`,
 * `sftp_details`). An account without the permission to see all allocations gets only the default
 * one, and only the variables that it may see.
 */
export function decodePorts(attributes: Fields) {
  const allocations = related(attributes, 'allocations');
  const chosen = allocations.find((allocation) => allocation['is_default'] === true);
  const [hosts, port] = [[chosen?.['ip_alias'], chosen?.['ip']], chosen?.['port']];
  const address = serverAddress(hosts, port);
  const node = valueIn(attributes, 'sftp_details', 'ip');
  const allocation = address === undefined ? localAllocation([...hosts, node], port) : undefined;
  const ownPorts = allocations
    .filter(({ ip, port: other }) => ip === chosen?.['ip'] && other !== port)
    .map((other) => other['port'])
    .filter(isPort);
  // A port that isn't one of the server's isn't forwarded to it, and may belong to an unlisted
  // server.
  const namedPort = namedPorts(attributes).find((named) => ownPorts.includes(named));
  const otherPorts = ownPorts.length > 0 ? ownPorts.slice(0, MAX_OTHER_PORTS) : undefined;
  return { address, allocation, namedPort, otherPorts };
}

function namedPorts(attributes: Fields): readonly number[] {
  return related(attributes, 'variables')
    .filter((variable) => QUERY_PORT.test(asText(variable['env_variable']) ?? ''))
    .map((variable) => Number(variable['server_value'] ?? variable['default_value']));
}

/** The attributes of the entries in a relationship. */
function related(attributes: Fields, name: string): readonly Fields[] {
  const data = valueIn(attributes, 'relationships', name, 'data');
  if (!Array.isArray(data)) return [];
  return data
    .slice(0, MAX_RELATED)
    .map((entry) => attributesIn(entry))
    .filter((fields) => fields !== undefined);
}

export function decodeAccount(body: unknown): KeyAccount {
  const attributes = attributesIn(body);
  const username = asText(attributes?.['username']);
  if (username === undefined) throw new ShapeError('expected "username" in "attributes"');
  // Newer versions of Pelican name it root_admin (app/Transformers/Api/Client/UserTransformer.php).
  const isAdmin = attributes?.['admin'] === true || attributes?.['root_admin'] === true;
  return { username, isAdmin, isKeyUnlimited: true };
}

/** The panels' maximum page size for backups. */
export const BACKUPS_PER_PAGE = 50;

/** The completed backups on one page of a server's list, in the panel's order. */
export function decodeBackupsPage(body: unknown): BackupsPage {
  const { usable: backups, totalPages } = pageEntries(body, BACKUPS_PER_PAGE, decodeBackup);
  return { backups, totalPages };
}

/**
 * A backup in a server's list; undefined if it isn't complete. A failed backup stays in the list
 * with `is_successful: false` and the `completed_at` at which the node reported the failure, or the
 * panel gave up after 6 hours.
 */
function decodeBackup({
  is_successful: isSuccessful,
  completed_at: completedAt,
  bytes,
}: Fields): Backup | undefined {
  return completedBackup(isSuccessful, completedAt, bytes);
}

/** More schedules than people create for a server. Panels return them on one page. */
const MAX_SCHEDULES = 1_000;

export function decodeSchedules(body: unknown): readonly Schedule[] {
  return pageEntries(body, MAX_SCHEDULES, decodeSchedule).usable;
}

/**
 * A schedule in a server's list (`ScheduleTransformer` of Pterodactyl and Pelican); undefined
 * without a number or a name. If the response lacks its tasks, it counts as having some.
 */
function decodeSchedule(attributes: Fields): Schedule | undefined {
  const { id } = attributes;
  const name = asText(attributes['name']);
  if (!Number.isSafeInteger(id) || name === undefined) return undefined;
  const tasks = valueIn(attributes, 'relationships', 'tasks', 'data');
  return {
    id: id as number,
    name,
    isDue: attributes['is_active'] === true && !(Array.isArray(tasks) && tasks.length === 0),
    isProcessing: attributes['is_processing'] === true,
    lastRunMs: instant(attributes['last_run_at']),
    nextRunMs: instant(attributes['next_run_at']),
  };
}

/** The page size for nodes, which panels don't limit. Most panels have fewer. */
export const NODES_PER_PAGE = 100;

/** The nodes on one page of the application API's list, in the panel's order. */
export function decodeNodesPage(body: unknown): NodesPage {
  const { usable: nodes, totalPages, badEntries } = pageEntries(body, NODES_PER_PAGE, decodeNode);
  return { nodes, totalPages, badEntries };
}

/**
 * A node in the application API's list; undefined without a name. `NodeTransformer` of Pterodactyl
 * and Pelican also contains the daemons' configuration, and only Pelican's contains the CPU.
 */
function decodeNode(attributes: Fields): NodeCapacity | undefined {
  const name = asText(attributes['name']);
  if (name === undefined) return undefined;
  const allocated = asFields(attributes['allocated_resources']);
  return {
    name,
    memory_bytes: finiteLimit(limit(attributes['memory'], MIB)),
    disk_bytes: finiteLimit(limit(attributes['disk'], MIB)),
    cpu_cores: finiteLimit(cpuLimit(attributes['cpu'])),
    memory_allocated_bytes: sumOfLimits(allocated?.['memory'], mebibytes),
    disk_allocated_bytes: sumOfLimits(allocated?.['disk'], mebibytes),
    cpu_allocated_cores: sumOfLimits(allocated?.['cpu'], cpuLimit),
    memory_overallocation_ratio: overallocation(attributes['memory_overallocate']),
    disk_overallocation_ratio: overallocation(attributes['disk_overallocate']),
    cpu_overallocation_ratio: overallocation(attributes['cpu_overallocate']),
    maintenance: Number(attributes['maintenance_mode'] === true),
  };
}

function mebibytes(value: unknown): Limit | undefined {
  return limit(value, MIB);
}

function sumOfLimits(value: unknown, decode: (value: unknown) => Limit | undefined): number | undefined {
  return value === 0 ? 0 : finiteLimit(decode(value));
}

/** In percent on the wire, where -1 means unlimited. */
function overallocation(value: unknown): number | undefined {
  if (value === -1) return Number.POSITIVE_INFINITY;
  return typeof value === 'number' && value >= 0 ? value / 100 : undefined;
}
