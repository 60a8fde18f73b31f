import { isIPv6 } from 'node:net';

const MAPPED = /^::ffff:(\d+(?:\.\d+){3})$/i;

/**
 * The client that an address counts as when clients share a bounded resource: an IPv4 address is one client, and so is a
 * whole IPv6 /64, because a client with one of its addresses usually has all of them.
 */
export function clientOf(address = ''): string {
  const [, mapped] = MAPPED.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  const [plain = ''] = address.split('%');
  return isIPv6(plain) ? `${groupsOf(plain).slice(0, 4).join(':')}::/64` : address;
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): readonly string[] {
  // The URL parser converts an embedded IPv4 address to groups, and removes leading zeros.
  const { hostname } = new URL(`http://[${address}]`);
  const [left, right] = hostname
    .slice(1, -1)
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':')));
  if (left === undefined || right === undefined) return left ?? [];
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right];
}
