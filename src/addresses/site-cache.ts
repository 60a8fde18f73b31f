// A cache with one value for all addresses of one scheme, host and port.

import { remembered } from './remembered.ts';

/** Only the plainest form of a URL, in which every parser finds the same host. */
const SITE = /^wss?:\/\/[a-z0-9.-]+(?::\d{1,5})?\/(?=[\w./-]*$)/;

/**
 * Calls `read` once for all addresses that differ only in their paths, if they have the usual form.
 */
export function perSite<Found>(read: (address: string) => Found): (address: string) => Found {
  return remembered(read, (address) => SITE.exec(address)?.[0]);
}
