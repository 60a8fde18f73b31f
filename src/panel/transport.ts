/** The connections to a panel: one GET request over HTTP, direct or through a proxy. */
import { type LookupFunction, Socket } from 'node:net';
import { unescape } from 'node:querystring';
import { getProxyForUrl } from 'proxy-from-env';
import { buildConnector, type Dispatcher, errors, Pool, ProxyAgent } from 'undici';
import { isLocalHost } from '../addresses/ranges.ts';
import { CodedError, OWN_CODES, readTransportError } from '../diagnosis/transport.ts';
import type { Clock } from '../domain/time.ts';
import { MIB } from '../domain/units.ts';
import { bounded, untilAborted } from '../domain/waits.ts';
import { printable } from '../text/printable.ts';
import { KNOWN_SECRETS } from '../text/secrets.ts';
import type { RateHeaders } from './rate-headers.ts';

/** TLS settings for the panel; certificates and keys are PEM text. */
export interface PanelTls {
  /** CA certificates in place of the public ones. */
  readonly ca?: string;
  readonly insecureSkipVerify?: boolean;
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
  /** If absent, `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` apply, except to a panel on loopback. */
  readonly proxyUrl?: string;
  /** Resolves the name of the panel or its proxy; `dns.lookup` by default. */
  readonly lookup?: LookupFunction;
}

/** The largest body that any endpoint may send. */
export const MAX_BODY_BYTES = 4 * MIB;

/** The connections to one panel, direct or through a proxy, opened by the first call. */
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
    // undici checks the signal only once it is connected, so a hanging connect is abandoned here.
    return bounded(request, this.requestTimeoutMs, late, (signal) =>
      untilAborted(send(this.#dispatcher, request, signal), signal),
    ).catch((error: Error) => {
      // undici's error for a proxy that refuses a plain request has no code of its own.
      const isRefused = error instanceof errors.InvalidArgumentError && error.message.includes('(407)');
      throw this.#proxy && isRefused ? proxyRefused(this.#proxy, request.origin, 407) : error;
    });
  }

  /** Closes them once the requests in progress have ended. */
  async drain(): Promise<void> {
    await this.#dispatcher.close();
  }

  /** Closes them at once; requests in progress are rejected. */
  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

/** The part of the connect timeout that a proxy may use, so that its own timeout comes first. */
export const PROXY_PART = 0.8;

function createDispatcher(options: ConnectionOptions, proxy: Proxy | undefined): Dispatcher {
  const { baseUrl, clock, connectTimeoutMs, lookup, tls } = options;
  const common = {
    // No limit here: the scheduler decides how many calls are in flight.
    connections: null,
    // undici would use the machine's time: `exchange` has the deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_BODY_BYTES,
  };
  const connect = {
    ca: tls?.ca,
    rejectUnauthorized: tls?.insecureSkipVerify !== true,
    timeout: 0,
    lookup,
  };
  const panel = { ...connect, cert: tls?.cert, key: tls?.key, servername: tls?.serverName };
  const open = (to: string | URL, connector: buildConnector.connector) =>
    new Pool(to, { ...common, connect: keepingFirstError(inTime(connector, clock, connectTimeoutMs)) });
  if (proxy === undefined) return open(new URL(baseUrl).origin, buildConnector(panel));
  return new ProxyAgent({
    uri: proxy.origin,
    headers: proxy.headers,
    requestTls: panel,
    proxyTls: connect,
    // Many proxies allow CONNECT to port 443 only, so plain HTTP is sent with absolute URLs.
    proxyTunnel: false,
    clientFactory: () =>
      new ProxyPool(proxy, { clock, connect: { ...connect, timeout: connectTimeoutMs * PROXY_PART } }),
    factory: (to, { connect }: { connect: buildConnector.connector }) => open(to, connect),
  });
}

/**
 * Limits each attempt to connect by the clock: undici's own timeout would use the machine's time.
 */
function inTime(
  connect: buildConnector.connector,
  clock: Clock,
  timeoutMs: number,
): buildConnector.connector {
  return (target, callback) => {
    const scope = new AbortController();
    const cancel = clock.schedule(timeoutMs, () => {
      const late = new CodedError('ETIMEDOUT', `not connected within ${timeoutMs / 1_000} s`);
      // A tunnel ends by its signal, a direct connection by its socket.
      scope.abort(late);
      if (attempt instanceof Socket) attempt.destroy();
      callback(late, null);
    });
    const limited = { ...target, signal: scope.signal };
    const attempt: unknown = connect(limited, (...result) => {
      if (scope.signal.aborted) return;
      cancel();
      callback(...result);
    });
  };
}

// A panel that misses the client certificate reports this after the handshake, and closes the
// connection. undici receives both errors, and would report only the second.
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

/** A response with its body as text; an error's body may be truncated. */
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

/** The most that is read of an error page. */
const MAX_ERROR_BYTES = 65_536;

async function send(dispatcher: Dispatcher, request: Exchange, signal: AbortSignal): Promise<Reply> {
  const { origin, path, headers } = request;
  const response = await dispatcher.request({ origin, path, method: 'GET', headers, signal });
  const header = (name: string) => [response.headers[name]].flat()[0];
  const isSuccess = response.statusCode >= 200 && response.statusCode < 300;
  const texts: string[] = [];
  const reading = readInto(texts, response.body, isSuccess ? request.maxBytes : MAX_ERROR_BYTES);
  // The status is known, so a failure to read an error's body only shortens its message.
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
    text: texts.join(''),
  };
}

