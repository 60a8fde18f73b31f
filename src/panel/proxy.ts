import { unescape } from 'node:querystring';
import { getProxyForUrl } from 'proxy-from-env';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { CodedError, OWN_CODES, readTransportError } from '../diagnosis/transport.ts';
import { isLocalHost } from '../domain/addresses.ts';
import { KNOWN_SECRETS, printable } from '../domain/secrets.ts';
import type { Clock } from '../domain/time.ts';
import { bounded, untilAborted } from '../domain/time.ts';

/** The proxy for an address: the configured one, else the environment's unless the host is local. Throws if it is invalid. */
export function proxyFor(address: string, proxyUrl: string | undefined): Proxy | undefined {
  if (proxyUrl !== undefined) return readProxy(proxyUrl, 'proxy_url');
  const { hostname, protocol } = new URL(address);
  if (isLocalHost(hostname) || getProxyForUrl(address) === '') return undefined;
  const own = protocol.replace(':', '_proxy');
  const setting = [own, own.toUpperCase(), 'all_proxy', 'ALL_PROXY'].find((name) => process.env[name]) ?? own;
  const text = process.env[setting] ?? '';
  return readProxy(text.includes('://') ? text : `http://${text}`, setting);
}

/** A proxy: its credentials are only in the headers, and `setting` is the setting or variable that names it. */
export type Proxy = ReturnType<typeof readProxy>;

function readProxy(text: string, setting: string) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw proxyError(`${setting} is not a proxy's address: expected the form http://proxy.example.com:3128`);
  KNOWN_SECRETS.addCredentials(url);
  const login = [url.username, url.password].map(unescape).join(':');
  const authorization = login === ':' ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
  return { origin: url.origin, headers: { 'proxy-authorization': authorization }, setting };
}

/** How to connect to a proxy; the timeout covers everything up to its response. */
export interface ProxyOptions {
  readonly clock: Clock;
  readonly connect: buildConnector.BuildOptions & { readonly timeout: number };
}

/** Connections to a proxy that open tunnels; whatever fails has the code of proxies. */
export class ProxyPool extends Pool {
  readonly #proxy: Proxy;
  readonly #options: ProxyOptions;

  constructor(proxy: Proxy, options: ProxyOptions) {
    const connect = buildConnector(options.connect);
    super(proxy.origin, {
      // ProxyAgent sets the proxy's host, which may be an IP address, and TLS allows none as a server name.
      connect: (target, done) => connect({ ...target, servername: '' }, done),
      // After a request that was given up, undici connects again.
      keepAliveTimeout: 1,
    });
    this.#proxy = proxy;
    this.#options = options;
  }

  override async connect(options: Omit<Dispatcher.ConnectOptions, 'origin'>) {
    const { origin, setting } = this.#proxy;
    const { clock, connect } = this.#options;
    const signal = (options.signal ?? new AbortController().signal) as AbortSignal;
    const late = () => new CodedError('ETIMEDOUT', 'it did not respond in time');
    const answer = await bounded({ clock, signal }, connect.timeout, late, (scope) =>
      untilAborted(super.connect({ ...options, signal: scope }), scope),
    ).catch((error: unknown) => {
      const { kind, code, message } = readTransportError(error);
      const hint = kind.startsWith('tls') ? '`tls_config.ca_file`' : 'that an HTTP proxy listens there';
      // Node.js 24 appends its own advice, which would displace ours.
      const [said] = message.split('; if the root CA');
      const reason = message.includes(code) ? message : `${said} (${code})`;
      throw proxyError(
        `the proxy ${origin} can't be used: ${reason}: check \`${setting}\` and ${hint}`,
        error,
      );
    });
    if (answer.statusCode === 200) return answer;
    answer.socket.destroy();
    throw proxyRefused(this.#proxy, options.path, answer.statusCode);
  }
}

/** The error for a proxy that responded to a request for `target` with an error of its own. */
export function proxyRefused({ origin, setting }: Proxy, target: string, status: number): CodedError {
  const login = `set its username and password in \`${setting}\``;
  const advice = status === 401 || status === 407 ? login : 'check what the proxy allows and can reach';
  return proxyError(`the proxy ${origin} rejected ${printable(target)} (${status}): ${advice}`);
}

/** The message shows the proxy without its password, and what to change. */
const proxyError = (words: string, cause?: unknown) => new CodedError(OWN_CODES.proxy, words, { cause });
