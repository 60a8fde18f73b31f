import { buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { type Proxy, ProxyError, proxyFor, proxyRefused, proxyTls, proxyUnreachable } from './proxy.ts';

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
  const { origin } = new URL(options.baseUrl);
  const proxy = proxyFor(options.baseUrl, options.proxyUrl, (host) => LOOPBACK.test(host));
  const connect = { ...tlsOptions(options.tls), timeout: options.connectTimeoutMs };
  const common = {
    connections: CONNECTIONS,
    headersTimeout: options.requestTimeoutMs,
    bodyTimeout: options.requestTimeoutMs,
    maxResponseSize: MAX_BODY_BYTES,
  };
  if (proxy === undefined) {
    return new Pool(origin, { ...common, connect: keepingFirstError(buildConnector(connect)) });
  }
  const toProxy = proxyConnector(proxy, options);
  // Many proxies allow CONNECT to port 443 only, so plain HTTP goes in absolute form.
  if (origin.startsWith('http:')) return new ForwardPool(proxy, origin, { ...common, connect: toProxy });
  // A proxy that takes the connection and then says nothing would otherwise hold its seat for minutes.
  const tunnels = { ...common, headersTimeout: options.connectTimeoutMs, connect: toProxy };
  return new ProxyAgent({
    ...common,
    uri: proxy.url.origin,
    ...(proxy.authorization !== undefined && { token: proxy.authorization }),
    requestTls: connect,
    factory: (panel, { connect, ...pool }: PoolOptions) =>
      new Pool(panel, { ...pool, connect: keepingFirstError(connect) }),
    clientFactory: () => new TunnelPool(proxy, tunnels),
  });
}

/** What a ProxyAgent makes its pools of. */
type PoolOptions = Pool.Options & { readonly connect: buildConnector.connector };

// A panel that misses our certificate says so once the handshake is over, and hangs up. undici hears both, and would tell the
// latter alone.
function keepingFirstError(connect: buildConnector.connector): buildConnector.connector {
  return (target, callback) =>
    connect(target, (...result) => {
      const [, socket] = result;
      socket?.once('error', (error) => socket.destroy(error));
      callback(...result);
    });
}

function proxyConnector(
  proxy: Proxy,
  { connectTimeoutMs, tls }: ConnectionOptions,
): buildConnector.connector {
  const connect = buildConnector({ ...proxyTls(tls), timeout: connectTimeoutMs });
  // The ProxyAgent gives TLS the host as a name even where it is an IP address, which TLS doesn't allow.
  return (target, callback) =>
    connect({ ...target, servername: '' }, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(proxyUnreachable(proxy, error), null);
    });
}

/** Connections to a proxy that become tunnels; what goes wrong with one names the proxy. */
class TunnelPool extends Pool {
  readonly #proxy: Proxy;

  constructor(proxy: Proxy, options: Pool.Options) {
    super(proxy.url.origin, options);
    this.#proxy = proxy;
  }

  override connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData>;
  override connect(options: Dispatcher.ConnectOptions, callback: ConnectCallback): void;
  override connect(options: Dispatcher.ConnectOptions, callback?: ConnectCallback) {
    if (callback !== undefined) {
      super.connect(options, callback);
      return undefined;
    }
    return this.#tunnel(options);
  }

  async #tunnel(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
    try {
      const answer = await super.connect(options);
      if (answer.statusCode === 200) return answer;
      answer.socket.on('error', () => {}).destroy();
      throw proxyRefused(this.#proxy, options.path, answer.statusCode);
    } catch (error) {
      throw error instanceof ProxyError ? error : proxyUnreachable(this.#proxy, error);
    }
  }
}

type ConnectCallback = (error: Error | null, data: Dispatcher.ConnectData) => void;

/** Connections to a proxy that is asked for the panel's addresses in full. */
class ForwardPool extends Pool {
  readonly #proxy: Proxy;
  readonly #origin: string;

  constructor(proxy: Proxy, origin: string, options: Pool.Options) {
    super(proxy.url.origin, options);
    this.#proxy = proxy;
    this.#origin = origin;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { url, authorization } = this.#proxy;
    const headers = {
      ...(options.headers as Record<string, string>),
      Host: new URL(this.#origin).host,
      ...(authorization !== undefined && { 'Proxy-Authorization': authorization }),
    };
    const path = `${this.#origin}${options.path}`;
    return super.dispatch({ ...options, origin: url.origin, path, headers }, handler);
  }
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
