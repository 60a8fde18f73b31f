import { USER_AGENT } from '../build-info.ts';
import type { PanelConfig, TlsConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { PanelDialect } from '../panel/dialect.ts';
import { PTERODACTYL } from '../panel/dialects/pterodactyl.ts';
import type { SocketAccess } from '../session/session-ports.ts';
import { ConsoleSocket, type SocketOptions, socketTls } from '../session/socket.ts';
import { type SocketPolicy, socketAddressProblem, socketLookup } from '../session/socket-address.ts';
import { proxyAgents } from '../session/socket-proxy.ts';

/** The part of the time for a connect that a proxy may take, so that it is over before the whole. */
const PROXY_PART = 0.8;

/** The dialect that a panel speaks: so far, all panels speak the same. */
function dialectOf(_panel: PanelConfig): PanelDialect {
  return PTERODACTYL;
}

/** What calls to a panel's API are made with, as its configuration says. */
export function apiAccess(panel: PanelConfig) {
  return {
    dialect: dialectOf(panel),
    baseUrl: panel.url,
    apiKey: () => panel.apiKey.reveal(),
    requestTimeoutMs: panel.requestTimeoutMs,
    connectTimeoutMs: panel.connectTimeoutMs,
    userAgent: USER_AGENT,
    ...optional('pinnedPerMinute', panel.requestsPerMinute),
    ...optional('proxyUrl', panel.proxyUrl),
    ...optional('tls', panel.tls && withKeyText(panel.tls)),
  };
}

/** How a panel's sockets are opened, and whether through a proxy. */
export interface PanelSocketAccess extends SocketAccess {
  /** Does the way to this address, of the panel or of a socket, lead through a proxy? */
  readonly isProxied: (url: string) => boolean;
}

/** How this panel's sockets are opened, as its configuration says. */
export function socketAccess(panel: PanelConfig, clock: Clock, admit?: () => () => void): PanelSocketAccess {
  const codec = dialectOf(panel).socket;
  const policy: SocketPolicy = {
    panelUrl: panel.url,
    allowInsecure: panel.allowInsecure,
    ...optional('socketHosts', panel.socketHosts),
  };
  const agentFor = proxyAgents(panel.proxyUrl, {
    clock,
    timeoutMs: panel.connectTimeoutMs * PROXY_PART,
    trust: panel.tls,
  });
  const options: SocketOptions = {
    codec,
    origin: panel.origin,
    userAgent: USER_AGENT,
    clock,
    agentFor,
    ...optional('lookup', socketLookup(policy)),
    tls: socketTls(panel.tls && nodeTls(panel.tls)),
    ...optional('admit', admit),
  };
  return {
    codec,
    openSocket: (url, listener) => new ConsoleSocket(url, options, listener),
    addressProblem: (url) => socketAddressProblem(url, policy),
    isProxied: (url) => agentFor(url) !== undefined,
  };
}

/** Nodes have names of their own, so the panel's server name is not for them. */
function nodeTls(tls: TlsConfig) {
  const { serverName: _, ...material } = withKeyText(tls);
  return material;
}

function withKeyText({ key, ...material }: TlsConfig) {
  return { ...material, ...optional('key', key?.reveal()) };
}

/** An object with one key, or with none where there is no value: absent is not the same as undefined here. */
function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [Name in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [Name in Key]: Value });
}
