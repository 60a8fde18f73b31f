import { isIP } from 'node:net';
import { addresses, contains, formatEndpoint, MAX_PORT } from '../../../domain/addresses.ts';
import { printable } from '../../../domain/secrets.ts';
import {
  type BlockedReason,
  DAEMONS,
  type Limit,
  type Limits,
  MIB,
  SHORT_ID_LENGTH,
} from '../../../domain/server.ts';
import type { ListedServer } from '../../dialect.ts';
import { asFields, asText, attributesOf, entriesOf, type Fields, limit, valueIn } from './fields.ts';

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
