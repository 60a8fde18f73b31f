// The exporter as a unit that starts and stops.

import { hostname } from 'node:os';
import { type LookUp, systemNames } from '../addresses/name-lookups.ts';
import { REVISION, VERSION } from '../build-info.ts';
import type { Config, LoadResult } from '../config/config.ts';
import { type Clock, SystemClock } from '../domain/clock.ts';
import { INTERNAL_ERRORS } from '../domain/internal-errors.ts';
import type { Logger } from '../domain/logger.ts';
import type { FleetReading } from '../domain/reading.ts';
import { HttpServer } from '../http/http-server.ts';
import type { ListenAddress } from '../http/listen-address.ts';
import { createRoutes, type ReloadOutcome } from '../http/routes.ts';
import type { WebSettingsSource } from '../http/web-settings.ts';
import { COMPATIBILITY_PREFIXES } from '../metrics/compatibility.ts';
import { Scraper } from '../metrics/scrape.ts';
import { SelfMetrics } from '../metrics/self-metrics.ts';
import type { QueryClient } from '../query/query-thread.ts';
import { StatusBoard } from '../status-page/data/board.ts';
import type { StateKeeper } from '../storage/state-keeper.ts';
import { KNOWN_SECRETS } from '../text/redaction.ts';
import { InternalErrorLog } from './internal-error-log.ts';
import { Reloader } from './reloader.ts';
import { secretsInUse } from './secrets-in-use.ts';
import { isInShard, type Shard, SINGLE_SHARD } from './shard.ts';
import { SocketLimit } from './socket-limit.ts';
import { Supervisor } from './supervisor.ts';

/** The parts of which the exporter is built. */
export interface AppOptions {
  readonly config: Config;
  /** One address or several. */
  readonly listen: ListenAddress | readonly ListenAddress[];
  /** TLS and authentication; if absent, plain HTTP without authentication. */
  readonly web?: WebSettingsSource | undefined;
  readonly log: Logger;
  /** How many files the process may open; unlimited if absent. */
  readonly descriptorLimit?: number | undefined;
  /** Log lines that could not be written so far; none if absent. */
  readonly droppedLogLines?: () => number;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Queries the game servers of all panels; by default, each panel has a thread for that. */
  readonly queryClient?: QueryClient;
  /** Looks up names; the system's resolver by default. */
  readonly lookUp?: LookUp;
  /** This exporter's shard of the servers; all servers if absent. */
  readonly shard?: Shard;
  /** Keeps the servers' state across a restart; if absent, nothing is kept. */
  readonly state?: StateKeeper | undefined;
  /** Reads the configuration again; without it, reloading is not possible. */
  readonly load?: () => Promise<LoadResult>;
  /** Called with the new configuration after a reload. */
  readonly reloaded?: (config: Config) => void;
  /** Whether reloads can be requested over HTTP; false by default. */
  readonly enableLifecycle?: boolean;
  /** The URL at which people and programs reach the exporter, if it isn't the machine's name. */
  readonly externalUrl?: URL | undefined;
}

/** The exporter as a unit that starts and stops. */
export interface App {
  /** The current state of the panels and servers. */
  readonly fleet: FleetReading;
  /**
   * Resolves with the base URLs, the first of them also as `url`, once `/metrics` responds,
   * whatever the state of the panels.
   */
  start(): Promise<{ readonly url: string; readonly urls: readonly string[] }>;
  /**
   * Loads the configuration again, and changes only what differs. An invalid configuration changes
   * nothing. Never rejects.
   */
  reload(): Promise<ReloadOutcome>;
  /** Completes scrapes in progress, closes every socket, then resolves. */
  stop(): Promise<void>;
}

/** Creates and connects the exporter's parts; nothing is opened before `start`. */
export function createApp(options: AppOptions): App {
  const {
    config,
    listen,
    log,
    clock = new SystemClock(),
    random = Math.random,
    shard = SINGLE_SHARD,
  } = options;
  const socketLimit = new SocketLimit(options.descriptorLimit);
  // The metrics read the fleet, and the fleet counts in the metrics. This cycle works because the
  // fleet is read only during a scrape.
  const self = new SelfMetrics({
    version: VERSION,
    revision: REVISION,
    shard,
    fleet: { panels: () => supervisor.panels(), servers: () => supervisor.servers() },
    externalUrl: options.externalUrl?.href.replace(/\/$/, ''),
    panelUrl: (panel) => supervisor.findPublicUrl(panel)?.replace(/\/$/, ''),
    descriptors: () => ({ required: socketLimit.requiredDescriptors, allowed: socketLimit.descriptors }),
    droppedLogLines: options.droppedLogLines ?? (() => 0),
  });
  const unixMs = () => clock.toUnixMs(clock.now());
  const internalErrors = new InternalErrorLog(log, () => self.internalError(unixMs()));
  let forgetErrors: () => void = () => undefined;
  const { queryClient, state } = options;
  const names = systemNames(options.lookUp);
  const supervisor = new Supervisor(config, {
    clock,
    log,
    random,
    telemetry: (panel) => self.telemetry(panel),
    shard,
    isOurs: (server) => isInShard(server, shard),
    socketLimit,
    queryClient,
    names,
    kept: state && ((target) => state.take(target)),
  });
  let current = config;
  const reloader = new Reloader({
    log,
    load: options.load,
    apply: async (next) => {
      const changes = await supervisor.apply(next);
      KNOWN_SECRETS.replace(secretsInUse(current), secretsInUse(next));
      current = next;
      options.reloaded?.(next);
      return changes;
    },
    ended: (successful) => self.configLoaded(successful, unixMs()),
  });
  const scraper = new Scraper({
    fleet: supervisor,
    self,
    clock,
    compatibility: () => current.compatibility && COMPATIBILITY_PREFIXES[current.compatibility],
  });
  const rateLimited = (panel: string) => self.rateLimited(panel);
  const status = new StatusBoard({
    fleet: supervisor,
    clock,
    version: VERSION,
    rateLimited,
    panelUrl: (panel) => supervisor.findPublicUrl(panel),
  });
  let loaded = false;
  const routes = createRoutes({
    scrape: (encoding) => scraper.scrape(encoding),
    ready: () => loaded,
    fleet: supervisor,
    clock,
    version: VERSION,
    shard: shard.total > 1 ? `${shard.index + 1} of ${shard.total}` : undefined,
    board: status,
    reload: options.enableLifecycle === true ? () => reloader.reload() : undefined,
    reloadHosts: [hostname(), ...(options.externalUrl === undefined ? [] : [options.externalUrl.hostname])],
  });
  const server = new HttpServer({
    listen,
    routes,
    clock,
    logger: log,
    settings: options.web,
    limits: { connections: socketLimit.connections },
  });
  return {
    fleet: supervisor,
    start: async () => {
      forgetErrors = INTERNAL_ERRORS.listen(internalErrors.receive);
      self.configLoaded(true, unixMs());
      const { url, urls } = await server.start();
      supervisor.start();
      state?.start(supervisor);
      loaded = true;
      return { url, urls };
    },
    reload: () => reloader.reload(),
    stop: async () => {
      reloader.stop();
      status.stop();
      await Promise.all([server.stop(), supervisor.stop()]);
      await state?.stop();
      forgetErrors();
    },
  };
}
