import type { Config, PanelConfig } from './config/config.ts';
import { type Clock, SystemClock } from './domain/clock.ts';
import type { Logger } from './domain/log.ts';
import { type PanelContext, PanelFleet } from './fleet/panel-fleet.ts';
import { isInShard, type Shard, WHOLE } from './fleet/shard.ts';
import { Supervisor } from './fleet/supervisor.ts';
import type { ListenAddress } from './http/listen-address.ts';
import { createRoutes } from './http/routes.ts';
import { HttpServer } from './http/server.ts';
import { Scraper } from './metrics/scrape.ts';
import { SelfMetrics } from './metrics/self.ts';
import { createPanelGateway } from './panel/gateway.ts';
import { ConsoleSocket, type SocketOptions } from './session/socket.ts';
import { isLocalHost, type SocketPolicy, socketAddressProblem } from './session/socket-address.ts';
import { proxyAgents } from './session/socket-proxy.ts';
import { socketTls } from './session/socket-tls.ts';
import { REVISION, USER_AGENT, VERSION } from './version.ts';

/** What the exporter is made from. */
export interface AppOptions {
  readonly config: Config;
  readonly listen: ListenAddress;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Which part of the servers is this exporter's; all where absent. */
  readonly shard?: Shard;
}

/** The exporter as one thing that starts and stops. */
export interface App {
  /** Resolves with the base URL once `/metrics` answers, whatever the panels do. */
  start(): Promise<{ readonly url: string }>;
  /** Answers scrapes in flight, closes every socket, and resolves. */
  stop(): Promise<void>;
}

/** Builds the exporter's parts and joins them; nothing is opened before `start`. */
export function createApp(options: AppOptions): App {
  const { config, listen, log, clock = new SystemClock(), random = Math.random, shard = WHOLE } = options;
  // The metrics read the fleet and the fleet counts in the metrics: the one is asked at a scrape only.
  const self = new SelfMetrics({
    version: VERSION,
    revision: REVISION,
    shard,
    fleet: { panels: () => supervisor.panels(), servers: () => supervisor.servers() },
  });
  const supervisor = new Supervisor(
    panelsOf(config, shard).map((panel) => createPanelFleet(panel, { clock, log, random, self, shard })),
  );
  const scraper = new Scraper({ fleet: supervisor, self, clock });
  let loaded = false;
  const routes = createRoutes({
    scrape: (encoding) => scraper.scrape(encoding),
    ready: () => loaded,
    fleet: supervisor,
    clock,
    logger: log,
    version: VERSION,
  });
  const server = new HttpServer({ listen, routes, clock, logger: log });
  return {
    start: async () => {
      const { url } = await server.start();
      self.configLoaded(true, clock.toUnixMs(clock.now()));
      supervisor.start();
      loaded = true;
      return { url };
    },
    stop: async () => {
      await Promise.all([server.stop(), supervisor.stop()]);
    },
  };
}

/** The panels with this shard's servers; one that has none here is another shard's to watch. */
function panelsOf({ panels }: Config, shard: Shard): readonly PanelConfig[] {
  return panels
    .map((panel) => ({ ...panel, servers: panel.servers.filter((server) => isInShard(server, shard)) }))
    .filter((panel) => panel.servers.length > 0);
}

interface Shared {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly self: SelfMetrics;
  readonly shard: Shard;
}

function createPanelFleet(panel: PanelConfig, shared: Shared): PanelFleet {
  const { clock, log, random, self } = shared;
  const { name, origin, pollIntervalMs, stalenessMs, connectTimeoutMs, authTimeoutMs } = panel;
  const telemetry = self.telemetry(name);
  const context: PanelContext = {
    clock,
    log,
    random,
    telemetry,
    gateway: createPanelGateway({
      panel: name,
      baseUrl: panel.url,
      apiKey: () => panel.apiKey.reveal(),
      requestTimeoutMs: panel.requestTimeoutMs,
      connectTimeoutMs,
      userAgent: USER_AGENT,
      telemetry,
      clock,
      log,
      share: panel.keyPerShard ? 1 : 1 / shared.shard.total,
      ...optional('pinnedPerMinute', panel.requestsPerMinute),
      ...optional('proxyUrl', panel.proxyUrl),
      ...optional('tls', panelTls(panel)),
    }),
    ...socketAccess(panel, clock),
  };
  const ratePinned = panel.requestsPerMinute !== undefined;
  const settings = { name, origin, pollIntervalMs, stalenessMs, connectTimeoutMs, authTimeoutMs, ratePinned };
  return new PanelFleet(settings, panel.servers, context);
}

/** How this panel's sockets are opened, and to which addresses. */
function socketAccess(panel: PanelConfig, clock: Clock): Pick<PanelContext, 'openSocket' | 'addressProblem'> {
  const policy: SocketPolicy = {
    panelUrl: panel.url,
    allowInsecure: panel.allowInsecure,
    ...optional('socketHosts', panel.socketHosts),
  };
  const options: SocketOptions = {
    origin: panel.origin,
    userAgent: USER_AGENT,
    clock,
    agentFor: proxyAgents(panel.proxyUrl),
    allowLocal: panel.socketHosts !== undefined || isLocalHost(new URL(panel.url).hostname),
    // Nodes have names of their own, so the panel's server_name is not for them.
    tls: socketTls(panel.tls && socketMaterial(panel.tls)),
  };
  return {
    openSocket: (url, listener) => new ConsoleSocket(url, options, listener),
    addressProblem: (url) => socketAddressProblem(url, policy),
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
