import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect as connectTls } from 'node:tls';
import { Agent, type AgentConnectOpts } from 'agent-base';
import type { Clock } from '../domain/clock.ts';
import { type Proxy, type ProxyTrust, proxyFor } from '../panel/proxy.ts';
import { openTunnel } from '../panel/tunnel.ts';
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

/** Takes sockets through a proxy, and names the proxy where that fails. */
class TunnelAgent extends Agent {
  readonly proxy: Proxy;
  readonly #options: ProxyOptions;

  constructor(proxy: Proxy, options: ProxyOptions) {
    super();
    this.proxy = proxy;
    this.#options = options;
  }

  override async connect(request: ClientRequest, options: AgentConnectOpts): Promise<Socket> {
    const { host = '', port } = options;
    const given = new AbortController();
    const leave = () => given.abort();
    if (request.destroyed) leave();
    // Without a connection a request tells no other way that it was given up.
    request.once('abort', leave);
    try {
      const socket = await openTunnel(this.proxy, { host, port }, { ...this.#options, signal: given.signal });
      return options.secureEndpoint ? connectTls(overTunnel(options, socket)) : socket;
    } finally {
      request.off('abort', leave);
    }
  }
}

/** TLS with the node over a tunnel, whose certificate is compared with the node's name or IP address. */
function overTunnel(
  { host = '', port: _port, path: _path, ...tls }: ConnectionOptions,
  socket: Socket,
): ConnectionOptions {
  return {
    ...tls,
    socket,
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  };
}
