import { type ClientRequest, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { isIP, isIPv6, type Socket } from 'node:net';
import { getProxyForUrl } from 'proxy-from-env';
import { CodedError, OWN_CODES, readTransportError } from '../diagnosis/transport.ts';
import type { Clock } from '../domain/clock.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import { printable } from '../domain/printable.ts';
import type { NodeLookup } from '../names/system.ts';

/** A proxy's response to CONNECT is a few lines; a longer one is an attack or a fault. */
const MAX_TUNNEL_ANSWER_BYTES = 16_384;

/** How a tunnel is opened. */
export interface TunnelOptions {
  readonly clock: Clock;
  /** The timeout, counted from the first lookup of the proxy's name. */
  readonly timeoutMs: number;
  /** Aborts when the tunnel is no longer needed. */
  readonly signal: AbortSignal;
  readonly trust?: ProxyTrust | undefined;
  /** Resolves the name of the proxy; `dns.lookup` by default. */
  readonly lookup?: NodeLookup | undefined;
}

/** The far end of a tunnel. */
interface TunnelTarget {
  readonly host: string;
  readonly port: number;
}

/** Opens a connection to `target` through a proxy, with CONNECT. Rejects with a ProxyError that identifies the proxy. */
export async function openTunnel(
  proxy: Proxy,
  target: TunnelTarget,
  options: TunnelOptions,
): Promise<Socket> {
  const { clock, timeoutMs, signal } = options;
  const address = `${isIPv6(target.host) ? `[${target.host}]` : target.host}:${target.port}`;
  const request = connectRequest(proxy, address, options);
  const abandon = () => request.destroy(new Error('the tunnel is no longer needed'));
  const cancel = clock.schedule(timeoutMs, () =>
    request.destroy(new CodedError('ETIMEDOUT', 'the tunnel was not opened in time')),
  );
  signal.addEventListener('abort', abandon, { once: true });
  if (signal.aborted) abandon();
  try {
    const { status, socket } = await answerTo(request);
    if (status === 200) return socket;
    socket.destroy();
    throw proxyRefused(proxy, address, status);
  } catch (error) {
    throw error instanceof ProxyError ? error : proxyUnreachable(proxy, error);
  } finally {
    cancel();
    signal.removeEventListener('abort', abandon);
  }
}

function connectRequest(
  { url, authorization }: Proxy,
  address: string,
  { trust, lookup }: TunnelOptions,
): ClientRequest {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isSecure = url.protocol === 'https:';
  const request = (isSecure ? requestSecure : requestPlain)({
    host,
    port: url.port === '' ? (isSecure ? 443 : 80) : url.port,
    method: 'CONNECT',
    path: address,
    headers: {
      Host: address,
      'Proxy-Connection': 'close',
      ...(authorization !== undefined && { 'Proxy-Authorization': authorization }),
    },
    agent: false,
    maxHeaderSize: MAX_TUNNEL_ANSWER_BYTES,
    // Node would use the far end's name as the proxy's, and TLS allows no IP address as a server name.
    servername: isIP(host) === 0 ? host : '',
    ...proxyTls(trust),
    ...(lookup && { lookup }),
  });
  // Some proxies apply a Connection header to the tunnel.
  request.removeHeader('Connection');
  return request;
}

function answerTo(request: ClientRequest): Promise<{ readonly status: number; readonly socket: Socket }> {
  return new Promise((resolve, reject) => {
    let received = 0;
    // Node's parser counts only what it keeps; a proxy could send what it skips, such as blanks, forever.
    const count = (chunk: Buffer) => {
      received += chunk.length;
      if (received >= MAX_TUNNEL_ANSWER_BYTES)
        request.destroy(new CodedError('HPE_HEADER_OVERFLOW', 'the response to CONNECT is too long'));
    };
    request.once('socket', (socket) => socket.on('data', count));
    request.once('connect', (answer, socket, head) => {
      socket.off('data', count);
      if (head.length > 0) socket.unshift(head);
      resolve({ status: answer.statusCode ?? 0, socket });
    });
    request.on('error', reject);
    // Closed without a response and without an error.
    request.once('close', () =>
      reject(new CodedError('ECONNRESET', 'the connection ended before the response')),
    );
    request.end();
  });
}

/** A proxy between the exporter and a panel or node. */
export interface Proxy {
  /** Without username and password. */
  readonly url: URL;
  /** The value of `Proxy-Authorization`, a secret. */
  readonly authorization: string | undefined;
  /** Where it is configured: `proxy_url`, or an environment variable. */
  readonly setting: string;
}

/** What TLS with an https proxy trusts. */
export interface ProxyTrust {
  /** CA certificates in PEM, in place of the public ones. */
  readonly ca?: string;
  readonly insecureSkipVerify?: boolean;
}

/** A problem with a proxy; the message shows the proxy without its password, and what to change. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code = OWN_CODES.proxy;
}

const FORM = 'expected the form http://proxy.example.com:3128';

/**
 * The proxy for an http or https address: the configured one, else the one from `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. The
 * environment's proxy is never used for local hosts: it could not lead back to this machine, and few people think of listing them
 * in `NO_PROXY`.
 *
 * @throws Error if the configured value is not an http or https URL
 */
export function proxyFor(
  address: string,
  proxyUrl: string | undefined,
  isLocal: (host: string) => boolean,
): Proxy | undefined {
  if (proxyUrl !== undefined) return readProxy(proxyUrl, 'proxy_url', 'proxy_url');
  if (isLocal(new URL(address).hostname) || getProxyForUrl(address) === '') return undefined;
  const variable = variableFor(address);
  if (variable === undefined) return undefined;
  const [name, value] = variable;
  // Without a scheme, the library assumes that of the address, while other programs assume http.
  const text = value.includes('://') ? value : `http://${value}`;
  return readProxy(text, name, `the proxy of the environment (${name})`);
}

/** The variable that contains the proxy, in the library's order of precedence. */
function variableFor(address: string): readonly [string, string] | undefined {
  const own = `${new URL(address).protocol.replace(':', '')}_proxy`;
  for (const name of [own, own.toUpperCase(), 'all_proxy', 'ALL_PROXY']) {
    const value = process.env[name];
    if (value !== undefined && value !== '') return [name, value];
  }
  return undefined;
}

// The value may contain a password, and the URL parser's error repeats it.
function readProxy(text: string, setting: string, subject: string): Proxy {
  if (!URL.canParse(text)) throw new ProxyError(`${subject} is not a URL: ${FORM}`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ProxyError(`${subject} is not the address of an http or https proxy: ${FORM}`);
  }
  const { username, password } = url;
  KNOWN_SECRETS.addCredentials(url);
  const credentials = `${decoded(username)}:${decoded(password)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return {
    url: new URL(url.origin),
    authorization: username === '' && password === '' ? undefined : authorization,
    setting,
  };
}

/** A password that contains a bare percent sign is used as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The error for a proxy that didn't respond. */
export function proxyUnreachable({ url, setting }: Proxy, cause: unknown): ProxyError {
  const { kind, code, message } = readTransportError(cause);
  const isUp = url.protocol === 'https:' ? 'is up and uses TLS' : 'is up';
  const words = (): string => {
    if (kind === 'dns')
      return `the name of the proxy ${url.origin} can't be resolved (${code}): check ${setting}, and DNS on this machine`;
    if (kind === 'timeout')
      return `the proxy ${url.origin} did not respond in time: check ${setting}, and that the proxy ${isUp}`;
    if (kind === 'oversize') return message;
    if (code === 'HPE_HEADER_OVERFLOW')
      return `the proxy ${url.origin} responded to CONNECT with headers of more than 16 KiB: check ${setting}, and that an HTTP proxy listens there`;
    if (kind.startsWith('tls'))
      return `TLS with the proxy ${url.origin} failed (${code}): check its certificate and tls_config.ca_file, or use http:// in ${setting} if it doesn't use TLS: ${message}`;
    return `the proxy ${url.origin} can't be reached: ${message}: check ${setting}, and that the proxy ${isUp}`;
  };
  return new ProxyError(words(), { cause });
}