/** Decodes the body as it arrives: all of it at once would block the event loop. */
async function readInto(texts: string[], body: AsyncIterable<Buffer>, maxBytes: number): Promise<void> {
  const decoder = new TextDecoder();
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    texts.push(decoder.decode(chunk, { stream: true }));
    if (length > maxBytes)
      throw new CodedError(OWN_CODES.oversize, `the response is longer than ${maxBytes} bytes`);
  }
  texts.push(decoder.decode());
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

/**
 * A proxy, with its credentials only in the headers; `setting` is the name of its setting or
 * variable.
 */
type Proxy = ReturnType<typeof readProxy>;

/** Variables may name a proxy without its scheme. */
const withScheme = (address: string) => (address.includes('://') ? address : `http://${address}`);

function readProxy(text: string, setting: string) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw proxyError(`${setting} is not a proxy's address: expected the form http://proxy.example.com:3128`);
  for (const secret of urlSecrets(url)) KNOWN_SECRETS.add(secret);
  const { user, password, login } = urlCredentials(url);
  const authorization = user + password === '' ? undefined : `Basic ${login}`;
  return { origin: url.origin, headers: { 'proxy-authorization': authorization }, setting };
}

function urlCredentials(url: URL) {
  const [user = '', password = ''] = [url.username, url.password].map(unescape);
  return { user, password, login: Buffer.from(`${user}:${password}`).toString('base64') };
}

// A username is not a secret, unless it stands alone.
function urlSecrets(url: URL): readonly string[] {
  const { user, password, login } = urlCredentials(url);
  return user + password === '' ? [] : [password || user, login];
}

/** The secrets in a proxy's address, as a text may repeat them; none if it isn't an address. */
export function proxySecrets(address: string): readonly string[] {
  const whole = withScheme(address);
  return URL.canParse(whole) ? urlSecrets(new URL(whole)) : [];
}

/** How to connect to a proxy; the timeout covers everything up to its response. */
export interface ProxyOptions {
  readonly clock: Clock;
  readonly connect: buildConnector.BuildOptions & { readonly timeout: number };
}

/**
 * Connections to a proxy that open tunnels, which end when their signals abort; whatever fails has
 * the code of proxies.
 */
export class ProxyPool extends Pool {
  readonly #proxy: Proxy;
  readonly #options: ProxyOptions;

  constructor(proxy: Proxy, options: ProxyOptions) {
    const { clock, connect: settings } = options;
    const connect = inTime(buildConnector({ ...settings, timeout: 0 }), clock, settings.timeout);
    super(proxy.origin, {
      // ProxyAgent sets the proxy's host as TLS server name, which must not be an IP address.
      connect: (target, done) => connect({ ...target, servername: '' }, done),
      // After a request that was given up, undici connects again.
      keepAliveTimeout: 1,
      headersTimeout: 0,
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
    if (answer.statusCode === 200) {
      signal.addEventListener('abort', () => answer.socket.destroy(), { once: true });
      return answer;
    }
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
const proxyError = (message: string, cause?: unknown) => new CodedError(OWN_CODES.proxy, message, { cause });
