/** Where players reach a game server, from its ports in a panel's response. */
import { formatEndpoint, isHost, isPort } from '../../addresses/hosts.ts';
import { isLinkLocal, isUnspecified } from '../../addresses/ranges.ts';
import { printable } from '../../text/printable.ts';

/**
 * Where players reach a game server, as `host:port` with IPv6 in brackets: uses the first of the
 * hosts that is an IP address or a host name. Takes values as received from a panel; undefined if
 * no host or no port is usable. A link-local address is reached only within a network segment.
 */
export function serverAddress(hosts: readonly unknown[], port: unknown): string | undefined {
  const host = hosts.find((value) => isShownHost(value) && !isUnspecified(value) && !isLinkLocal(value));
  return isPort(port) && isShownHost(host) ? formatEndpoint({ host, port }) : undefined;
}

/**
 * The rest of an allocation without a `serverAddress`: `host:port` of a link-local address or of
 * its node, or `:port` if there is no host; undefined without a port.
 */
export function localAllocation(hosts: readonly unknown[], port: unknown): string | undefined {
  const host = hosts.find((value) => isShownHost(value) && !isUnspecified(value));
  return isPort(port) ? formatEndpoint({ host: isShownHost(host) ? host : '', port }) : undefined;
}

/** A part of a secret can't be shown. */
function isShownHost(value: unknown): value is string {
  return isHost(value) && printable(value) === value;
}
