import { isIP } from 'node:net';
import { decodeJwt } from 'jose/jwt/decode';
import { addresses, contains, formatEndpoint, MAX_PORT } from '../../../domain/addresses.ts';
import { printable } from '../../../domain/secrets.ts';
import {
  type BlockedReason,
  DAEMONS,
  type Limit,
  type Limits,
  MIB,
  parseServerState,
  Sample,
  type ServerState,
  SHORT_ID_LENGTH,
} from '../../../domain/server.ts';
import { type Credentials, type ListedServer, type Resources, ShapeError } from '../../dialect.ts';

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
  // Panels treat a server whose installation failed like one that is being installed.
  if (flags['is_installing'] === true || status === 'installing' || status === 'install_failed')
    return 'installing';
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

/** The contract specifies 10 to 15 minutes; the shorter is assumed if the token contains no expiry. */
const DEFAULT_LIFETIME_MS = 600_000;

/** A token that claims a longer lifetime is still renewed daily. */
const MAX_LIFETIME_MS = 86_400_000;

/** The far end silently drops an auth frame of 4,096 bytes or more; this leaves room for what surrounds the token. */
const MAX_TOKEN_BYTES = 4_000;

export function decodeAccount(body: unknown) {
  const attributes = attributesOf(body);
  const username = asText(attributes?.['username']);
  if (username === undefined) throw new ShapeError('expected "username" in "attributes"');
  // Newer versions of Pelican call it root_admin (app/Transformers/Api/Client/UserTransformer.php).
  return { username, isAdmin: attributes?.['admin'] === true || attributes?.['root_admin'] === true };
}

/** Many times as long as any real address; an open socket keeps several copies of its address. */
const MAX_SOCKET_URL_LENGTH = 2_048;

export function decodeCredentials(body: unknown): Credentials {
  const token = asText(valueIn(body, 'data', 'token'));
  const socketUrl = asText(valueIn(body, 'data', 'socket'));
  if (token === undefined || socketUrl === undefined) {
    throw new ShapeError('expected "token" and "socket" in "data"');
  }
  const bytes = Buffer.byteLength(JSON.stringify(token));
  if (bytes > MAX_TOKEN_BYTES)
    throw new ShapeError(`expected a token of at most ${MAX_TOKEN_BYTES} bytes, got ${bytes}`);
  if (socketUrl.length > MAX_SOCKET_URL_LENGTH) {
    const expected = `expected a socket address of at most ${MAX_SOCKET_URL_LENGTH} characters`;
    throw new ShapeError(`${expected}, got ${socketUrl.length}`);
  }
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

/** The permissions that a token lists; undefined if it can't be read. Verifying the signature is up to the node. */
export function permissionsOf(token: string): readonly string[] | undefined {
  const { permissions } = readClaims(token);
  if (!Array.isArray(permissions)) return undefined;
  return permissions.filter((permission) => typeof permission === 'string');
}

function readClaims(token: string): Fields {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}

/** A hundred years: a longer value is not an uptime, and would mean a start before the Unix epoch. */
export const MAX_UPTIME_MS = 100 * 365 * 86_400_000;

/** Ten thousand cores: no server uses more, and one such sample would make the counter of its CPU time useless for ever. */
export const MAX_CPU_PERCENT = 1_000_000;

/** On the wire, CPU is in percent of one core with three decimals. */
const STEPS_PER_PERCENT = 1_000;
const STEPS_PER_CORE = 100_000;

/** Counts the fields that could not be used. */
type BadFieldCount = { bad: number };

/**
 * Reads the payload of a `stats` event into a sample; a field that is missing or unusable is absent. Returns the number of
 * unusable fields. Never throws.
 */
export function decodeStats(payload: unknown, sample: Sample): number {
  sample.clear();
  const count: BadFieldCount = { bad: 0 };
  const stats = asFields(payload);
  if (stats === undefined) return 1;
  sample.state = stateOf(stats['state'], count);
  sample.memoryBytes = quantity(stats['memory_bytes'], count);
  // A server that was never started reports 0: its limit is unknown.
  sample.memoryLimitBytes = quantity(stats['memory_limit_bytes'], count) || Number.NaN;
  sample.cpuCores = coresOf(quantity(stats['cpu_absolute'], count, MAX_CPU_PERCENT));
  sample.diskBytes = quantity(stats['disk_bytes'], count);
  const network = nested(stats['network'], count);
  sample.networkReceiveBytes = quantity(network?.['rx_bytes'], count);
  sample.networkTransmitBytes = quantity(network?.['tx_bytes'], count);
  const disk = nested(stats['disk_io'], count);
  sample.diskReadBytes = quantity(disk?.['read_bytes'], count);
  sample.diskWrittenBytes = quantity(disk?.['write_bytes'], count);
  sample.uptimeMs = quantity(stats['uptime'], count, MAX_UPTIME_MS);
  return count.bad;
}

/** The sample in a response of the resources endpoint; a state of `missing` means no data. */
export function decodeResources(body: unknown): Resources {
  const attributes = attributesOf(body);
  if (attributes === undefined) throw new ShapeError('expected an object with "attributes"');
  const { current_state: state, is_suspended: isSuspended, resources } = attributes;
  if (state === undefined && resources === undefined) {
    throw new ShapeError('expected "current_state" and "resources" in "attributes"');
  }
  const suspended = isSuspended === true;
  const badFlag = isSuspended === undefined || typeof isSuspended === 'boolean' ? 0 : 1;
  if (state === 'missing') return { sample: undefined, suspended, badFields: badFlag };

  const sample = new Sample();
  const count: BadFieldCount = { bad: badFlag };
  sample.state = stateOf(state, count);
  const wire = nested(resources, count);
  sample.memoryBytes = quantity(wire?.['memory_bytes'], count);
  sample.cpuCores = coresOf(quantity(wire?.['cpu_absolute'], count, MAX_CPU_PERCENT));
  sample.diskBytes = quantity(wire?.['disk_bytes'], count);
  sample.networkReceiveBytes = quantity(wire?.['network_rx_bytes'], count);
  sample.networkTransmitBytes = quantity(wire?.['network_tx_bytes'], count);
  sample.uptimeMs = quantity(wire?.['uptime'], count, MAX_UPTIME_MS);
  return { sample: sample, suspended, badFields: count.bad };
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
