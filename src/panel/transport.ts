import { buildConnector, type Dispatcher, Pool } from 'undici';
import { CodedError, OWN_CODES } from '../diagnosis/transport.ts';
import type { Clock } from '../domain/clock.ts';
import { MIB } from '../domain/server.ts';
import { bounded, untilAborted } from '../domain/until-aborted.ts';
import type { NodeLookup } from '../names/system.ts';
import { openTunnel, type Proxy, type ProxyTrust, proxyFor, proxyTls, proxyUnreachable } from './proxy.ts';
import type { RateHeaders } from './rate-limit.ts';

/** TLS settings for the panel; certificates and keys are PEM text. */
export interface PanelTls extends ProxyTrust {
  readonly cert?: string;
  readonly key?: string;
  /** The name that the panel's certificate must carry, if it differs from the one in the URL. */
  readonly serverName?: string;
}

/** The settings of the connections to one panel. */
export interface ConnectionOptions {
  readonly baseUrl: string;
  /** The timeout of a whole call, from the first name lookup to the last byte. */
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly clock: Clock;
  readonly tls?: PanelTls;
  /** If absent, the environment's `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` decide, except for a panel on loopback. */
  readonly proxyUrl?: string;
  /** Resolves the name of the panel or its proxy; `dns.lookup` by default. */
  readonly lookup?: NodeLookup;
}

/** As many as the budget has calls in flight. */
const CONNECTIONS = 8;

/** The largest body that any endpoint may send. */
export const MAX_BODY_BYTES = 4 * MIB;

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The connections to one panel, through a proxy if there is one; nothing is opened before the first call. */
export class Connections {
  readonly requestTimeoutMs: number;
  readonly isProxied: boolean;
  readonly #dispatcher: Dispatcher;
  /** Ends attempts to connect through the proxy. */
  readonly #closing = new AbortController();

  /** @throws Error if the proxy's address is invalid */
  constructor(options: ConnectionOptions) {
    const { baseUrl, proxyUrl, requestTimeoutMs } = options;
    const proxy = proxyFor(baseUrl, proxyUrl, (host) => LOOPBACK.test(host));
    this.requestTimeoutMs = requestTimeoutMs;
    this.isProxied = proxy !== undefined;
    this.#dispatcher = createDispatcher(options, proxy, this.#closing.signal);
  }

