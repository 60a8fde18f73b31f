import { BlockList, isIP } from 'node:net';
import { formatEndpoint, MAX_PORT } from '../domain/endpoint.ts';
import { printable } from '../domain/printable.ts';

/** The longest name in the DNS. */
const MAX_HOST = 253;

/**
 * Where players reach a game server, as `host:port` with IPv6 in brackets: uses the first of the hosts that is an IP address or a
 * host name. Takes values as received from a panel; undefined if no host or no port is usable.
 */
export function serverAddress(hosts: readonly unknown[], port: unknown): string | undefined {
  const host = hosts.find((value) => isHost(value) && !isUnreachable(value));
  return isPort(port) && isHost(host) ? formatEndpoint({ host, port }) : undefined;
}

/**
 * The rest of an allocation without a `serverAddress`: `host:port` of a link-local address or of its node, or `:port` if there is no
 * host; undefined without a port.
 */
export function localAllocation(hosts: readonly unknown[], port: unknown): string | undefined {
  const host = hosts.find((value) => isHost(value) && !isUnspecified(value));
  return isPort(port) ? formatEndpoint({ host: isHost(host) ? host : '', port }) : undefined;
}

/** Whether a value received from a panel is a port. */
export function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_PORT;
}

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const HOST_NAME = new RegExp(String.raw`^(?:${LABEL}\.)*${LABEL}$`, 'i');

/** Resolvers read a name whose last label is a number as an IPv4 address in an old notation. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i;

/** Addresses that stand for all addresses of a machine. */
const UNSPECIFIED = new BlockList();
UNSPECIFIED.addSubnet('0.0.0.0', 8, 'ipv4');
UNSPECIFIED.addAddress('::', 'ipv6');

/** Addresses at which a game server can be reached only within one network segment. */
const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet('169.254.0.0', 16, 'ipv4');
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6');

function isUnspecified(host: string): boolean {
  return isIn(UNSPECIFIED, host);
}

function isUnreachable(host: string): boolean {
  return isUnspecified(host) || isIn(LINK_LOCAL, host);
}

function isIn(list: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && list.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

function isHost(value: unknown): value is string {
  // A part of a secret, or of a text that is too long, can't be shown.
  return typeof value === 'string' && value.length <= MAX_HOST && isForm(value) && printable(value) === value;
}

function isForm(text: string): boolean {
  if (isIP(text) === 0) return HOST_NAME.test(text) && !ENDS_IN_NUMBER.test(text);
  // A zone is meaningful only on one machine.
  return !text.includes('%');
}
