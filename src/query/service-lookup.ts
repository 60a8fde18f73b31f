// Looks up where a service is, such as a Minecraft server behind a bare domain.

import dns from 'node:dns';

/** The name servers are asked directly, so this uses none of the threads for lookups. */
const SERVICE_RESOLVER = new dns.promises.Resolver({ timeout: 2_000, tries: 1 });

/** Where a service is, by its SRV record; undefined if there is none. */
export async function findService(name: string, resolver = SERVICE_RESOLVER) {
  const records = await resolver.resolveSrv(name).catch(() => []);
  return records.toSorted((a, b) => a.priority - b.priority)[0];
}
