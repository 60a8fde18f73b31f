/** The address of a game server for its players, from the ports in a panel's response. */
import { formatEndpoint, isHost, isPort } from '../../addresses/hosts.ts';
import { isLinkLocal, isUnspecified } from '../../addresses/ranges.ts';
import { printable } from '../../text/printable.ts';

/**
 * The address for players as `host:port`, with IPv6 in brackets, from the first host that is an IP
 * address or a host name. Accepts values as received; undefined if no host or no port is usable. A
 * link-local address is reachable only within its network segment.
 */
export function serverAddress(hosts: readonly unknown[], port: unknown): string | undefined {
  const host = hosts.find((value) => isShownHost(value) && !isUnspecified(value) && !isLinkLocal(value));
  return isPort(port) && isShownHost(host) ? formatEndpoint({ host, port }) : undefined;
}

/**
 * An allocation without a `serverAddress`: `host:port` of a link-local address or of its node, or
 * `:port` without a host; undefined without a port.
 */
export function localAllocation(hosts: readonly unknown[], port: unknown): string | undefined {
  const host = hosts.find((value) => isShownHost(value) && !isUnspecified(value));
  return isPort(port) ? formatEndpoint({ host: isShownHost(host) ? host : '', port }) : undefined;
}

/** Is the value a host without any part of a secret? */
function isShownHost(value: unknown): value is string {
  return isHost(value) && printable(value) === value;
}
