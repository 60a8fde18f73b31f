/**
 * Reads what Pterodactyl's API responds about servers, backups, schedules, nodes and the account.
 */

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
import { localAllocation, serverAddress } from '../server-address.ts';
import {
  asFields,
  asId,
  asText,
  cpuLimit,
  type Fields,
  instant,
  limit,
  MAX_PAGE_COUNT,
  swapLimit,
  valueIn,
} from '../wire.ts';

/** The `attributes` of an object of the panel. */
export function attributesIn(object: unknown): Fields | undefined {
  return asFields(valueIn(object, 'attributes'));
}

/**
 * Decodes the attributes of as many entries of the body's list as were requested. Others are bad,
 * as are those that can't be used, for which `decode` returns undefined. Throws a ShapeError if the
 * body holds no list.
 */
export function pageEntries<T>(
  body: unknown,
  requested: number,
  decode: (attributes: Fields) => T | undefined,
) {
  const data = valueIn(body, 'data');
  if (!Array.isArray(data)) throw new ShapeError('expected an array "data"');
  const entries: readonly unknown[] = data.slice(0, requested);
  const usable: readonly T[] = entries
    .map((entry) => decode(attributesIn(entry) ?? {}))
    .filter((entry) => entry !== undefined);
  const pages = valueIn(body, 'meta', 'pagination', 'total_pages');
  return {
    usable,
    badEntries: data.length - usable.length,
    /** 1 if the list reports none. */
    totalPages: typeof pages === 'number' && pages >= 1 ? Math.min(Math.floor(pages), MAX_PAGE_COUNT) : 1,
  };
}

/** The servers on one page of the server list, in the panel's order. */
export function decodeListingPage(body: unknown, perPage: number): ListingPage {
  const { usable: servers, ...page } = pageEntries(body, perPage, decodeServer);
  return { servers, ...page };
}

/** A server in the list; undefined if the entry doesn't identify one. */
function decodeServer(attributes: Fields): ListedServer | undefined {
  const given = { uuid: asId(attributes['uuid']), identifier: asId(attributes['identifier']) };
  // Either one identifies the server. An entry without a UUID isn't monitored, but isn't missing
  // from the server list either.
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

/** Why the panel grants no access to a server. */
function blockedBy({ status, ...flags }: Fields): BlockedReason | undefined {
  if (flags['is_suspended'] === true || status === 'suspended') return 'suspended';
  if (flags['is_transferring'] === true) return 'transferring';
  if (status === 'restoring_backup') return 'restoring';
  // Panels still call such a server one that is being installed, and reject its calls with the same
  // message.
  if (status === 'install_failed') return 'install_failed';
  if (flags['is_installing'] === true || status === 'installing') return 'installing';
  return flags['is_node_under_maintenance'] === true ? 'maintenance' : undefined;
}

function decodeLimits(limits: Fields | undefined): Limits {
  const ioWeight = limit(limits?.['io'], 1);
  return {
    memoryBytes: limit(limits?.['memory'], MIB),
    diskBytes: limit(limits?.['disk'], MIB),
    cpuCores: cpuLimit(limits?.['cpu']),
    swapBytes: swapLimit(limits?.['swap']),
    ioWeight: typeof ioWeight === 'number' ? ioWeight : undefined,
  };
}

/** Far more than any server has, and too few to take long. */
const MAX_RELATED = 1_000;

/**
 * The most further ports of a server that are known: a game that responds to queries elsewhere does
 * so at one of the first.
 */
const MAX_OTHER_PORTS = 15;

/**
 * Names of variables with the port at which a game responds to queries, as in the eggs of
 * parkervcp/eggs and pelican-eggs.
 */
const QUERY_PORT = /^(?:[A-Z]{1,20}_)?QUERY_?PORT$|^QPORT$/;

/**
 * Where a server can be reached (`AllocationTransformer`, `EggVariableTransformer`,
 * `sftp_details`). An account that may not see all allocations gets only the default one, and only
 * the variables that it may see.
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
  // A port that isn't the server's own isn't forwarded to it, and may be that of a server that
  // isn't listed.
  const namedPort = namedPorts(attributes).find((named) => ownPorts.includes(named));
  const otherPorts = ownPorts.length > 0 ? ownPorts.slice(0, MAX_OTHER_PORTS) : undefined;
  return { address, allocation, namedPort, otherPorts };
}

function namedPorts(attributes: Fields): readonly number[] {
  return related(attributes, 'variables')
    .filter((variable) => QUERY_PORT.test(asText(variable['env_variable']) ?? ''))
    .map((variable) => Number(variable['server_value'] ?? variable['default_value']));
}

/** The attributes of the entries of a relationship that is a list. */
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
  // Newer versions of Pelican call it root_admin (app/Transformers/Api/Client/UserTransformer.php).
  const isAdmin = attributes?.['admin'] === true || attributes?.['root_admin'] === true;
  return { username, isAdmin, isKeyUnlimited: true };
}

/** The most backups that panels return on one page. */
export const BACKUPS_PER_PAGE = 50;

/** The completed backups on one page of a server's list, in the panel's order. */
export function decodeBackupsPage(body: unknown): BackupsPage {
  const { usable: backups, totalPages } = pageEntries(body, BACKUPS_PER_PAGE, decodeBackup);
  return { backups, totalPages };
}

/**
 * A backup in a server's list; undefined while it isn't complete. A failed one, which stays in the
 * list, has `is_successful: false` and a `completed_at`: when the node reported the failure, or
 * when the panel gave up after 6 hours.
 */
function decodeBackup(attributes: Fields): Backup | undefined {
  const { is_successful: isSuccessful, completed_at: completedAt, bytes } = attributes;
  const completedAtMs = instant(completedAt);
  // The outcome is false from the start: without a completion time, the backup is in progress.
  if (typeof isSuccessful !== 'boolean' || completedAtMs === undefined) return undefined;
  const isSize = typeof bytes === 'number' && bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER;
  return { isSuccessful, completedAtMs, bytes: isSize ? bytes : undefined };
}

/** More schedules than people create for a server; panels return them on one page. */
const MAX_SCHEDULES = 1_000;

export function decodeSchedules(body: unknown): readonly Schedule[] {
  return pageEntries(body, MAX_SCHEDULES, decodeSchedule).usable;
}

/**
 * A schedule in a server's list (`ScheduleTransformer` of Pterodactyl and Pelican); undefined
 * without a number or a name. Without its tasks in the response, it counts as having some.
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

/** Panels return as many nodes as requested; all nodes of most panels fit. */
export const NODES_PER_PAGE = 100;

/** The nodes on one page of the application API's list, in the panel's order. */
export function decodeNodesPage(body: unknown): NodesPage {
  const { usable: nodes, totalPages, badEntries } = pageEntries(body, NODES_PER_PAGE, decodeNode);
  return { nodes, totalPages, badEntries };
}

/**
 * A node in the application API's list (`NodeTransformer` of Pterodactyl and Pelican, which also
 * contains what the daemons' configuration needs, and of which only Pelican's has the CPU);
 * undefined without a name.
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

/** In percent on the wire, where -1 means that any amount may be allocated. */
function overallocation(value: unknown): number | undefined {
  if (value === -1) return Number.POSITIVE_INFINITY;
  return typeof value === 'number' && value >= 0 ? value / 100 : undefined;
}
