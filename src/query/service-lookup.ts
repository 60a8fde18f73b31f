// Looks up the address of a service, such as a Minecraft server behind a bare domain.

import dns from 'node:dns';

/** Asks the name servers directly, and therefore uses none of the lookup threads. */
const SERVICE_RESOLVER = new dns.promises.Resolver({ timeout: 2_000, tries: 1 });

/** The address in a service's SRV record; undefined if there is none. */
export async function findService(name: string, resolver = SERVICE_RESOLVER) {
  const records = await resolver.resolveSrv(name).catch(() => []);
  return records.toSorted((a, b) => a.priority - b.priority)[0];
}
