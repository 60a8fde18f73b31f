import type { ListingType } from '../domain/discovery.ts';
import { printable } from '../domain/printable.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { PanelApi } from '../panel/api.ts';

const PER_PAGE = 100;

/** A panel that names ever more pages is not followed for ever. */
const MAX_PAGES = 100;

/** The servers in a panel's listing, in the form of configured ones; rejects with a PanelError. */
export async function listedServers(
  api: Pick<PanelApi, 'listing'>,
  panel: string,
  type: ListingType | undefined,
  signal: AbortSignal,
): Promise<readonly ServerTarget[]> {
  const found = new Map<string, ServerTarget>();
  let pages = 1;
  for (let page = 1; page <= Math.min(pages, MAX_PAGES); page += 1) {
    const query = { page, perPage: PER_PAGE, ...(type === undefined ? {} : { type }) };
    const { value } = await api.listing(query, signal);
    pages = value.totalPages;
    // Pages have no stable order: a server may be on two.
    for (const { uuid, name } of value.servers) found.set(uuid, target(panel, uuid, printable(name)));
  }
  return [...found.values()];
}

/** A server that the configuration doesn't name. */
export function target(panel: string, id: string, name: string): ServerTarget {
  return { panel, id, name, labels: {}, expect: 'any', mode: 'socket', limits: {} };
}
