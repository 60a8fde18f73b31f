import type { PanelConfig } from './config/config.ts';
import type { Clock } from './domain/clock.ts';
import { ConsoleSocket, type SocketListener, type SocketOptions } from './session/socket.ts';
import { isLocalHost, type SocketPolicy, socketAddressProblem } from './session/socket-address.ts';
import { proxyAgents } from './session/socket-proxy.ts';
import { socketTls } from './session/socket-tls.ts';
import { USER_AGENT } from './version.ts';

/** The part of the time for a connect that a proxy may take, so that it is over before the whole. */
const PROXY_PART = 0.8;

/** What calls to a panel's API are made with, as its configuration says. */
export function apiAccess(panel: PanelConfig) {
  return {
    baseUrl: panel.url,
    apiKey: () => panel.apiKey.reveal(),
    requestTimeoutMs: panel.requestTimeoutMs,
    connectTimeoutMs: panel.connectTimeoutMs,
    userAgent: USER_AGENT,
    ...optional('pinnedPerMinute', panel.requestsPerMinute),
    ...optional('proxyUrl', panel.proxyUrl),
    ...optional('tls', panelTls(panel)),
  };
}

/** How a panel's sockets are opened, and to which addresses. */
export interface SocketAccess {
  readonly openSocket: (url: string, listener: SocketListener) => ConsoleSocket;
  /** The reason why the panel may not send us to this address. */
  readonly addressProblem: (url: string) => string | undefined;
  /** Does the way to this address, of the panel or of a socket, lead through a proxy? */
  readonly isProxied: (url: string) => boolean;
}

/** How this panel's sockets are opened, as its configuration says. */
export function socketAccess(panel: PanelConfig, clock: Clock): SocketAccess {
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
    origin: panel.origin,
    userAgent: USER_AGENT,
    clock,
    agentFor,
    allowLocal: panel.socketHosts !== undefined || isLocalHost(new URL(panel.url).hostname),
    // Nodes have names of their own, so the panel's server_name is not for them.
    tls: socketTls(panel.tls && socketMaterial(panel.tls)),
  };
  return {
    openSocket: (url, listener) => new ConsoleSocket(url, options, listener),
    addressProblem: (url) => socketAddressProblem(url, policy),
    isProxied: (url) => agentFor(url) !== undefined,
  };
}

function panelTls({ tls }: PanelConfig) {
  if (tls === undefined) return undefined;
  return { ...socketMaterial(tls), ...optional('serverName', tls.serverName) };
}

function socketMaterial(tls: NonNullable<PanelConfig['tls']>) {
  const { ca, cert, key, insecureSkipVerify } = tls;
  return {
    ...optional('ca', ca),
    ...optional('cert', cert),
    ...optional('key', key?.reveal()),
    insecureSkipVerify,
  };
}

/** An object with one key, or with none where there is no value: absent is not the same as undefined here. */
function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [Name in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [Name in Key]: Value });
}
