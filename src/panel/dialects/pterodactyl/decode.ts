import { decodeJwt } from 'jose/jwt/decode';
import type { NodeCapacity } from '../../../domain/reading.ts';
import { SampleNumbers } from '../../../domain/sample-numbers.ts';
import {
  finiteLimit,
  type Limit,
  type Limits,
  MIB,
  parseServerState,
  type ServerState,
  SHORT_ID_LENGTH,
} from '../../../domain/server.ts';
import {
  type Account,
  type Backup,
  type BackupsPage,
  type Credentials,
  type ListedServer,
  type ListingPage,
  type NodesPage,
  type Resources,
  type Schedule,
  ShapeError,
} from '../../dialect.ts';
import { asFields, asText, type Fields } from './fields.ts';
import { decodePorts } from './ports.ts';

/** The contract specifies 10 to 15 minutes; the shorter is assumed if the token contains no expiry. */
const DEFAULT_LIFETIME_MS = 600_000;

/** A token that claims a longer lifetime is still renewed daily. */
const MAX_LIFETIME_MS = 86_400_000;

/** The far end silently drops an auth frame of 4,096 bytes or more; this leaves room for what surrounds the token. */
const MAX_TOKEN_BYTES = 4_000;

/** A hundred years: a longer value is not an uptime, and would mean a start before the Unix epoch. */
export const MAX_UPTIME_MS = 100 * 365 * 86_400_000;

/** On the wire, CPU is in percent of one core with three decimals. */
const STEPS_PER_PERCENT = 1_000;
const STEPS_PER_CORE = 100_000;

interface WireStats {
  readonly memory_bytes?: unknown;
  readonly memory_limit_bytes?: unknown;
  readonly cpu_absolute?: unknown;
  readonly disk_bytes?: unknown;
  readonly network?: unknown;
  readonly disk_io?: unknown;
  readonly uptime?: unknown;
  readonly state?: unknown;
}

interface WireNetwork {
  readonly rx_bytes?: unknown;
  readonly tx_bytes?: unknown;
}

interface WireDisk {
  readonly read_bytes?: unknown;
  readonly write_bytes?: unknown;
}

interface WireResources {
  readonly memory_bytes?: unknown;
  readonly cpu_absolute?: unknown;
  readonly disk_bytes?: unknown;
  readonly network_rx_bytes?: unknown;
  readonly network_tx_bytes?: unknown;
  readonly uptime?: unknown;
}

/** Counts the fields that could not be used. */
interface BadFieldCount {
  bad: number;
}

/**
 * Reads the payload of a `stats` event into a sample; a field that is missing or unusable is absent. Returns the number of
 * unusable fields. Never throws.
 */
export function decodeStats(payload: unknown, sample: SampleNumbers): number {
  sample.clear();
  const count: BadFieldCount = { bad: 0 };
  const stats: WireStats | undefined = asFields(payload);
  if (stats === undefined) return 1;
  sample.state = stateOf(stats.state, count);
  sample.memoryBytes = quantity(stats.memory_bytes, count);
  // A server that was never started reports 0: its limit is unknown.
  sample.memoryLimitBytes = quantity(stats.memory_limit_bytes, count) || Number.NaN;
  sample.cpuCores = coresOf(quantity(stats.cpu_absolute, count));
  sample.diskBytes = quantity(stats.disk_bytes, count);
  const network: WireNetwork | undefined = nested(stats.network, count);
  sample.networkReceiveBytes = quantity(network?.rx_bytes, count);
  sample.networkTransmitBytes = quantity(network?.tx_bytes, count);
  const disk: WireDisk | undefined = nested(stats.disk_io, count);
  sample.diskReadBytes = quantity(disk?.read_bytes, count);
  sample.diskWrittenBytes = quantity(disk?.write_bytes, count);
  sample.uptimeMs = quantity(stats.uptime, count, MAX_UPTIME_MS);
  return count.bad;
}

/**
 * The sample in a response of the resources endpoint; a state of `missing` means no data.
 *
 * @throws ShapeError if the body holds no resources at all
 */