  /** The response to one GET request. Rejects with the signal's reason when that aborts, and with whatever the transport throws. */
  async exchange(request: Exchange): Promise<Reply> {
    request.signal.throwIfAborted();
    const late = () => new CodedError(OWN_CODES.deadline, 'the deadline passed');
    // undici checks the signal only once it has a connection, so a hanging connect has to be abandoned.
    return bounded(request, this.requestTimeoutMs, late, (signal) =>
      untilAborted(send(this.#dispatcher, request, signal), signal),
    );
  }

  /** Closes them once the requests in progress have ended. */
  async drain(): Promise<void> {
    await this.#dispatcher.close();
  }

  /** Closes them at once; requests in progress are rejected. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#dispatcher.destroy();
  }
}

function createDispatcher(
  options: ConnectionOptions,
  proxy: Proxy | undefined,
  signal: AbortSignal,
): Dispatcher {
  const { origin } = new URL(options.baseUrl);
  const common = {
    connections: CONNECTIONS,
    headersTimeout: options.requestTimeoutMs,
    bodyTimeout: options.requestTimeoutMs,
    maxResponseSize: MAX_BODY_BYTES,
  };
  if (proxy === undefined) return new Pool(origin, { ...common, connect: panelConnector(options) });
  // Many proxies allow CONNECT to port 443 only, so plain HTTP is sent with absolute URLs.
  if (origin.startsWith('http:'))
    return new ForwardPool(proxy, origin, { ...common, connect: proxyConnector(proxy, options) });
  return new Pool(origin, { ...common, connect: tunnelConnector(proxy, options, signal) });
}

function panelConnector({ tls, connectTimeoutMs, lookup }: ConnectionOptions): buildConnector.connector {
  return keepingFirstError(
    buildConnector({ ...tlsOptions(tls), timeout: connectTimeoutMs, ...(lookup && { lookup }) }),
  );
}

/** Connects to the panel through a tunnel; if the proxy refuses, the error identifies the proxy. */
function tunnelConnector(
  proxy: Proxy,
  options: ConnectionOptions,
  signal: AbortSignal,
): buildConnector.connector {
  const connect = panelConnector(options);
  const { clock, connectTimeoutMs: timeoutMs, tls: trust, lookup } = options;
  const begin = async (...[target, callback]: Parameters<buildConnector.connector>): Promise<void> => {
    const { hostname: host, port } = target;
    const far = { host, port: port === '' ? 443 : Number(port) };
    try {
      const httpSocket = await openTunnel(proxy, far, { clock, timeoutMs, signal, trust, lookup });
      connect({ ...target, httpSocket }, callback);
    } catch (error) {
      callback(error as Error, null);
    }
  };
  return (target, callback) => void begin(target, callback);
}

// A panel that misses the client certificate reports it after the handshake and then closes the connection. undici receives both,
// and would report only the latter.
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
  { connectTimeoutMs, tls, lookup }: ConnectionOptions,
): buildConnector.connector {
  const connect = buildConnector({ ...proxyTls(tls), timeout: connectTimeoutMs, ...(lookup && { lookup }) });
  return (target, callback) =>
    connect(target, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(proxyUnreachable(proxy, error), null);
    });
}

/** Connections to a proxy that receives requests with absolute URLs. */
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
    ...proxyTls(tls),
    ...(tls.cert !== undefined && { cert: tls.cert }),
    ...(tls.key !== undefined && { key: tls.key }),
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
  };
}

/** One GET request. */
export interface Exchange {
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** A response with its whole body as text; of an error's body, only what arrived and is worth reading. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly location?: string;
  readonly rate: RateHeaders;
  readonly text: string;
}

/** The most that is read of an error page. */
const MAX_ERROR_BYTES = 65_536;

async function send(dispatcher: Dispatcher, request: Exchange, signal: AbortSignal): Promise<Reply> {
  const { origin, path, headers } = request;
  const response = await dispatcher.request({ origin, path, method: 'GET', headers, signal });
  const header = (name: string) => firstValue(response.headers[name]);
  const isSuccess = response.statusCode >= 200 && response.statusCode < 300;
  const text = isSuccess
    ? await readWhole(response.body, request.maxBytes)
    : await readSome(response.body, MAX_ERROR_BYTES);
  return {
    status: response.statusCode,
    contentType: header('content-type') ?? '',
    contentEncoding: header('content-encoding') ?? '',
    location: header('location'),
    rate: rateHeaders(header),
    text,
  };
}

async function readWhole(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  // Decoded as it arrives: all of it at once would block the event loop.
  const decoder = new TextDecoder();
  const texts: string[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes)
      throw new CodedError(OWN_CODES.oversize, `the response is longer than ${maxBytes} bytes`);
    texts.push(decoder.decode(chunk, { stream: true }));
  }
  return texts.join('') + decoder.decode();
}

/** The status is already known, so if reading an error's body fails, only its message is lost. */
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
    // The part read before the failure is enough.
  }
  return decodeText(chunks).slice(0, maxBytes);
}

const decodeText = (chunks: readonly Buffer[]) => new TextDecoder().decode(Buffer.concat(chunks));

function rateHeaders(header: (name: string) => string | undefined): RateHeaders {
  return {
    limit: header('x-ratelimit-limit'),
    remaining: header('x-ratelimit-remaining'),
    retryAfter: header('retry-after'),
    reset: header('x-ratelimit-reset'),
    date: header('date'),
  };
}

const firstValue = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value);
