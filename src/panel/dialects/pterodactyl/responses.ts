import { isIP } from 'node:net';
import { addresses, contains, formatEndpoint, MAX_PORT } from '../../../domain/addresses.ts';
import type { NodeCapacity } from '../../../domain/reading.ts';
import { printable } from '../../../domain/secrets.ts';
import {
  type BlockedReason,
  DAEMONS,
  finiteLimit,
  type Limit,
  type Limits,
  MIB,
  SHORT_ID_LENGTH,
} from '../../../domain/server.ts';
import { type Backup, type ListedServer, type Schedule, ShapeError } from '../../dialect.ts';

/** An object with unknown fields; JSON arrays are excluded. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object whose fields can be read; undefined for anything else. */
export function asFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** The value if it is a non-empty string. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The value in nested objects; undefined if one of them is missing. */
export function valueIn(object: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce((value, key) => asFields(value)?.[key], object);
}

/** The `attributes` of an object of the panel. */
export function attributesOf(object: unknown): Fields | undefined {
  return asFields(valueIn(object, 'attributes'));
}

/** Undefined if the text isn't JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** On the wire, 0 means unlimited. */
export function limit(value: unknown, basePerUnit: number): Limit | undefined {
  if (typeof value !== 'number' || !(value >= 0)) return undefined;
  if (value === 0) return 'unlimited';
  const inBase = value * basePerUnit;
  return inBase <= Number.MAX_SAFE_INTEGER ? inBase : undefined;
}

/** A higher page count is an error of the panel: no panel lists a million servers. */
const MAX_PAGES = 10_000;

/**
 * Decodes the attributes of as many entries of the body's list as were requested. Others are bad, as are those that can't be used, for
 * which `decode` returns undefined. Throws a ShapeError if the body holds no list.
 */
export function entriesOf<T>(
  body: unknown,
  requested: number,
  decode: (attributes: Fields) => T | undefined,
) {
  const data = valueIn(body, 'data');
  if (!Array.isArray(data)) throw new ShapeError('expected an array "data"');
  const entries: readonly unknown[] = data.slice(0, requested);
  const usable: readonly T[] = entries
    .map((entry) => decode(attributesOf(entry) ?? {}))
    .filter((entry) => entry !== undefined);
  const pages = valueIn(body, 'meta', 'pagination', 'total_pages');
  return {
    usable,
    badEntries: data.length - usable.length,
    /** 1 if the list reports none. */
    totalPages: typeof pages === 'number' && pages >= 1 ? Math.min(Math.floor(pages), MAX_PAGES) : 1,
  };
}

/** The longest name in the DNS. */
const MAX_HOST = 253;

/**
 * Where players reach a game server, as `host:port` with IPv6 in brackets: uses the first of the hosts that is an IP address or a
 * host name. Takes values as received from a panel; undefined if no host or no port is usable.
 */
export function serverAddress(hosts: readonly unknown[], port: unknown): string | undefined {
  const host = hosts.find((value) => isHost(value) && !contains(UNREACHABLE, value));
  return isPort(port) && isHost(host) ? formatEndpoint({ host, port }) : undefined;
}

/**
 * The rest of an allocation without a `serverAddress`: `host:port` of a link-local address or of its node, or `:port` if there is no
 * host; undefined without a port.
 */
export function localAllocation(hosts: readonly unknown[], port: unknown): string | undefined {
  const host = hosts.find((value) => isHost(value) && !contains(UNSPECIFIED, value));
  return isPort(port) ? formatEndpoint({ host: isHost(host) ? host : '', port }) : undefined;
}

/** Whether a value received from a panel is a port. */
function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_PORT;
}

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const HOST_NAME = new RegExp(String.raw`^(?:${LABEL}\.)*${LABEL}$`, 'i');

/** Resolvers read a name whose last label is a number as an IPv4 address in an old notation. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i;

/** Addresses that stand for all addresses of a machine. */
const UNSPECIFIED = addresses('0.0.0.0/8', '::/128');