export function decodeResources(body: unknown): Resources {
  const attributes = asFields(asFields(body)?.['attributes']);
  if (attributes === undefined) throw new ShapeError('expected an object with "attributes"');
  const { current_state: state, is_suspended: isSuspended, resources } = attributes;
  if (state === undefined && resources === undefined) {
    throw new ShapeError('expected "current_state" and "resources" in "attributes"');
  }
  const suspended = isSuspended === true;
  const badFlag = isSuspended === undefined || typeof isSuspended === 'boolean' ? 0 : 1;
  if (state === 'missing') return { sample: undefined, suspended, badFields: badFlag };

  const sample = new SampleNumbers();
  const count: BadFieldCount = { bad: badFlag };
  sample.state = stateOf(state, count);
  const wire: WireResources | undefined = nested(resources, count);
  sample.memoryBytes = quantity(wire?.memory_bytes, count);
  sample.cpuCores = coresOf(quantity(wire?.cpu_absolute, count));
  sample.diskBytes = quantity(wire?.disk_bytes, count);
  sample.networkReceiveBytes = quantity(wire?.network_rx_bytes, count);
  sample.networkTransmitBytes = quantity(wire?.network_tx_bytes, count);
  sample.uptimeMs = quantity(wire?.uptime, count, MAX_UPTIME_MS);
  return { sample: sample.toSample(), suspended, badFields: count.bad };
}

/**
 * The account in a response of the account endpoint.
 *
 * @throws ShapeError if it has no name
 */
export function decodeAccount(body: unknown): Account {
  const attributes = asFields(asFields(body)?.['attributes']);
  const username = asText(attributes?.['username']);
  if (username === undefined) throw new ShapeError('expected "username" in "attributes"');
  // Newer versions of Pelican call it root_admin (app/Transformers/Api/Client/UserTransformer.php).
  return { username, isAdmin: attributes?.['admin'] === true || attributes?.['root_admin'] === true };
}

/**
 * The token and the address in a response of the credentials endpoint.
 *
 * @throws ShapeError if either is missing
 */
export function decodeCredentials(body: unknown): Credentials {
  const data = asFields(asFields(body)?.['data']);
  const token = asText(data?.['token']);
  const socketUrl = asText(data?.['socket']);
  if (token === undefined || socketUrl === undefined) {
    throw new ShapeError('expected "token" and "socket" in "data"');
  }
  const bytes = Buffer.byteLength(JSON.stringify(token));
  if (bytes > MAX_TOKEN_BYTES)
    throw new ShapeError(`expected a token of at most ${MAX_TOKEN_BYTES} bytes, got ${bytes}`);
  return { token, socketUrl, lifetimeMs: tokenLifetimeMs(token) };
}

// Only the difference of the two claims is used: `exp` alone would have to be compared with this machine's wall clock, which may
// be wrong or stepped.
function tokenLifetimeMs(token: string): number {
  const { iat, exp } = readClaims(token);
  if (typeof iat !== 'number' || typeof exp !== 'number') return DEFAULT_LIFETIME_MS;
  const lifetimeMs = (exp - iat) * 1_000;
  return lifetimeMs > 0 ? Math.min(lifetimeMs, MAX_LIFETIME_MS) : DEFAULT_LIFETIME_MS;
}

function readClaims(token: string): { readonly iat?: unknown; readonly exp?: unknown } {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}

/** Computed in the wire's own steps: 365.479 divided by 100 would be 3.6547899999999998. */
export function coresOf(percent: number): number {
  return Math.round(percent * STEPS_PER_PERCENT) / STEPS_PER_CORE;
}

function stateOf(word: unknown, count: BadFieldCount): ServerState | undefined {
  if (typeof word === 'string') return parseServerState(word);
  if (word !== undefined) count.bad += 1;
  return undefined;
}

/** A usable number; NaN if it wasn't sent or is unusable, which is counted. */
function quantity(value: unknown, count: BadFieldCount, most = Number.MAX_SAFE_INTEGER): number {
  if (value === undefined) return Number.NaN;
  // Adding 0 turns -0, which JSON can carry, into 0.
  if (typeof value === 'number' && value >= 0 && value <= most) return value + 0;
  count.bad += 1;
  return Number.NaN;
}

/** The object in a field; undefined if it wasn't sent or isn't an object, which is counted. */
function nested(value: unknown, count: BadFieldCount): Fields | undefined {
  const fields = asFields(value);
  if (fields === undefined && value !== undefined) count.bad += 1;
  return fields;
}

