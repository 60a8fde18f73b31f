/** The connections to a proxy that open tunnels. */
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { CodedError, readTransportError } from '../diagnosis/transport-errors.ts';
import type { Clock } from '../domain/clock.ts';
import { bounded, untilAborted } from '../domain/waits.ts';
import { inTime } from './connect-timeout.ts';
import { type Proxy, proxyError, proxyRefused } from './proxy.ts';

/** The part of the connect timeout for the proxy, so that its own timeout comes first. */
export const PROXY_PART = 0.8;

/** How to connect to a proxy. The timeout covers everything until its response. */
export interface ProxyOptions {
  readonly clock: Clock;
  readonly connect: buildConnector.BuildOptions & { readonly timeout: number };
}

/**
 * Connections to a proxy that open tunnels. A tunnel ends when its signal aborts. All errors have
 * the code for proxies.
 */
export class ProxyPool extends Pool {
  readonly #proxy: Proxy;
  readonly #options: ProxyOptions;

  constructor(proxy: Proxy, options: ProxyOptions) {
    const { clock, connect: settings } = options;
    const connect = inTime(buildConnector({ ...settings, timeout: 0 }), clock, settings.timeout);
    super(proxy.origin, {
      // ProxyAgent uses the proxy's host as TLS server name, which must not be an IP address.
      connect: (target, done) => connect({ ...target, servername: '' }, done),
      // undici would otherwise connect again after a canceled request.
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
      // Node.js 24 appends its own advice, which would precede the exporter's.
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
