// Derives the access to a panel's API and sockets from its configuration.

import { nodeLookup, type ResolveName } from '../addresses/name-lookups.ts';
import { perSite } from '../addresses/site-cache.ts';
import { guardedNames, type SocketPolicy, socketAddressProblem } from '../addresses/socket-policy.ts';
import { USER_AGENT } from '../build-info.ts';
import type { PanelConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { PROXY_PART } from '../panel/proxy-pool.ts';
import { SpokenDialect } from '../panel/spoken-dialect.ts';
import { atOnce, type InTurn } from '../session/connect-pacer.ts';
import { HandshakeRoom } from '../session/handshake-room.ts';
import type { SocketAccess } from '../session/session-ports.ts';
import { ConsoleSocket, type SocketOptions } from '../session/socket.ts';
import { tunnelFor } from '../session/socket-proxy.ts';
import { socketTls } from '../session/socket-tls.ts';
import { UnfinishedBytes } from '../session/unfinished-bytes.ts';

/**
 * The panel's address in a browser, without a trailing slash. The exporter may use an internal
 * address, but nodes expect the origin of the public one.
 */
export function publicUrl({ origin, url }: Pick<PanelConfig, 'origin' | 'url'>): string {
  return origin + new URL(url).pathname.replace(/\/+$/, '');
}

/**
 * The part of the timeout that a name lookup may use. It is less than 1, so that the error shows
 * that the lookup is the cause.
 */
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

/** The panel's dialect, according to configuration and responses. */
export function spokenDialect({ panel, apiKey }: Pick<PanelConfig, 'panel' | 'apiKey'>): SpokenDialect {
  return new SpokenDialect({ kind: panel, apiKey: () => apiKey.reveal() });
}

/** How this panel's sockets are opened, from its configuration. */
export function socketAccess(
  panel: PanelConfig,
  clock: Clock,
  resolve: ResolveName,
  dialect: SpokenDialect,
  inTurn: InTurn = atOnce,
): SocketAccess {
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
  const tunnel = perSite((url) => tunnelFor(url, panel.proxyUrl, proxyOptions));
  const options: SocketOptions = {
    get codec() {
      return dialect.codec;
    },
    origin: panel.origin,
    userAgent: USER_AGENT,
    clock,
    tunnelFor: tunnel,
    lookup: nodeLookup(guardedNames(policy, resolve), limits),
    tls: socketTls(panel.tls && nodeTls(panel.tls)),
    unfinished: new UnfinishedBytes(),
    inTurn,
  };
  return {
    get codec() {
      return dialect.codec;
    },
    inTurn,
    handshakes: new HandshakeRoom(() => dialect.codec.handshakesPerAddress, inTurn),
    openSocket: (url, listener) => new ConsoleSocket(url, options, listener),
    addressProblem: perSite((url) => socketAddressProblem(url, policy)),
    isProxied: (url) => tunnel(url) !== undefined,
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
