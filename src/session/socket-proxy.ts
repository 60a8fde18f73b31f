import type { Agent } from 'node:http';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';

/**
 * Gives the agent that takes a socket through a proxy: the one named, else the one that `HTTPS_PROXY`, `HTTP_PROXY` and
 * `NO_PROXY` name for the address, else none.
 */
export function proxyAgents(proxyUrl: string | undefined): (url: string) => Agent | undefined {
  const agents = new Map<string, Agent>();
  return (url) => {
    const proxy = proxyUrl ?? getProxyForUrl(url.replace(/^ws/, 'http'));
    if (proxy === '') return undefined;
    const agent = agents.get(proxy) ?? new HttpsProxyAgent(proxy);
    agents.set(proxy, agent);
    return agent;
  };
}
