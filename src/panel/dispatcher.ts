import { getProxyForUrl } from 'proxy-from-env';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';

/** How TLS with the panel is done; certificates and keys are PEM text. */
export interface PanelTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name that the panel's certificate must carry, where it isn't the one in the url. */
  readonly serverName?: string;
  readonly insecureSkipVerify?: boolean;
}

/** What the connections to one panel are made of. */
export interface ConnectionOptions {
  readonly baseUrl: string;
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly tls?: PanelTls;
  /** Where absent, the environment's `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` decide, except for a panel on loopback. */
  readonly proxyUrl?: string;
}

/** As many as the budget has calls in flight. */
const CONNECTIONS = 8;

/** The largest body that any endpoint may send. */
export const MAX_BODY_BYTES = 8 * 1_048_576;

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * The connections to one panel, through a proxy where one is named.
 *
 * @throws Error where the proxy's address is none
 */
export function createDispatcher(options: ConnectionOptions): Dispatcher {
  const connect = { ...tlsOptions(options.tls), timeout: options.connectTimeoutMs };
  const common = {
    connections: CONNECTIONS,
    headersTimeout: options.requestTimeoutMs,
    bodyTimeout: options.requestTimeoutMs,
    maxResponseSize: MAX_BODY_BYTES,
  };
  const proxy = proxyAddress(options);
  if (proxy === undefined) return new Pool(new URL(options.baseUrl).origin, { ...common, connect });
  return new ProxyAgent({
    ...common,
    uri: proxy,
    requestTls: connect,
    proxyTls: { timeout: options.connectTimeoutMs },
    // A proxy that takes the connection and then says nothing would otherwise hold its seat for minutes.
    clientFactory: (origin, poolOptions) =>
      new Pool(origin, { ...poolOptions, ...common, headersTimeout: options.connectTimeoutMs }),
    // Many proxies allow CONNECT to port 443 only, so plain HTTP goes in absolute form.
    proxyTunnel: false,
  });
}

// The value may hold a password and the URL parser's error repeats it, so it is checked before it is used.
function proxyAddress({ baseUrl, proxyUrl }: ConnectionOptions): string | undefined {
  const address = proxyUrl ?? environmentProxy(baseUrl);
  if (address === '') return undefined;
  if (!URL.canParse(address)) {
    const source = proxyUrl === undefined ? 'the proxy of the environment (HTTPS_PROXY)' : 'proxy_url';
    throw new Error(`${source} is not a URL: expected the form http://proxy.example.com:3128`);
  }
  return address;
}

// No proxy leads back to this machine, and few environments think of naming it in NO_PROXY.
function environmentProxy(baseUrl: string): string {
  return LOOPBACK.test(new URL(baseUrl).hostname) ? '' : getProxyForUrl(baseUrl);
}

function tlsOptions(tls: PanelTls = {}) {
  return {
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(tls.cert !== undefined && { cert: tls.cert }),
    ...(tls.key !== undefined && { key: tls.key }),
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
    ...(tls.insecureSkipVerify === true && { rejectUnauthorized: false }),
  };
}
