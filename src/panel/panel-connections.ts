/** The connections to a panel for GET requests. */
import type { LookupFunction } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { buildConnector, type Dispatcher, errors, Pool, ProxyAgent } from 'undici';
import { CodedError, OWN_CODES } from '../diagnosis/transport-errors.ts';
import type { Clock } from '../domain/clock.ts';
import { MIB } from '../domain/units.ts';
import { bounded, untilAborted } from '../domain/waits.ts';
import { inTime } from './connect-timeout.ts';
import { type Proxy, proxyFor, proxyRefused } from './proxy.ts';
import { PROXY_PART, ProxyPool } from './proxy-pool.ts';
import type { RateHeaders } from './rate-headers.ts';
import { tlsOptions } from './tls-context.ts';

/** TLS settings for the panel; certificates and keys are PEM text. */
export interface PanelTls {
  /** CA certificates that replace the public ones. */
  readonly ca?: string;
  readonly insecureSkipVerify?: boolean;
  readonly cert?: string;
  readonly key?: string;
  /** The name in the panel's certificate, if it differs from the one in the URL. */
  readonly serverName?: string;
}

/** The settings of the connections to one panel. */
export interface ConnectionOptions {
  readonly baseUrl: string;
  /** The timeout of a whole call, from the name lookup to the last byte. */
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly clock: Clock;
  readonly tls?: PanelTls;
  /**
   * If absent, `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` apply, except for a panel on loopback.
   */
  readonly proxyUrl?: string;
  /** Resolves the name of the panel or its proxy; `dns.lookup` by default. */
  readonly lookup?: LookupFunction;
}

/** The maximum body size of any endpoint. */
export const MAX_BODY_BYTES = 4 * MIB;

/** The connections to one panel, direct or through a proxy. The first call opens them. */
export class Connections {
  readonly requestTimeoutMs: number;
  readonly #proxy: Proxy | undefined;
  readonly #dispatcher: Dispatcher;

  /** @throws CodedError if the proxy's address is invalid */
  constructor(options: ConnectionOptions) {
    this.requestTimeoutMs = options.requestTimeoutMs;
    this.#proxy = proxyFor(options.baseUrl, options.proxyUrl);
    this.#dispatcher = createDispatcher(options, this.#proxy);
  }

  get isProxied(): boolean {
    return this.#proxy !== undefined;
  }

  /**
   * The response to one GET request. Rejects with the signal's reason when it aborts, or with the
   * transport's error.
   */
  async exchange(request: Exchange): Promise<Reply> {
    request.signal.throwIfAborted();
    const late = () => new CodedError(OWN_CODES.deadline, 'the deadline passed');
    // undici checks the signal only once it is connected, so this ends a hanging connect.
    return bounded(request, this.requestTimeoutMs, late, (signal) =>
      untilAborted(send(this.#dispatcher, request, signal), signal),
    ).catch((error: Error) => {
      // undici's error for a proxy that rejects a plain request has no code of its own.
      const isRefused = error instanceof errors.InvalidArgumentError && error.message.includes('(407)');
      throw this.#proxy && isRefused ? proxyRefused(this.#proxy, request.origin, 407) : error;
    });
  }

  /** Closes the connections once the requests in progress have ended. */
  async drain(): Promise<void> {
    await this.#dispatcher.close();
  }

  /** Closes the connections at once. Requests in progress are rejected. */
  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

function createDispatcher(options: ConnectionOptions, proxy: Proxy | undefined): Dispatcher {
  const { baseUrl, clock, connectTimeoutMs, lookup, tls } = options;
  const common = {
    // Unlimited, because the scheduler limits the calls in flight.
    connections: null,
    // Disabled, because undici wouldn't use the program's clock: `exchange` has the timeout.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_BODY_BYTES,
  };
  const { ca, cert, key, serverName: servername } = tls ?? {};
  const connect = { rejectUnauthorized: tls?.insecureSkipVerify !== true, timeout: 0, lookup };
  const panel = { ...connect, ...tlsOptions(baseUrl, { ca, cert, key }), servername };
  const open = (to: string | URL, connector: buildConnector.connector) =>
    new Pool(to, { ...common, connect: keepingFirstError(inTime(connector, clock, connectTimeoutMs)) });
  if (proxy === undefined) return open(new URL(baseUrl).origin, buildConnector(panel));
  const toProxy = { ...connect, ...tlsOptions(proxy.origin, { ca }) };
  return new ProxyAgent({
    uri: proxy.origin,
    headers: proxy.headers,
    requestTls: panel,
    proxyTls: toProxy,
    // Many proxies allow CONNECT only to port 443, so plain HTTP is sent with absolute URLs.
    proxyTunnel: false,
    clientFactory: () =>
      new ProxyPool(proxy, { clock, connect: { ...toProxy, timeout: connectTimeoutMs * PROXY_PART } }),
    factory: (to, { connect }: { connect: buildConnector.connector }) => open(to, connect),
  });
}

// If a client certificate is missing, a panel reports this after the handshake and closes the
// connection. undici gets both errors, and would return only the second.
function keepingFirstError(connect: buildConnector.connector): buildConnector.connector {
  return (target, callback) =>
    connect(target, (...result) => {
      const [, socket] = result;
      socket?.once('error', (error) => socket.destroy(error));
      callback(...result);
    });
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

/** A response with its body as text. The body of an error may be truncated. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly location?: string;
  /** Whether Cloudflare sent a challenge page. */
  readonly isChallenge?: boolean;
  readonly rate: RateHeaders;
  readonly text: string;
}

/** The maximum number of bytes that are read of an error page. */
const MAX_ERROR_BYTES = 65_536;

/** Some programs write it before a text, but it isn't part of the text. */
const BYTE_ORDER_MARK = /^\uFEFF/;

async function send(dispatcher: Dispatcher, request: Exchange, signal: AbortSignal): Promise<Reply> {
  const { origin, path, headers } = request;
  const response = await dispatcher.request({ origin, path, method: 'GET', headers, signal });
  const header = (name: string) => [response.headers[name]].flat()[0];
  const isSuccess = response.statusCode >= 200 && response.statusCode < 300;
  const texts: string[] = [];
  const reading = readInto(texts, response.body, isSuccess ? request.maxBytes : MAX_ERROR_BYTES);
  // The status is known, so an unreadable body only makes the error's message shorter.
  await (isSuccess ? reading : reading.catch(() => undefined));
  return {
    status: response.statusCode,
    contentType: header('content-type') ?? '',
    contentEncoding: header('content-encoding') ?? '',
    location: header('location'),
    isChallenge: header('cf-mitigated') === 'challenge',
    rate: {
      limit: header('x-ratelimit-limit'),
      remaining: header('x-ratelimit-remaining'),
      retryAfter: header('retry-after'),
      reset: header('x-ratelimit-reset'),
      date: header('date'),
    },
    text: texts.join('').replace(BYTE_ORDER_MARK, ''),
  };
}

/**
 * Decodes the body as it arrives, because decoding all of it at once would block the event loop. A
 * `TextDecoder` for each call would be another object outside the heap, and the collector frees
 * those all at once.
 */
async function readInto(texts: string[], body: AsyncIterable<Buffer>, maxBytes: number): Promise<void> {
  const decoder = new StringDecoder();
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    texts.push(decoder.write(chunk));
    if (length > maxBytes)
      throw new CodedError(OWN_CODES.oversize, `the response is longer than ${maxBytes} bytes`);
  }
  texts.push(decoder.end());
}
