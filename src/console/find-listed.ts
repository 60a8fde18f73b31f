import type { ListingType } from '../domain/discovery.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { PanelApi } from '../panel/api.ts';
import type { ListedServer } from '../panel/dialect.ts';
import { walkListing } from '../panel/listing.ts';

/** The servers in a panel's server list; rejects with a PanelError. */
export async function listedServers(
  api: Pick<PanelApi, 'listing'>,
  type: ListingType | undefined,
  signal: AbortSignal,
): Promise<readonly ListedServer[]> {
  const { servers, failure } = await walkListing(async (query) => {
    const { value } = await api.listing(type === undefined ? query : { ...query, type }, signal);
    return value;
  });
  if (failure !== undefined) throw failure.error;
  return servers;
}

/** A server that isn't in the configuration. */
export function target(panel: string, id: string, name: string): ServerTarget {
  return { panel, id, name, labels: {}, expect: 'any', mode: 'socket', limits: {} };
}
