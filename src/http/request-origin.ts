// Detects requests that another site's page makes through a browser.
import { isIP } from 'node:net';

/**
 * Whether a browser sent the request for another site's page. Browsers send headers that show it
 * (old ones only `Origin`); programs don't.
 */
export function isFromAnotherSite(header: (name: string) => string | undefined): boolean {
  const site = header('Sec-Fetch-Site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = header('Origin');
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== header('Host')?.toLowerCase();
}

/**
 * Whether a request with this Host header may trigger a reload. With DNS rebinding, another site's
 * name may resolve to this machine. The browser then sends that name as the host, which is not an
 * IP address or one of `names`.
 */
export function isReloadHost(header: string | undefined, names: readonly string[]): boolean {
  // HTTP/1.0 allows requests without a Host header; no browser sends them.
  if (header === undefined) return true;
  const withoutPort = header.toLowerCase().replace(/:\d+$/, '');
  const host = withoutPort.replaceAll(/^\[|\]$|\.$/g, '');
  return isIP(host) !== 0 || host === 'localhost' || names.some((own) => own.toLowerCase() === host);
}
