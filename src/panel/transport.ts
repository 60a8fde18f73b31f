import { buildConnector, type Dispatcher, Pool } from 'undici';
import { OWN_CODES } from '../diagnosis/transport.ts';
import type { Clock } from '../domain/clock.ts';
import { type Proxy, proxyFor, proxyTls, proxyUnreachable } from './proxy.ts';
import type { RateHeaders } from './rate-headers.ts';
import { openTunnel } from './tunnel.ts';

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
  readonly clock: Clock;
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
 * The proxy on the way to the panel, if there is one.
 *
 * @throws Error if its address is no URL of a proxy
 */
export function panelProxy({ baseUrl, proxyUrl }: ConnectionOptions): Proxy | undefined {
  return proxyFor(baseUrl, proxyUrl, (host) => LOOPBACK.test(host));
}

/**
 * The connections to one panel, through a proxy where one is named. `signal` ends attempts to connect through it.
 *
 * @throws Error where the proxy's address is none
 */
export function createDispatcher(options: ConnectionOptions, signal: AbortSignal): Dispatcher {
  const { origin } = new URL(options.baseUrl);
  const proxy = panelProxy(options);
  const common = {
    connections: CONNECTIONS,
    headersTimeout: options.requestTimeoutMs,
    bodyTimeout: options.requestTimeoutMs,
    maxResponseSize: MAX_BODY_BYTES,
  };
  if (proxy === undefined) return new Pool(origin, { ...common, connect: panelConnector(options) });
  // Many proxies allow CONNECT to port 443 only, so plain HTTP goes in absolute form.
  if (origin.startsWith('http:'))
    return new ForwardPool(proxy, origin, { ...common, connect: proxyConnector(proxy, options) });
  return new Pool(origin, { ...common, connect: tunnelConnector(proxy, options, signal) });
}

function panelConnector({ tls, connectTimeoutMs }: ConnectionOptions): buildConnector.connector {
  return keepingFirstError(buildConnector({ ...tlsOptions(tls), timeout: connectTimeoutMs }));
}

/** Connects to the panel through a tunnel; a proxy that gives none is named. */
function tunnelConnector(
  proxy: Proxy,
  options: ConnectionOptions,
  signal: AbortSignal,
): buildConnector.connector {
  const connect = panelConnector(options);
  const { clock, connectTimeoutMs: timeoutMs, tls: trust } = options;
  const begin = async (...[target, callback]: Parameters<buildConnector.connector>): Promise<void> => {
    const { hostname: host, port } = target;
    const far = { host, port: port === '' ? 443 : Number(port) };
    try {
      const httpSocket = await openTunnel(proxy, far, { clock, timeoutMs, signal, trust });
      connect({ ...target, httpSocket }, callback);
    } catch (error) {
      callback(error as Error, null);
    }
  };
  return (target, callback) => void begin(target, callback);
}

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
  return (target, callback) =>
    connect(target, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(proxyUnreachable(proxy, error), null);
    });
}

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

/** One GET. */
export interface Exchange {
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** The whole call must be over by then, from the first look-up of a name to the last byte. */
  readonly deadlineMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** An answer with its whole body as text; of an error's body only as much as came and is worth reading. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly location?: string;
  readonly rate: RateHeaders;
  readonly text: string;
}

/** Trouble that is ours to detect; `code` sits beside the codes of Node and undici. */
class ExchangeError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Of an error's page no more is read than this. */
const MAX_ERROR_BYTES = 65_536;

/**
 * The answer to one GET. Rejects with the signal's reason when that aborts, and with whatever the transport
 * throws.
 */
export async function exchange(dispatcher: Dispatcher, request: Exchange): Promise<Reply> {
  request.signal.throwIfAborted();
  // Not AbortSignal.any: on Node 20 each call would leave a trace on a signal that lives for long.
  const scope = new AbortController();
  const withdraw = () => scope.abort(request.signal.reason);
  request.signal.addEventListener('abort', withdraw, { once: true });
  const cancelDeadline = request.clock.schedule(request.deadlineMs, () =>
    scope.abort(new ExchangeError(OWN_CODES.deadline, 'the deadline passed')),
  );
  try {
    // undici looks at the signal only once it has a connection, so a hanging connect has to be left by a race.
    return await Promise.race([send(dispatcher, request, scope.signal), rejection(scope.signal)]);
  } finally {
    cancelDeadline();
    request.signal.removeEventListener('abort', withdraw);
  }
}

async function send(dispatcher: Dispatcher, request: Exchange, signal: AbortSignal): Promise<Reply> {
  const { origin, path, headers } = request;
  const response = await dispatcher.request({ origin, path, method: 'GET', headers, signal });
  const header = (name: string) => firstValue(response.headers[name]);
  const isSuccess = response.statusCode >= 200 && response.statusCode < 300;
  const text = isSuccess
    ? await readWhole(response.body, request.maxBytes)
    : await readSome(response.body, MAX_ERROR_BYTES);
  const location = header('location');
  return {
    status: response.statusCode,
    contentType: header('content-type') ?? '',
    contentEncoding: header('content-encoding') ?? '',
    ...(location !== undefined && { location }),
    rate: rateHeaders(header),
    text,
  };
}

async function readWhole(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes)
      throw new ExchangeError(OWN_CODES.oversize, `the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return decodeText(chunks);
}

/** What the status says is known already, so that trouble with the body of an error costs only its words. */
async function readSome(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= maxBytes) break;
    }
  } catch {
    // The words that came before the trouble will do.
  }
  return decodeText(chunks).slice(0, maxBytes);
}

const decodeText = (chunks: readonly Buffer[]) => new TextDecoder().decode(Buffer.concat(chunks));

function rateHeaders(header: (name: string) => string | undefined): RateHeaders {
  const limit = header('x-ratelimit-limit');
  const remaining = header('x-ratelimit-remaining');
  const retryAfter = header('retry-after');
  const reset = header('x-ratelimit-reset');
  const date = header('date');
  return {
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(reset !== undefined && { reset }),
    ...(date !== undefined && { date }),
  };
}

const firstValue = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value);

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    else signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
