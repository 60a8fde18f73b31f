// A cache with one value for all addresses of one scheme, host and port.

/** Only the plainest form of a URL, in which every parser finds the same host. */
const SITE = /^wss?:\/\/[a-z0-9.-]+(?::\d{1,5})?\/(?=[\w./-]*$)/;

/** More sites than any panel has. When the limit is reached, the cache is emptied. */
const MAX_SITES = 1_000;

/**
 * Calls `read` once for all addresses that differ only in their paths, if they have the usual form.
 */
export function perSite<Found>(read: (address: string) => Found): (address: string) => Found {
  const found = new Map<string, Found>();
  return (address) => {
    const [site] = SITE.exec(address) ?? [];
    if (site === undefined) return read(address);
    const known = found.get(site);
    if (known !== undefined || found.has(site)) return known as Found;
    const value = read(address);
    if (found.size === MAX_SITES) found.clear();
    found.set(site, value);
    return value;
  };
}