/** The same, and addresses at which a game server can be reached only within one network segment. */
const UNREACHABLE = addresses('0.0.0.0/8', '::/128', '169.254.0.0/16', 'fe80::/10');

function isHost(value: unknown): value is string {
  // A part of a secret, or of a text that is too long, can't be shown.
  return typeof value === 'string' && value.length <= MAX_HOST && isForm(value) && printable(value) === value;
}

function isForm(text: string): boolean {
  if (isIP(text) === 0) return HOST_NAME.test(text) && !ENDS_IN_NUMBER.test(text);
  // A zone is meaningful only on one machine.
  return !text.includes('%');
}

const PERCENT_PER_CORE = 100;

/** The servers on one page of the server list, in the panel's order. */
export function decodeListingPage(body: unknown, perPage: number) {
  const { usable: servers, ...page } = entriesOf(body, perPage, decodeServer);
  return { servers, ...page };
}

/** Longer than any id of a panel. */
const MAX_ID = 64;

function asId(value: unknown): string | undefined {
  const id = asText(value);
  return id !== undefined && id.length <= MAX_ID ? id : undefined;
}

/** A server in the list; undefined if the entry doesn't identify one. */
function decodeServer(attributes: Fields): ListedServer | undefined {
  const given = { uuid: asId(attributes['uuid']), identifier: asId(attributes['identifier']) };
  // Either one identifies the server. An entry without a UUID isn't monitored, but isn't missing from the server list either.
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
  // Panels still call such a server one that is being installed, and reject its calls with the same words.
  if (status === 'install_failed') return 'install_failed';
  if (flags['is_installing'] === true || status === 'installing') return 'installing';
  return flags['is_node_under_maintenance'] === true ? 'maintenance' : undefined;
}

function decodeLimits(limits: Fields | undefined): Limits {
  const ioWeight = limit(limits?.['io'], 1);
  return {
    memoryBytes: limit(limits?.['memory'], MIB),
    diskBytes: limit(limits?.['disk'], MIB),
    cpuCores: limit(limits?.['cpu'], 1 / PERCENT_PER_CORE),
    swapBytes: swapLimit(limits?.['swap']),
    ioWeight: typeof ioWeight === 'number' ? ioWeight : undefined,
  };
}

/** For swap, -1 means unlimited on the wire, and 0 means none. */
function swapLimit(value: unknown): Limit | undefined {
  if (value === -1) return 'unlimited';
  return value === 0 ? 0 : limit(value, MIB);
}

/** Far more than any server has, and too few to take long. */
const MAX_RELATED = 1_000;

/** The most further ports of a server that are known: a game that responds to queries elsewhere does so at one of the first. */
const MAX_OTHER_PORTS = 15;

/** Names of variables with the port at which a game responds to queries, as in the eggs of parkervcp/eggs and pelican-eggs. */
const QUERY_PORT = /^(?:[A-Z]{1,20}_)?QUERY_?PORT$|^QPORT$/;

