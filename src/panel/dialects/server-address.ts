/** Where players reach a game server, from its ports in a panel's response. */
import { isIP } from 'node:net';
import { formatEndpoint, MAX_PORT } from '../../addresses/hosts.ts';
import { addresses, contains } from '../../addresses/ranges.ts';
import { printable } from '../../text/printable.ts';

/** The longest name in the DNS. */
const MAX_HOST = 253;

/**
 * Where players reach a game server, as `host:port` with IPv6 in brackets: uses the first of the
 * hosts that is an IP address or a host name. Takes values as received from a panel; undefined if
 * no host or no port is usable.
 */
export function serverAddress(hosts: readonly unknown[], port: unknown): string | undefined {
  const host = hosts.find((value) => isHost(value) && !contains(UNREACHABLE, value));
  return isPort(port) && isHost(host) ? formatEndpoint({ host, port }) : undefined;
}

/**
 * The rest of an allocation without a `serverAddress`: `host:port` of a link-local address or of
 * its node, or `:port` if there is no host; undefined without a port.
 */
export function localAllocation(hosts: readonly unknown[], port: unknown): string | undefined {
  const host = hosts.find((value) => isHost(value) && !contains(UNSPECIFIED, value));
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
const UNSPECIFIED = addresses('0.0.0.0/8', '::/128');

/**
 * Unspecified addresses, and those at which a game server can be reached only within one network
 * segment.
 */
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
