// Decides which addresses may be queried for a host.

import { isIP } from 'node:net';
import { canonicalHost } from '../addresses/hosts.ts';
import type { ResolveName } from '../addresses/name-lookups.ts';
import { isLocalHost, isManyAddress, isMetadataAddress } from '../addresses/ranges.ts';
import { readTransportError } from '../diagnosis/transport-errors.ts';
import type { Problem } from '../domain/problems.ts';
import { printable } from '../text/printable.ts';

/** Which addresses may be queried for a panel's servers. */
export interface QueryPolicy {
  readonly panelUrl: string;
  /** Hosts that may be queried at any address to which they resolve. */
  readonly queryHosts?: readonly string[] | undefined;
}

/**
 * The maximum number of addresses: a name may have some of both families, and a game often uses
 * only one family.
 */
const MAX_ADDRESSES = 4;

/**
 * The IP addresses to query for a host, or why there is none. A name is resolved once, and the
 * result is both checked and used, so a later change of the name has no effect.
 */
export async function allowedAddresses(
  host: string,
  policy: QueryPolicy,
  resolve: (name: string) => ReturnType<ResolveName>,
): Promise<readonly string[] | Problem> {
  const unresolved = (reason: string): Problem => ({
    cause: 'query_dns',
    detail: `"${printable(host)}"${reason}`,
  });
  const isNamed = (one: string) =>
    policy.queryHosts?.some((named) => canonicalHost(named) === canonicalHost(one)) === true;
  let addresses: readonly string[] = [host];
  try {
    if (isIP(host) === 0) addresses = (await resolve(host)).map(({ address }) => address);
  } catch (error) {
    const { code } = readTransportError(error);
    // Without a code, the wait for the resolver was canceled.
    return unresolved(`: ${code === 'unknown' ? 'not resolved in time' : code}`);
  }
  if (addresses.length === 0) return unresolved(' has no address');
  for (const address of isNamed(host) ? [] : addresses) {
    const reason = isNamed(address) ? undefined : refusal(address, policy);
    if (reason === undefined) continue;
    const shown = address === host ? address : `"${printable(host)}" resolves to ${address}`;
    return { cause: 'query_address_not_allowed', detail: `${shown}: ${reason}` };
  }
  return addresses.slice(0, MAX_ADDRESSES);
}

function refusal(address: string, { panelUrl }: QueryPolicy): string | undefined {
  const panelHost = new URL(panelUrl).hostname;
  if (isMetadataAddress(address) && canonicalHost(address) !== canonicalHost(panelHost))
    return 'a cloud metadata address';
  if (isLocalHost(address) && !isLocalHost(panelHost))
    return 'a loopback or link-local address, but the panel is on another machine';
  return isManyAddress(address) ? 'a multicast or reserved address' : undefined;
}