const PERCENT_PER_CORE = 100;

/**
 * What the request's `decodeEntry` made of the entries of the body's list: undefined for those that can't be used.
 *
 * @throws ShapeError if the body holds no list
 */
function entriesOf(body: unknown): readonly unknown[] {
  const data = asFields(body)?.['data'];
  if (!Array.isArray(data)) throw new ShapeError('expected an array "data"');
  return data;
}

const isUsable = (entry: unknown): boolean => entry !== undefined;

/**
 * The servers on one page of the server list, in the panel's order. If a page has more than `perPage` entries, the others are only
 * counted: a page of 8 MiB can hold 100,000.
 *
 * @throws ShapeError if the body holds no list
 */
export function decodeListingPage(body: unknown, perPage: number): ListingPage {
  const entries = entriesOf(body);
  const requested = entries.slice(0, perPage);
  const servers = requested.filter(isUsable) as readonly ListedServer[];
  return {
    servers,
    totalPages: pageCount(body),
    badEntries: requested.length - servers.length,
    surplusEntries: entries.length - requested.length,
  };
}

/** The daemons of Hydrodactyl, as its paths and its server list name them (app/Enums/Daemon/DaemonType.php). */
export const DAEMONS = ['wings', 'elytra'] as const;

/** A server in the list; undefined if the entry doesn't identify one. */
export function decodeServer(entry: unknown): ListedServer | undefined {
  const attributes = asFields(asFields(entry)?.['attributes']);
  const given = { uuid: asText(attributes?.['uuid']), identifier: asText(attributes?.['identifier']) };
  // Either one identifies the server. An entry without a UUID isn't monitored, but isn't missing from the server list either.
  const uuid = given.uuid ?? given.identifier;
  const identifier = given.identifier ?? given.uuid?.slice(0, SHORT_ID_LENGTH);
  if (attributes === undefined || identifier === undefined || uuid === undefined) return undefined;
  const status = asText(attributes['status']);
  const node = asText(attributes['node']);
  return {
    identifier,
    uuid,
    name: asText(attributes['name']) ?? identifier,
    node,
    daemon: DAEMONS.find((name) => name === attributes['daemon_type']),
    egg: eggName(attributes),
    status,
    suspended: attributes['is_suspended'] === true || status === 'suspended',
    // Panels treat a server whose installation failed like one that is being installed.
    installing:
      attributes['is_installing'] === true || status === 'installing' || status === 'install_failed',
    transferring: attributes['is_transferring'] === true,
    underMaintenance: attributes['is_node_under_maintenance'] === true,
    restoring: status === 'restoring_backup',
    withoutBackups: asFields(attributes['feature_limits'])?.['backups'] === 0,
    ...decodePorts(attributes),
    limits: decodeLimits(asFields(attributes['limits'])),
  };
}

