import { USER_AGENT } from '../build-info.ts';
import type { PanelConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { ResolveName } from '../names/name-lookups.ts';
import { nodeLookup } from '../names/system.ts';
import { PTERODACTYL_SOCKET as codec } from '../panel/dialects/pterodactyl/socket.ts';
import type { SocketAccess } from '../session/session-ports.ts';
import { ConsoleSocket, type SocketOptions, socketTls, tunnelFor } from '../session/socket.ts';
import { guardedNames, type SocketPolicy, socketAddressProblem } from '../session/socket-address.ts';

/** The part of the connect timeout that a proxy may use, so that its own timeout comes first. */
const PROXY_PART = 0.8;

/** The part that the lookup of a name may use; shorter, so that the name is identified as the cause. */
const LOOKUP_PART = 0.7;

/** The settings for calls to a panel's API, from its configuration. */
export function apiAccess(panel: PanelConfig, clock: Clock, resolve: ResolveName) {
  return {
    panel: panel.name,
    baseUrl: panel.url,
    apiKey: () => panel.apiKey.reveal(),
    requestTimeoutMs: panel.requestTimeoutMs,
    connectTimeoutMs: panel.connectTimeoutMs,
    userAgent: USER_AGENT,
    clock,
    lookup: nodeLookup(resolve, {
      clock,
      timeoutMs: Math.min(panel.connectTimeoutMs, panel.requestTimeoutMs) * LOOKUP_PART,
    }),
    pinnedPerMinute: panel.requestsPerMinute,
    proxyUrl: panel.proxyUrl,
    tls: panel.tls && withKeyText(panel.tls),
  };
}

/** How this panel's sockets are opened, from its configuration. */
export function socketAccess(panel: PanelConfig, clock: Clock, resolve: ResolveName): SocketAccess {
  const policy: SocketPolicy = {
    panelUrl: panel.url,
    allowInsecure: panel.allowInsecure,
    socketHosts: panel.socketHosts,
  };
  const limits = { clock, timeoutMs: panel.connectTimeoutMs * LOOKUP_PART };
  const proxyOptions = {
    clock,
    connect: {
      ca: panel.tls?.ca,
      rejectUnauthorized: panel.tls?.insecureSkipVerify !== true,
      timeout: panel.connectTimeoutMs * PROXY_PART,
      lookup: nodeLookup(resolve, limits),
    },
  };
  const options: SocketOptions = {
    codec,
    origin: panel.origin,
    userAgent: USER_AGENT,
    clock,
    tunnelFor: (url) => tunnelFor(url, panel.proxyUrl, proxyOptions),
    lookup: nodeLookup(guardedNames(policy, resolve), limits),
    tls: socketTls(panel.tls && nodeTls(panel.tls)),
  };
  return {
    codec,
    openSocket: (url, listener) => new ConsoleSocket(url, options, listener),
    addressProblem: (url) => socketAddressProblem(url, policy),
    isProxied: (url) => tunnelFor(url, panel.proxyUrl, proxyOptions) !== undefined,
  };
}

/** Nodes have their own names, so the panel's server name doesn't apply to them. */
function nodeTls(tls: NonNullable<PanelConfig['tls']>) {
  const { serverName: _, ...material } = withKeyText(tls);
  return material;
}

function withKeyText({ key, ...material }: NonNullable<PanelConfig['tls']>) {
  return { ...material, key: key?.reveal() };
}