/**
 * Where a server of the server list can be reached (`AllocationTransformer`, `EggVariableTransformer` and `sftp_details` of each panel). Panels list all
 * allocations of a server, or only the default one if the account may not see the others; and the variables that its users may
 * see, or none.
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
  // A port that isn't the server's own isn't forwarded to it, and may be that of a server that isn't listed.
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
    .map((entry) => attributesOf(entry))
    .filter((fields) => fields !== undefined);
}

export function decodeAccount(body: unknown) {
  const attributes = attributesOf(body);
  const username = asText(attributes?.['username']);
  if (username === undefined) throw new ShapeError('expected "username" in "attributes"');
  // Newer versions of Pelican call it root_admin (app/Transformers/Api/Client/UserTransformer.php).
  return { username, isAdmin: attributes?.['admin'] === true || attributes?.['root_admin'] === true };
}

/** An ISO time in Unix milliseconds. */
function instant(value: unknown): number | undefined {
  const ms = Date.parse(asText(value) ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** The most backups that panels return on one page. */
export const BACKUPS_PER_PAGE = 50;

/** The completed backups on one page of a server's list, in the panel's order. */
export function decodeBackupsPage(body: unknown) {
  const { usable: backups, totalPages } = entriesOf(body, BACKUPS_PER_PAGE, decodeBackup);
  return { backups, totalPages };
}

/**
 * A backup in a server's list; undefined while it isn't complete. A failed backup stays in the list until someone
 * deletes it. Pterodactyl and Pelican panels write `is_successful: false` and `completed_at` when the node reports the failure,
 * or when they give up waiting for a report (after 6 hours by default).
 */
function decodeBackup(attributes: Fields): Backup | undefined {
  const { is_successful: isSuccessful, completed_at: completedAt, bytes } = attributes;
  const completedAtMs = instant(completedAt);
  // The outcome is false from the start: without a completion time, the backup is in progress.
  if (typeof isSuccessful !== 'boolean' || completedAtMs === undefined) return undefined;
  const isSize = typeof bytes === 'number' && bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER;
  return { isSuccessful, completedAtMs, bytes: isSize ? bytes : undefined };
}

/** More than people make; panels don't page them. */
const MAX_SCHEDULES = 1_000;

export function decodeSchedules(body: unknown): readonly Schedule[] {
  return entriesOf(body, MAX_SCHEDULES, decodeSchedule).usable;
}

/**
 * A schedule in a server's list (`ScheduleTransformer` of Pterodactyl and Pelican); undefined without a number or a name. Without its
 * tasks in the response, it counts as having some.
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

/** Panels return as many as are requested; all nodes of most panels fit. */
export const NODES_PER_PAGE = 100;

/** The nodes on one page of the application API's list, in the panel's order. */
export function decodeNodesPage(body: unknown) {
  const { usable: nodes, totalPages } = entriesOf(body, NODES_PER_PAGE, decodeNode);
  return { nodes, totalPages };
}

/**
 * A node in the application API's list (`NodeTransformer` of Pterodactyl and Pelican, which also contains what the daemons'
 * configuration needs, and of which only Pelican's has the CPU); undefined without a name.
 */
function decodeNode(attributes: Fields): NodeCapacity | undefined {
  const name = asText(attributes['name']);
  if (name === undefined) return undefined;
  const allocated = asFields(attributes['allocated_resources']);
  return {
    name,
    memory_bytes: finiteLimit(limit(attributes['memory'], MIB)),
    disk_bytes: finiteLimit(limit(attributes['disk'], MIB)),
    cpu_cores: finiteLimit(limit(attributes['cpu'], 1 / PERCENT_PER_CORE)),
    memory_allocated_bytes: sumOfLimits(allocated?.['memory'], MIB),
    disk_allocated_bytes: sumOfLimits(allocated?.['disk'], MIB),
    cpu_allocated_cores: sumOfLimits(allocated?.['cpu'], 1 / PERCENT_PER_CORE),
    memory_overallocation_ratio: overallocation(attributes['memory_overallocate']),
    disk_overallocation_ratio: overallocation(attributes['disk_overallocate']),
    cpu_overallocation_ratio: overallocation(attributes['cpu_overallocate']),
    maintenance: Number(attributes['maintenance_mode'] === true),
  };
}

function sumOfLimits(value: unknown, basePerUnit: number): number | undefined {
  return value === 0 ? 0 : finiteLimit(limit(value, basePerUnit));
}

/** In percent on the wire, where -1 means that any amount may be allocated. */
function overallocation(value: unknown): number | undefined {
  if (value === -1) return Number.POSITIVE_INFINITY;
  return typeof value === 'number' && value >= 0 ? value / 100 : undefined;
}
