import { BlockList, isIP } from 'node:net';
import { printable } from '../domain/printable.ts';

/** Which addresses a panel may send a socket to. */
export interface SocketPolicy {
  readonly panelUrl: string;
  /** Plain `ws` is allowed. */
  readonly allowInsecure: boolean;
  /** When set, the only hosts that a socket may be opened to. */
  readonly socketHosts?: readonly string[];
}

/** The reason why a socket may not be opened to `address`, with what to change; undefined where it may. */
export function socketAddressProblem(address: string, policy: SocketPolicy): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined)
    return `expected a wss:// socket address from the panel, got "${printable(address)}"`;
  const shown = `socket address "${printable(`${url.protocol}//${url.host}`)}"`;
  if (url.protocol !== 'wss:' && url.protocol !== 'ws:') return `${shown}: expected the scheme wss`;
  if (url.username !== '' || url.password !== '') return `${shown}: it carries user info, which is refused`;
  const panelHost = new URL(policy.panelUrl).hostname;
  if (url.protocol === 'ws:' && !policy.allowInsecure && !isLocalHost(panelHost)) {
    return `${shown}: plain ws is refused; give the node a certificate, or set allow_insecure: true for this panel`;
  }
  return hostProblem(url.hostname, panelHost, shown, policy);
}

function hostProblem(
  host: string,
  panelHost: string,
  shown: string,
  policy: SocketPolicy,
): string | undefined {
  if (policy.socketHosts !== undefined) {
    const allowed = policy.socketHosts.some((name) => sameHost(name, host));
    return allowed ? undefined : `${shown}: the host is not in socket_hosts; add it if it is a node of yours`;
  }
  if (!isLocalHost(host) || isLocalHost(panelHost)) return undefined;
  return `${shown}: a loopback or link-local address from a panel that is not there itself; name the host in socket_hosts if it is right`;
}

/**
 * Is the address one that no name of a public panel may lead to: loopback, link-local or unspecified? Takes an IP
 * address as `dns.lookup` gives it.
 */
export function isLocalAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && LOCAL.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** The same for a host name or a bracketed address as a URL has it. */
export function isLocalHost(host: string): boolean {
  const bare = unbracketed(host);
  if (isIP(bare) !== 0) return isLocalAddress(bare);
  const name = bare.toLowerCase().replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost');
}

function sameHost(a: string, b: string): boolean {
  return unbracketed(a).toLowerCase() === unbracketed(b).toLowerCase();
}

function unbracketed(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

// BlockList matches IPv4-mapped IPv6 addresses against the IPv4 rules as well.
const LOCAL = new BlockList();
LOCAL.addSubnet('127.0.0.0', 8, 'ipv4');
LOCAL.addSubnet('0.0.0.0', 8, 'ipv4');
LOCAL.addSubnet('169.254.0.0', 16, 'ipv4');
LOCAL.addAddress('::1', 'ipv6');
LOCAL.addAddress('::', 'ipv6');
LOCAL.addSubnet('fe80::', 10, 'ipv6');