/** The error for a proxy that responded to a CONNECT to `target` with a status other than 200. */
export function proxyRefused(proxy: Proxy, target: string, status: number): ProxyError {
  return new ProxyError(`the proxy ${proxy.url.origin} ${refusalWords(proxy, printable(target), status)}`);
}

function refusalWords({ url, authorization, setting }: Proxy, target: string, status: number): string {
  // Some proxies respond with 401 if the username or password is wrong.
  if (status === 407 || status === 401) {
    return authorization === undefined
      ? `requires a username and password (${status}): add them to ${setting}, as ${url.protocol}//user:password@${url.host}`
      : `rejected the username and password (${status}): correct them in ${setting}`;
  }
  if (status >= 500)
    return `can't connect to ${target} (${status}): check that address, and what the proxy can reach`;
  const wayOut = setting === 'proxy_url' ? 'set another one in proxy_url' : 'exclude the host with NO_PROXY';
  return `rejected the connection to ${target} (${status}): allow it in the proxy, or ${wayOut}`;
}

/** What `tls.connect` needs for an https proxy: a client certificate is only for the panel and its nodes. */
export function proxyTls({ ca, insecureSkipVerify }: ProxyTrust = {}) {
  return {
    ...(ca !== undefined && { ca }),
    ...(insecureSkipVerify === true && { rejectUnauthorized: false }),
  };
}
