import { BlockList, isIP } from 'node:net';
import { printable } from '../domain/printable.ts';

const MAX_PORT = 65_535;

/**
 * Where players reach a game server, as `host:port` with IPv6 in brackets: at the first of the hosts that is an IP address or a host
 * name. Takes values as they came from a panel; undefined where no host or no port can be used.
 */
export function serverAddress(hosts: readonly unknown[], port: unknown): string | undefined {
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > MAX_PORT) return undefined;
  const host = hosts.find(isHost);
  if (host === undefined) return undefined;
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const HOST_NAME = new RegExp(String.raw`^(?:${LABEL}\.)*${LABEL}$`, 'i');

/** Resolvers take a name whose last label is a number for an IPv4 address in an old spelling. */
const ENDS_IN_NUMBER = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i;

/** No game server is reached at an address that stands for all of a machine's own, or only within one network segment. */
const UNREACHABLE = new BlockList();
UNREACHABLE.addSubnet('0.0.0.0', 8, 'ipv4');
UNREACHABLE.addSubnet('169.254.0.0', 16, 'ipv4');
UNREACHABLE.addAddress('::', 'ipv6');
UNREACHABLE.addSubnet('fe80::', 10, 'ipv6');

function isHost(value: unknown): value is string {
  // A secret, or a text that is too long, can't be shown in part.
  if (typeof value !== 'string' || printable(value) !== value) return false;
  const family = isIP(value);
  if (family === 0) return HOST_NAME.test(value) && !ENDS_IN_NUMBER.test(value);
  // A zone belongs to one machine.
  return !value.includes('%') && !UNREACHABLE.check(value, family === 6 ? 'ipv6' : 'ipv4');
}
