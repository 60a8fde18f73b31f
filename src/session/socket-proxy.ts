import type { Agent, ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { HttpsProxyAgent } from 'https-proxy-agent';
import type { Clock } from '../domain/clock.ts';
import {
  type Proxy,
  type ProxyTrust,
  proxyFor,
  proxyRefused,
  proxyTls,
  proxyUnreachable,
} from '../panel/proxy.ts';
import { isLocalHost } from './socket-address.ts';

/** How sockets are taken through proxies. */
export interface ProxyOptions {
  readonly clock: Clock;
  /** How long a proxy may take to make a tunnel; less than a socket may take to open, or nobody hears that it was the proxy. */
  readonly timeoutMs: number;
  readonly trust?: ProxyTrust | undefined;
}

/**
 * Gives the agent that takes a socket through a proxy: the one named, else the one that `HTTPS_PROXY`, `HTTP_PROXY` and
 * `NO_PROXY` name for the address, else none. It throws where that is no http or https URL.
 */
export function proxyAgents(
  proxyUrl: string | undefined,
  options: ProxyOptions,
): (url: string) => Agent | undefined {
  const agents = new Map<string, Agent>();
  return (url) => {
    const proxy = proxyFor(url.replace(/^ws/i, 'http'), proxyUrl, isLocalHost);
    if (proxy === undefined) return undefined;
    const key = `${proxy.setting} ${proxy.authorization ?? ''} ${proxy.url.href}`;
    const agent = agents.get(key) ?? new TunnelAgent(proxy, options);
    agents.set(key, agent);
    return agent;
  };
}

type Connect = HttpsProxyAgent<string>['connect'];

/** Takes sockets through a proxy, and names the proxy where that fails. */
class TunnelAgent extends HttpsProxyAgent<string> {
  readonly #proxy: Proxy;
  readonly #options: ProxyOptions;

  constructor(proxy: Proxy, options: ProxyOptions) {
    super(proxy.url.href);
    this.#proxy = proxy;
    this.#options = options;
  }

  override async connect(...[request, options]: Parameters<Connect>): Promise<Socket> {
    const answered = statusOf(request);
    const scope = this.#scope(request);
    try {
      const socket = await this.#agent(scope.signal).connect(request, withIdentity(options));
      // For another status the library gives a socket that plays the answer back, as if the node had given it.
      if (answered() === 200) return socket;
      socket.destroy();
    } catch (error) {
      throw proxyUnreachable(this.#proxy, scope.signal.reason ?? error);
    } finally {
      scope.end();
    }
    throw proxyRefused(this.#proxy, `${options.host ?? ''}:${options.port}`, answered());
  }

  // The library neither has a deadline nor notices that nobody waits for the tunnel any more: a proxy that hangs would collect
  // connections.
  #scope(request: ClientRequest): { readonly signal: AbortSignal; end(): void } {
    const { clock, timeoutMs } = this.#options;
    const controller = new AbortController();
    const leave = () => controller.abort(new Error('nobody waits for it'));
    if (request.destroyed) leave();
    // Without a connection a request tells no other way that it was given up.
    request.once('abort', leave);
    const cancel = clock.schedule(timeoutMs, () => controller.abort(new TunnelTimeoutError()));
    return {
      signal: controller.signal,
      end: () => {
        cancel();
        request.off('abort', leave);
      },
    };
  }

  #agent(signal: AbortSignal): HttpsProxyAgent<string> {
    const { url, authorization } = this.#proxy;
    const headers: Record<string, string> =
      authorization === undefined ? {} : { 'Proxy-Authorization': authorization };
    return new HttpsProxyAgent(url.href, { headers, ...proxyTls(this.#options.trust), signal });
  }
}

class TunnelTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('no tunnel in time');
  }
}

/** The status of the proxy's answer, once there is one. */
function statusOf(request: ClientRequest): () => number {
  let status = 0;
  request.once('proxyConnect', (answer: { readonly statusCode: number }) => {
    status = answer.statusCode;
  });
  return () => status;
}

// For an IP address the library leaves the host away, and Node then compares the certificate with the proxy's name.
function withIdentity(options: Parameters<Connect>[1]): Parameters<Connect>[1] {
  const identity = {
    checkServerIdentity: (_host: string, certificate: PeerCertificate) =>
      checkServerIdentity(options.host ?? '', certificate),
  };
  return { ...options, ...identity };
}
