import { BlockList, isIP } from 'node:net';
import { unbracketed } from './endpoint.ts';

/**
 * Is the IP address loopback, link-local or unspecified, as IPv4, IPv6 or IPv4 embedded in IPv6? Takes an address as returned by
 * `dns.lookup`; false for a name.
 */
export function isLocalAddress(address: string): boolean {
  return formsOf(address).some((form) => contains(LOCAL, form));
}

/** Is the IP address, in any form, one of a cloud's metadata service, which hands out credentials of the machine? */
export function isMetadataAddress(address: string): boolean {
  if (formsOf(address).some((form) => contains(METADATA, form))) return true;
  // A network may translate IPv4 with its own prefix, and such an address ends with the IPv4 address. No other rule is this
  // broad, because many IPv6 addresses end like an unspecified one.
  const bytes = isIP(address) === 6 ? bytesOf(address) : undefined;
  return bytes !== undefined && contains(METADATA, quadAt(bytes, [12, 13, 14, 15]));
}

/** Is the host (a name, or an address in brackets as in a URL) this machine or a link-local address? */
export function isLocalHost(host: string): boolean {
  const bare = unbracketed(host);
  if (isIP(bare) !== 0) return isLocalAddress(bare);
  const name = bare.toLowerCase().replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost');
}

/** Is the IP address a multicast, broadcast or reserved one, at which many machines listen, or none? */
export function isManyAddress(address: string): boolean {
  return isIP(address) !== 0 && contains(MANY, address);
}

const MANY = new BlockList();
MANY.addSubnet('224.0.0.0', 4, 'ipv4');
MANY.addSubnet('240.0.0.0', 4, 'ipv4');
MANY.addSubnet('ff00::', 8, 'ipv6');

/** A host in the canonical form that URLs use: `2852039166` is `169.254.169.254`. */
export function canonicalHost(host: string): string {
  const bare = unbracketed(host);
  const url = `http://${isIP(bare) === 6 ? `[${bare}]` : bare}`;
  return URL.canParse(url) ? unbracketed(new URL(url).hostname) : bare;
}

const LOCAL = new BlockList();
LOCAL.addSubnet('127.0.0.0', 8, 'ipv4');
LOCAL.addSubnet('0.0.0.0', 8, 'ipv4');
LOCAL.addSubnet('169.254.0.0', 16, 'ipv4');
LOCAL.addAddress('::1', 'ipv6');
LOCAL.addAddress('::', 'ipv6');
LOCAL.addSubnet('fe80::', 10, 'ipv6');

const METADATA = new BlockList();
// AWS, Google Cloud, Azure, Oracle, DigitalOcean, Hetzner and others; neighboring addresses are AWS's DNS, time and NitroTPM.
METADATA.addSubnet('169.254.169.0', 24, 'ipv4');
// AWS: credentials of ECS tasks and EKS pods.
METADATA.addSubnet('169.254.170.0', 24, 'ipv4');
METADATA.addAddress('169.254.0.23', 'ipv4'); // Tencent
METADATA.addAddress('169.254.42.42', 'ipv4'); // Scaleway
METADATA.addAddress('100.100.100.200', 'ipv4'); // Alibaba
METADATA.addAddress('168.63.129.16', 'ipv4'); // Azure's WireServer
METADATA.addAddress('192.0.0.192', 'ipv4'); // Oracle, the older address
METADATA.addSubnet('fd00:ec2::', 32, 'ipv6'); // AWS
METADATA.addSubnet('fd20:ce::', 32, 'ipv6'); // Google Cloud
METADATA.addSubnet('fd00:c1::', 32, 'ipv6'); // Oracle
METADATA.addSubnet('fd00:42::', 32, 'ipv6'); // Scaleway

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** The positions of the bytes of an embedded IPv4 address, for each known kind of IPv6 address. */
const EMBEDDINGS: readonly { readonly kind: BlockList; readonly bytes: readonly (readonly number[])[] }[] = [
  // 6to4
  { kind: subnet('2002::', 16), bytes: [[2, 3, 4, 5]] },
  // NAT64, the well-known prefix (RFC 6052)
  { kind: subnet('64:ff9b::', 96), bytes: [[12, 13, 14, 15]] },
  // NAT64 within a site (RFC 8215), for all possible prefix lengths; byte 8 is never part of the address (RFC 6052)
  {
    kind: subnet('64:ff9b:1::', 48),
    bytes: [
      [6, 7, 9, 10],
      [7, 9, 10, 11],
      [9, 10, 11, 12],
      [12, 13, 14, 15],
    ],
  },
];

function subnet(network: string, prefix: number): BlockList {
  const list = new BlockList();
  list.addSubnet(network, prefix, 'ipv6');
  return list;
}

/**
 * The address and each IPv4 address that its kind embeds; empty if it is not an IP address. BlockList handles IPv4-mapped
 * addresses itself.
 */
function formsOf(address: string): readonly string[] {
  const family = isIP(address);
  if (family === 0) return [];
  if (family === 4) return [address];
  const bytes = bytesOf(address);
  const embedded = EMBEDDINGS.filter(({ kind }) => contains(kind, address)).flatMap(({ bytes: places }) =>
    places.map((place) => quadAt(bytes, place)),
  );
  return [address, ...embedded];
}

/** The 16 bytes of an IPv6 address; its zone is ignored. */
function bytesOf(address: string): readonly number[] {
  const [bare = ''] = address.split('%', 1);
  // The URL parser converts every notation to groups of hexadecimal digits.
  const [head = '', tail] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::');
  const groupsOf = (text: string) => text.split(':').filter((group) => group !== '');
  const [front, back] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return [...front, ...zeros, ...back].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

function quadAt(bytes: readonly number[], places: readonly number[]): string {
  return places.map((place) => bytes[place] ?? 0).join('.');
}
