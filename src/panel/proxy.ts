/** The HTTP proxy for an address. */
import { unescape } from 'node:querystring';
import { getProxyForUrl } from 'proxy-from-env';
import { isLocalHost } from '../addresses/ranges.ts';
import { CodedError, OWN_CODES } from '../diagnosis/transport-errors.ts';
import { printable } from '../text/printable.ts';
import { KNOWN_SECRETS } from '../text/redaction.ts';

export interface Proxy {
  readonly origin: string;
  /** The header with its credentials, if it has any. */
  readonly headers: { readonly 'proxy-authorization': string | undefined };
  /** The name of the setting or variable that contains it. */
  readonly setting: string;
}

/**
 * The proxy for an address: the configured one, otherwise the environment's unless the host is
 * local. Throws if its address is invalid.
 */
export function proxyFor(address: string, proxyUrl: string | undefined): Proxy | undefined {
  if (proxyUrl !== undefined) return readProxy(proxyUrl, 'proxy_url');
  const { hostname, protocol } = new URL(address);
  if (isLocalHost(hostname) || getProxyForUrl(address) === '') return undefined;
  const own = protocol.replace(':', '_proxy');
  const setting = [own, own.toUpperCase(), 'all_proxy', 'ALL_PROXY'].find((name) => process.env[name]) ?? own;
  return readProxy(withScheme(process.env[setting] ?? ''), setting);
}

/** Variables may contain a proxy without its scheme. */
const withScheme = (address: string) => (address.includes('://') ? address : `http://${address}`);

function readProxy(text: string, setting: string): Proxy {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw proxyError(
      `\`${setting}\` is not the URL of a proxy: expected the form http://proxy.example.com:3128`,
    );
  for (const secret of urlSecrets(url)) KNOWN_SECRETS.add(secret);
  const { user, password, login } = urlCredentials(url);
  const authorization = user + password === '' ? undefined : `Basic ${login}`;
  return { origin: url.origin, headers: { 'proxy-authorization': authorization }, setting };
}

function urlCredentials(url: URL) {
  const [user = '', password = ''] = [url.username, url.password].map(unescape);
  return { user, password, login: Buffer.from(`${user}:${password}`).toString('base64') };
}

// A username is secret only if there is no password.
function urlSecrets(url: URL): readonly string[] {
  const { user, password, login } = urlCredentials(url);
  return user + password === '' ? [] : [password || user, login];
}

/**
 * The secrets in a proxy's address, in all forms that a text may contain; none if it isn't an
 * address.
 */
export function proxySecrets(address: string): readonly string[] {
  const whole = withScheme(address);
  return URL.canParse(whole) ? urlSecrets(new URL(whole)) : [];
}

/** The error for a proxy that rejected a request for `target`. */
export function proxyRefused({ origin, setting }: Proxy, target: string, status: number): CodedError {
  const login = `set its username and password in \`${setting}\``;
  const advice = status === 401 || status === 407 ? login : 'check what the proxy allows and can reach';
  return proxyError(`the proxy ${origin} rejected ${printable(target)} (${status}): ${advice}`);
}

/** An error whose message contains the proxy without its password, and the setting to change. */
export const proxyError = (message: string, cause?: unknown) =>
  new CodedError(OWN_CODES.proxy, message, { cause });
