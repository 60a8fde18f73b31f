// The exporter as a unit that starts and stops.

import { hostname } from 'node:os';
import { REVISION, VERSION } from '../build-info.ts';
import type { Config, LoadResult } from '../config/config.ts';
import { INTERNAL_ERRORS } from '../domain/internal-errors.ts';
import type { FleetReading } from '../domain/reading.ts';
import { KNOWN_SECRETS } from '../domain/secrets.ts';
import type { Logger } from '../domain/telemetry.ts';
import { type Clock, SystemClock } from '../domain/time.ts';
import type { ListenAddress } from '../http/listen-address.ts';
import { createRoutes, type ReloadOutcome } from '../http/routes.ts';
import { HttpServer } from '../http/server.ts';
import type { WebSettingsSource } from '../http/web-settings.ts';
import { COMPATIBILITY_PREFIXES } from '../metrics/compatibility.ts';
import { Scraper } from '../metrics/exposition.ts';
import { SelfMetrics } from '../metrics/self.ts';
import { type LookUp, systemNames } from '../names/name-lookups.ts';
import type { QueryClient } from '../query/thread.ts';
import { StatusBoard } from '../status-page/data/board.ts';
import type { StateKeeper } from '../storage/state-keeper.ts';
import { formatIssues } from '../yaml/settings.ts';
import { InternalErrorLog } from './internal-error-log.ts';
import { secretsInUse } from './secrets-in-use.ts';
import { isInShard, type Shard, WHOLE } from './shard.ts';
import { SocketLimit } from './socket-limit.ts';
import { type ConfigChanges, Supervisor } from './supervisor.ts';

/** What the exporter is built from. */
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
  /** Queries all panels' game servers, instead of a thread for each panel. */
  readonly queryClient?: QueryClient;
  /** Looks up names; the system's resolver by default. */
  readonly lookUp?: LookUp;
  /** This exporter's shard of the servers; all servers if absent. */
  readonly shard?: Shard;
  /** Keeps what is known of the servers over a restart; if absent, nothing is kept. */
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
   * Loads the configuration again and touches only what changed; an invalid one changes nothing.
   * Never rejects.
   */
  reload(): Promise<ReloadOutcome>;
  /** Completes scrapes in progress, closes every socket, and resolves. */
  stop(): Promise<void>;
}

/** Creates and connects the exporter's parts; nothing is opened before `start`. */
export function createApp(options: AppOptions): App {
  const { config, listen, log, clock = new SystemClock(), random = Math.random, shard = WHOLE } = options;
  const socketLimit = new SocketLimit(options.descriptorLimit);
  // The metrics read the fleet, and the fleet counts in the metrics: a cycle that works because the
  // fleet is only read during a scrape.
  const self = new SelfMetrics({
    version: VERSION,
    revision: REVISION,
    shard,
    fleet: { panels: () => supervisor.panels(), servers: () => supervisor.servers() },
    externalUrl: options.externalUrl?.href.replace(/\/$/, ''),
    panelUrl: (panel) => supervisor.publicUrlOf(panel)?.replace(/\/$/, ''),
    descriptors: () => ({ required: socketLimit.requiredDescriptors, allowed: socketLimit.descriptors }),
    droppedLogLines: options.droppedLogLines ?? (() => 0),
  });
  const internalErrors = new InternalErrorLog(log, () => self.internalError());
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
    ended: (successful) => self.configLoaded(successful, clock.toUnixMs(clock.now())),
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
    panelUrl: (panel) => supervisor.publicUrlOf(panel),
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
      self.configLoaded(true, clock.toUnixMs(clock.now()));
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

interface ReloaderOptions {
  readonly log: Logger;
  /**
   * Reads the configuration and the files that it refers to; absent if the configuration doesn't
   * come from a file.
   */
  readonly load?: () => Promise<LoadResult>;
  /** Applies a configuration; rejects without having changed anything if that isn't possible. */
  readonly apply: (config: Config) => Promise<ConfigChanges>;
  /** Called with the outcome of each reload. */
  readonly ended: (successful: boolean) => void;
}

/** Loads the configuration again on request; one reload at a time. */
export class Reloader {
  readonly #options: ReloaderOptions;
  #running: Promise<ReloadOutcome> | undefined;
  #waiting: Promise<ReloadOutcome> | undefined;
  #isStopped = false;

  constructor(options: ReloaderOptions) {
    this.#options = options;
  }

  /** Starts a reload after the call; calls made while one is running share the next. */
  reload(): Promise<ReloadOutcome> {
    if (this.#waiting !== undefined) return this.#waiting;
    if (this.#running === undefined) return this.#begin();
    this.#waiting = this.#running.then(() => {
      this.#waiting = undefined;
      return this.#begin();
    });
    return this.#waiting;
  }

  /** No reload changes anything from now on. */
  stop(): void {
    this.#isStopped = true;
  }

  #begin(): Promise<ReloadOutcome> {
    const running = this.#reload().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #reload(): Promise<ReloadOutcome> {
    const { load, apply, ended, log } = this.#options;
    if (load === undefined) return this.#failed(['there is no configuration file to reload']);
    try {
      const loaded = await load();
      if (this.#isStopped) return { ok: false, problems: 'the exporter is stopping' };
      if (!loaded.ok) return this.#failed(loaded.issues.map((issue) => formatIssues([issue])));
      const changes = await apply(loaded.config);
      ended(true);
      const summary = `configuration reloaded: ${describeChanges(changes)}`;
      log.info({ ...changes }, summary);
      return { ok: true, summary };
    } catch (error) {
      return this.#failed([error instanceof Error ? error.message : String(error)]);
    }
  }

  #failed(problems: readonly string[]): ReloadOutcome {
    const { log, ended } = this.#options;
    ended(false);
    const number = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
    log.error(
      { problems: problems.length },
      `reload failed with ${number}: keeping the previous configuration`,
    );
    for (const problem of problems) log.error({}, problem);
    return { ok: false, problems: KNOWN_SECRETS.redact(problems.join('\n')) };
  }
}

/** What changed, in one line. */
export function describeChanges({ panels, servers }: ConfigChanges): string {
  const parts = [partOf('panel', panels), partOf('server', servers)];
  const isSame = [panels, servers].every((counts) =>
    Object.entries(counts).every(([word, count]) => count === 0 || word === 'unchanged'),
  );
  return isSame ? `nothing changed (${parts.join('; ')})` : parts.join('; ');
}

function partOf(noun: string, counts: Readonly<Record<string, number>>): string {
  const shown = Object.entries(counts).filter(([word, count]) => count > 0 || word === 'unchanged');
  return `${noun}s: ${shown.map(([word, count]) => `${count} ${word}`).join(', ')}`;
}
