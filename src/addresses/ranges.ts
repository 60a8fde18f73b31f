// The special ranges of IP addresses, such as those of loopback and of metadata services.

import { BlockList, isIP, isIPv6 } from 'node:net';
import { AddressList } from './address-list.ts';
import { unbracketed } from './hosts.ts';

/** The addresses of ranges such as `127.0.0.0/8`. */
function addressesIn(...ranges: readonly string[]): AddressList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    list.addSubnet(network, Number(bits), isIPv6(network) ? 'ipv6' : 'ipv4');
  }
  return new AddressList(list);
}

const LOOPBACK_RANGES = ['127.0.0.0/8', '::1/128'] as const;
const LOOPBACK = addressesIn(...LOOPBACK_RANGES);

/** The names of this machine (RFC 6761). */
const LOOPBACK_NAME = /^(?:.*\.)?localhost\.?$/i;

/** Addresses that stand for all addresses of a machine. */
const UNSPECIFIED_RANGES = ['0.0.0.0/8', '::/128'] as const;
const UNSPECIFIED = addressesIn(...UNSPECIFIED_RANGES);

/** Addresses that are valid only within one network segment. */
const LINK_LOCAL_RANGES = ['169.254.0.0/16', 'fe80::/10'] as const;
const LINK_LOCAL = addressesIn(...LINK_LOCAL_RANGES);

const LOCAL = addressesIn(...LOOPBACK_RANGES, ...UNSPECIFIED_RANGES, ...LINK_LOCAL_RANGES);

const PRIVATE = addressesIn('10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7');

/** Names without a domain, and domains that exist only within a network. */
const PRIVATE_NAME = /^(?:[^.]+|.*\.(?:local|lan|home|internal|home\.arpa))\.?$/i;

/** Addresses at which many machines listen, or none. */
const MANY = addressesIn('224.0.0.0/4', '240.0.0.0/4', 'ff00::/8');

const METADATA = addressesIn(
  // AWS, Google Cloud, Azure, Oracle, DigitalOcean, Hetzner and others; neighboring addresses are
  // AWS's DNS, time and NitroTPM.
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

/** IPv6 addresses that embed an IPv4 address, in hexadecimal digits. */
const EMBEDDINGS = [
  /^0{24}(.{8})$/, // IPv4-compatible (RFC 4291, deprecated)
  /^0{16}ffff0000(.{8})$/, // IPv4-translated (RFC 2765)
  /^.{16}0[02]005efe(.{8})$/, // ISATAP (RFC 5214)
  /^2002(.{8})/, // 6to4
  /^0064ff9b0{16}(.{8})$/, // NAT64, the well-known prefix (RFC 6052)
  // NAT64 within a site (RFC 8215), for all possible prefix lengths; byte 8 is never part of the
  // address (RFC 6052).
  /^0064ff9b0001(.{4})..(.{4})/,
  /^0064ff9b0001..(..)..(.{6})/,
  /^0064ff9b0001.{6}(.{8})/,
  /^0064ff9b0001.*(.{8})$/,
];

/**
 * A network may translate IPv4 with its own prefix; such an address ends with the IPv4 address.
 * Only metadata services are searched for in this form, because many IPv6 addresses end like an
 * unspecified one.
 */
const TAIL = /(.{8})$/;

/**
 * Is the IP address, in any form, one of a cloud's metadata service, which gives out the machine's
 * credentials?
 */
export function isMetadataAddress(address: string): boolean {
  return embeddedForms(address, [...EMBEDDINGS, TAIL]).some((form) => METADATA.has(form));
}

/**
 * Is the host (a name, or an address as returned by `dns.lookup` or in brackets as in a URL) this
 * machine, link-local or unspecified, also as IPv4 embedded in IPv6?
 */
export function isLocalHost(host: string): boolean {
  const bare = unbracketed(host);
  const isLocal = embeddedForms(bare, EMBEDDINGS).some((form) => LOCAL.has(form));
  return isLocal || LOOPBACK_NAME.test(bare);
}

/** Is the host an address that stands for all addresses of a machine? */
export function isUnspecified(host: string): boolean {
  return UNSPECIFIED.has(host);
}

/** Is the host an address that is valid only within one network segment? */
export function isLinkLocal(host: string): boolean {
  return LINK_LOCAL.has(host);
}

/**
 * Is the host (a name, or an address in brackets as in a URL) this machine or in a private network?
 */
export function isPrivateHost(host: string): boolean {
  const bare = unbracketed(host);
  return isLocalHost(host) || (isIP(bare) === 0 ? PRIVATE_NAME.test(bare) : PRIVATE.has(bare));
}

/** Is the host (a name, or an address, in brackets as in a URL) this machine, and nothing else? */
export function isLoopback(host: string): boolean {
  const bare = unbracketed(host);
  return LOOPBACK.has(bare) || LOOPBACK_NAME.test(bare);
}

/**
 * Is the IP address a multicast, broadcast or reserved one, at which many machines listen, or none?
 */
export function isManyAddress(address: string): boolean {
  return MANY.has(address);
}

/** The address and each IPv4 address that it embeds. */
function embeddedForms(address: string, embeddings: readonly RegExp[]): readonly string[] {
  if (!isIPv6(address)) return [address];
  const [bare = ''] = address.split('%', 1);
  // The URL parser converts every notation to groups of hexadecimal digits.
  const [head = '', tail = ''] = new URL(`http://[${bare}]`).hostname
    .slice(1, -1)
    .split('::')
    .map(paddedDigits);
  const digits = head + tail.padStart(32 - head.length, '0');
  const embedded = embeddings.flatMap((form) => form.exec(digits)?.slice(1).join('') ?? []);
  return [address, ...embedded.map((quad) => Buffer.from(quad, 'hex').join('.'))];
}

function paddedDigits(groups: string): string {
  return groups.replaceAll(/:?(\w+)/g, (_, group: string) => group.padStart(4, '0'));
}
