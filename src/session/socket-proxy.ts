import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect as connectTls } from 'node:tls';
import { Agent, type AgentConnectOpts } from 'agent-base';
import { isLocalHost } from '../domain/special-addresses.ts';
import { openTunnel, type Proxy, proxyFor, type TunnelOptions } from '../panel/proxy.ts';

/**
 * How sockets use proxies. The timeout must be shorter than that for a socket, or the proxy wouldn't be identified as the cause.
 */
export type ProxyOptions = Omit<TunnelOptions, 'signal'>;

/**
 * Returns a function that gives the agent for the proxy of a socket: the configured proxy, or the one that `HTTPS_PROXY`,
 * `HTTP_PROXY` and `NO_PROXY` select for the address, if any. It throws if the value is not an http or https URL.
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

/** Connects sockets through a proxy, and identifies the proxy in errors. */
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
    // Without a connection, this is the only sign that the request was given up.
    request.once('abort', leave);
    try {
      const socket = await openTunnel(this.proxy, { host, port }, { ...this.#options, signal: given.signal });
      return options.secureEndpoint ? connectTls(overTunnel(options, socket)) : socket;
    } finally {
      request.off('abort', leave);
    }
  }
}

/** TLS with the node through a tunnel; the certificate is checked against the node's name or IP address. */
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
