import { BlockList, isIP, isIPv6 } from 'node:net';

/** A host, as in a URL but without brackets, and a port if known. */
export interface Endpoint {
  readonly host: string;
  readonly port?: number;
}

const PARTS = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/;
/** The highest valid port. */
export const MAX_PORT = 65_535;

/**
 * Parses `host`, `host:port` and `:port`, with IPv6 in brackets; undefined for any other text. The host is empty if there is
 * none.
 */
export function parseEndpoint(text: string): Endpoint | undefined {
  const [, host = '', digits] = PARTS.exec(text) ?? [];
  if (digits === undefined) return host === '' ? undefined : { host: unbracketed(host) };
  const port = Number(digits);
  return port >= 1 && port <= MAX_PORT ? { host: unbracketed(host), port } : undefined;
}

/** The endpoint in the form that `parseEndpoint` reads. */
export function formatEndpoint({ host, port }: Endpoint): string {
  const bracketed = host.includes(':') ? `[${host}]` : host;
  return port === undefined ? bracketed : `${bracketed}:${port}`;
}

/** An IPv6 address without the brackets that surround it in a URL; any other host unchanged. */
export function unbracketed(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

const LOCAL = addresses('127.0.0.0/8', '0.0.0.0/8', '169.254.0.0/16', '::1/128', '::/128', 'fe80::/10');

const PRIVATE = addresses('10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7');

/** Names without a domain, and domains that exist only within a network. */
const PRIVATE_NAME = /^(?:[^.]+|.*\.(?:local|lan|home|internal|home\.arpa))\.?$/i;

/** Addresses at which many machines listen, or none. */
const MANY = addresses('224.0.0.0/4', '240.0.0.0/4', 'ff00::/8');

const METADATA = addresses(
  // AWS, Google Cloud, Azure, Oracle, DigitalOcean, Hetzner and others; neighboring addresses are AWS's DNS, time and NitroTPM.
  '169.254.169.0/24',
  // AWS: credentials of ECS tasks and EKS pods.
  '169.254.170.0/24',
  '169.254.0.23/32', // Tencent
  '169.254.42.42/32', // Scaleway
  '100.100.100.200/32', // Alibaba
  '168.63.129.16/32', // Azure's WireServer
  '192.0.0.192/32', // Oracle, the older address
  'fd00:ec2::/32', // AWS
  'fd20:ce::/32', // Google Cloud
  'fd00:c1::/32', // Oracle
  'fd00:42::/32', // Scaleway
);

/** Kinds of IPv6 addresses that embed an IPv4 address, and the positions of its bytes. */
const EMBEDDINGS: readonly (readonly [BlockList, readonly (readonly number[])[]])[] = [
  // 6to4
  [addresses('2002::/16'), [[2, 3, 4, 5]]],
  // NAT64, the well-known prefix (RFC 6052)
  [addresses('64:ff9b::/96'), [[12, 13, 14, 15]]],
  // NAT64 within a site (RFC 8215), for all possible prefix lengths; byte 8 is never part of the address (RFC 6052)
  [
    addresses('64:ff9b:1::/48'),
    [
      [6, 7, 9, 10],
      [7, 9, 10, 11],
      [9, 10, 11, 12],
      [12, 13, 14, 15],
    ],
  ],
];

/**
 * Is the IP address loopback, link-local or unspecified, as IPv4, IPv6 or IPv4 embedded in IPv6? Takes an address as returned by
 * `dns.lookup`; false for a name.
 */
export function isLocalAddress(address: string): boolean {
  return formsOf(address).some((form) => contains(LOCAL, form));
}

/** Is the IP address, in any form, one of a cloud's metadata service, which hands out credentials of the machine? */
export function isMetadataAddress(address: string): boolean {
  // A network may translate IPv4 with its own prefix, and such an address ends with the IPv4 address. No other rule is this
  // broad, because many IPv6 addresses end like an unspecified one.
  const end = isIPv6(address) ? [quadAt(address, [12, 13, 14, 15])] : [];
  return [...formsOf(address), ...end].some((form) => contains(METADATA, form));
}

/** Is the host (a name, or an address in brackets as in a URL) this machine or a link-local address? */
export function isLocalHost(host: string): boolean {
  const bare = unbracketed(host);
  return isLocalAddress(bare) || /^(?:.*\.)?localhost\.?$/i.test(bare);
}

/** Is the host (a name, or an address in brackets as in a URL) this machine or in a private network? */
export function isPrivateHost(host: string): boolean {
  const bare = unbracketed(host);
  return isLocalHost(host) || (isIP(bare) === 0 ? PRIVATE_NAME.test(bare) : contains(PRIVATE, bare));
}

/** Is the IP address a multicast, broadcast or reserved one, at which many machines listen, or none? */
export function isManyAddress(address: string): boolean {
  return contains(MANY, address);
}

/** A host in the canonical form that URLs use: `2852039166` is `169.254.169.254`. */
export function canonicalHost(host: string): string {
  const bare = unbracketed(host);
  const url = `http://${isIPv6(bare) ? `[${bare}]` : bare}`;
  return URL.canParse(url) ? unbracketed(new URL(url).hostname) : bare;
}

/** The addresses in these ranges, such as `127.0.0.0/8`. */
export function addresses(...ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    list.addSubnet(network, Number(bits), isIPv6(network) ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** Is it one of these addresses, also as IPv4 mapped to IPv6? False for a name. */
export function contains(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** The address and each IPv4 address that its kind embeds; empty if it is not an IP address. */
function formsOf(address: string): readonly string[] {
  const places = EMBEDDINGS.filter(([kind]) => isIPv6(address) && contains(kind, address)).flatMap(
    ([, found]) => found,
  );
  return isIP(address) === 0 ? [] : [address, ...places.map((place) => quadAt(address, place))];
}

/** The IPv4 address in these bytes of an IPv6 address, whose zone is ignored. */
function quadAt(address: string, places: readonly number[]): string {
  const [bare = ''] = address.split('%', 1);
  // The URL parser converts every notation to groups of hexadecimal digits.
  const [head = '', tail = ''] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::').map(digitsOf);
  const bytes = Buffer.from(head + tail.padStart(32 - head.length, '0'), 'hex');
  return places.map((place) => bytes[place]).join('.');
}

function digitsOf(groups: string): string {
  return groups.replaceAll(/:?(\w+)/g, (_, group: string) => group.padStart(4, '0'));
}
