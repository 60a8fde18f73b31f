import { isIP } from 'node:net';

const HOST = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[^:]+))(?::\d+)?$/;

/**
 * May a request with this Host header ask for a reload? The page of another site can lead its own name to this machine (DNS rebinding)
 * and is then of the same origin for the browser, but it can't make the browser name an IP address or one of these names.
 */
export function isReloadHost(header: string | undefined, names: readonly string[]): boolean {
  // HTTP/1.0 has requests without one, and no browser sends such.
  if (header === undefined) return true;
  const { v6, name = v6 } = HOST.exec(header)?.groups ?? {};
  if (name === undefined) return false;
  const host = name.toLowerCase().replace(/\.$/, '');
  return isIP(host) !== 0 || host === 'localhost' || names.some((own) => own.toLowerCase() === host);
}