function eggName(attributes: Fields): string | undefined {
  const egg = asFields(asFields(attributes['relationships'])?.['egg']);
  return asText(asFields(egg?.['attributes'])?.['name']);
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

/** On the wire, 0 means unlimited. */
function limit(value: unknown, basePerUnit: number): Limit | undefined {
  if (typeof value !== 'number' || !(value >= 0)) return undefined;
  if (value === 0) return 'unlimited';
  const inBase = value * basePerUnit;
  return inBase <= Number.MAX_SAFE_INTEGER ? inBase : undefined;
}

/** For swap, -1 means unlimited on the wire, and 0 means none. */
function swapLimit(value: unknown): Limit | undefined {
  if (value === -1) return 'unlimited';
  return value === 0 ? 0 : limit(value, MIB);
}

/**
 * The completed backups on one page of a server's list, in the panel's order.
 *
 * @throws ShapeError if the body holds no list
 */
export function decodeBackupsPage(body: unknown): BackupsPage {
  return { backups: entriesOf(body).filter(isUsable) as readonly Backup[], totalPages: pageCount(body) };
}

/**
 * A backup in a server's list; undefined while it isn't complete. A failed backup stays in the list until someone
 * deletes it. Pterodactyl and Pelican panels write `is_successful: false` and `completed_at` when the node reports the failure,
 * or when they give up waiting for a report (after 6 hours by default).
 */
export function decodeBackup(entry: unknown): Backup | undefined {
  const attributes = asFields(asFields(entry)?.['attributes']);
  const completedAt = asText(attributes?.['completed_at']);
  const isSuccessful = attributes?.['is_successful'];
  // The outcome is false from the start: without a completion time, the backup is in progress.
  if (typeof isSuccessful !== 'boolean' || completedAt === undefined) return undefined;
  const completedAtMs = instant(completedAt);
  if (completedAtMs === undefined) return undefined;
  const bytes = attributes?.['bytes'];
  const isSize = typeof bytes === 'number' && bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER;
  return { isSuccessful, completedAtMs, bytes: isSize ? bytes : undefined };
}

/**
 * The server's schedules in the panel's order.
 *
 * @throws ShapeError if the body holds no list
 */
export function decodeSchedules(body: unknown): readonly Schedule[] {
  return entriesOf(body).filter(isUsable) as readonly Schedule[];
}

/**
 * A schedule in a server's list (`ScheduleTransformer` of Pterodactyl and Pelican); undefined without a number or a name. Without its
 * tasks in the response, it counts as having some.
 */
export function decodeSchedule(entry: unknown): Schedule | undefined {
  const attributes = asFields(asFields(entry)?.['attributes']);
  const id = attributes?.['id'];
  const name = asText(attributes?.['name']);
  if (attributes === undefined || !Number.isSafeInteger(id) || name === undefined) return undefined;
  const tasks = asFields(asFields(attributes['relationships'])?.['tasks'])?.['data'];
  return {
    id: id as number,
    name,
    isDue: attributes['is_active'] === true && !(Array.isArray(tasks) && tasks.length === 0),
    isProcessing: attributes['is_processing'] === true,
    lastRunMs: instant(attributes['last_run_at']),
    nextRunMs: instant(attributes['next_run_at']),
  };
}

/** An ISO time in Unix milliseconds. */
function instant(value: unknown): number | undefined {
  const ms = Date.parse(asText(value) ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * The nodes on one page of the application API's list, in the panel's order.
 *
 * @throws ShapeError if the body holds no list
 */
export function decodeNodesPage(body: unknown): NodesPage {
  return { nodes: entriesOf(body).filter(isUsable) as readonly NodeCapacity[], totalPages: pageCount(body) };
}

/**
 * A node in the application API's list (`NodeTransformer` of Pterodactyl and Pelican, which also contains what the daemons'
 * configuration needs); undefined without a name.
 */
export function decodeNode(entry: unknown): NodeCapacity | undefined {
  const attributes = asFields(asFields(entry)?.['attributes']);
  const name = asText(attributes?.['name']);
  if (attributes === undefined || name === undefined) return undefined;
  const allocated = asFields(attributes['allocated_resources']);
  return {
    name,
    memoryBytes: finiteLimit(limit(attributes['memory'], MIB)),
    diskBytes: finiteLimit(limit(attributes['disk'], MIB)),
    memoryAllocatedBytes: sumOfLimits(allocated?.['memory']),
    diskAllocatedBytes: sumOfLimits(allocated?.['disk']),
    memoryOverallocation: overallocation(attributes['memory_overallocate']),
    diskOverallocation: overallocation(attributes['disk_overallocate']),
    isUnderMaintenance: attributes['maintenance_mode'] === true,
  };
}

function sumOfLimits(value: unknown): number | undefined {
  return value === 0 ? 0 : finiteLimit(limit(value, MIB));
}

/** In percent on the wire, where -1 means that any amount may be allocated. */
function overallocation(value: unknown): number | undefined {
  if (value === -1) return Number.POSITIVE_INFINITY;
  return typeof value === 'number' && value >= 0 ? value / 100 : undefined;
}

/** A higher page count is an error of the panel: no panel lists a million servers. */
const MAX_PAGES = 10_000;

/** How many pages a paged list reports; 1 if it reports none. */
export function pageCount(body: unknown): number {
  const pages = asFields(asFields(asFields(body)?.['meta'])?.['pagination'])?.['total_pages'];
  if (typeof pages !== 'number' || !(pages >= 1)) return 1;
  return Math.min(Math.floor(pages), MAX_PAGES);
}
