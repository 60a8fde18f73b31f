import { isIP } from 'node:net';

const HOST = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:]+))(?::\d+)?$/;

/**
 * Whether a request with this Host header may trigger a reload. Another site's page can point its own name at this machine (DNS
 * rebinding), which makes it same-origin for the browser, but it can't make the browser send an IP address or one of these names
 * as the host.
 */
export function isReloadHost(header: string | undefined, names: readonly string[]): boolean {
  // HTTP/1.0 allows requests without a Host header, and no browser sends them.
  if (header === undefined) return true;
  const { v6, name = v6 } = HOST.exec(header)?.groups ?? {};
  if (name === undefined) return false;
  const host = name.toLowerCase().replace(/\.$/, '');
  return isIP(host) !== 0 || host === 'localhost' || names.some((own) => own.toLowerCase() === host);
}
