import type { Agent } from 'node:http';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import { isLocalHost } from './socket-address.ts';

/**
 * Gives the agent that takes a socket through a proxy: the one named, else the one that `HTTPS_PROXY`, `HTTP_PROXY` and
 * `NO_PROXY` name for the address, else none.
 */
export function proxyAgents(proxyUrl: string | undefined): (url: string) => Agent | undefined {
  const agents = new Map<string, Agent>();
  return (url) => {
    const proxy = proxyUrl ?? environmentProxy(url.replace(/^ws/i, 'http'));
    if (proxy === '') return undefined;
    const agent = agents.get(proxy) ?? new HttpsProxyAgent(proxy);
    agents.set(proxy, agent);
    return agent;
  };
}

// No proxy leads back to this machine, and few environments think of naming it in NO_PROXY.
function environmentProxy(url: string): string {
  return isLocalHost(new URL(url).hostname) ? '' : getProxyForUrl(url);
}
