// Builds a fleet for each panel, and applies changes of the configuration to them.

import { USER_AGENT } from '../build-info.ts';
import { type Config, changedConcerns, type PanelConfig } from '../config/config.ts';
import type { KeptServer } from '../domain/kept.ts';
import type { FleetReading, PanelReading, ServerReading } from '../domain/reading.ts';
import { identityOf, type ServerTarget } from '../domain/server.ts';
import type { Logger, PanelTelemetry } from '../domain/telemetry.ts';
import type { Clock } from '../domain/time.ts';
import type { ServerIdentity } from '../fleet/discover-rules.ts';
import type { SharedSockets } from '../fleet/needs.ts';
import { PanelFleet } from '../fleet/panel-fleet.ts';
import type { QueryAccess } from '../fleet/query-watch.ts';
import { isScraped } from '../metrics/rendered-body.ts';
import {
  guardedNames,
  type NameLookups,
  nodeLookup,
  type ResolveName,
  type SocketPolicy,
  socketAddressProblem,
} from '../names/name-lookups.ts';
import { perSite } from '../names/per-site.ts';
import { PanelApi } from '../panel/api.ts';
import { PTERODACTYL_SOCKET as codec } from '../panel/dialects/pterodactyl/socket.ts';
import { Gateway } from '../panel/gateway.ts';
import type { RateLimit } from '../panel/scheduler/rate-limit.ts';
import { Connections } from '../panel/transport.ts';
import { findService } from '../query/ask.ts';
import { type QueryClient, QueryThread } from '../query/thread.ts';
import { atOnce, ConnectPacer, type EventLoop, type InTurn } from '../session/connect-pacer.ts';
import type { SocketAccess } from '../session/session-context.ts';
import { ConsoleSocket, type SocketOptions, socketTls, tunnelFor } from '../session/socket.ts';
import { UnfinishedBytes } from '../session/unfinished-bytes.ts';
import { Accounts } from './accounts.ts';
import { latestPorts } from './listed-ports.ts';
import type { Shard } from './shard.ts';

/** What all panels share. */
interface PanelShared {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** Counts what happens in the collection of this panel. */
  readonly telemetry: (panel: string) => PanelTelemetry;
  readonly shard: Shard;
  /** Is the server monitored here, if it is in the configuration or discovered? */
  readonly isOurs: (server: ServerIdentity) => boolean;
  readonly socketLimit: SharedSockets;
  /** Instead of a thread for the queries of each panel. */
  readonly queryClient?: QueryClient | undefined;
  readonly names: NameLookups;
  /**
   * What was kept of a server before a restart of the exporter, once; absent if nothing is kept.
   */
  readonly kept?: ((target: ServerTarget) => KeptServer | undefined) | undefined;
}

/** What else they share, which is made here. */
interface PanelContext extends PanelShared, Pick<QueryAccess, 'isTaken'> {
  readonly connects: ConnectPacer;
}

/** What a new configuration changed, in numbers. */
export interface ConfigChanges {
  /**
   * A `rebuilt` panel has another address, so it starts anew; a `changed` one has other settings.
   */
  readonly panels: Readonly<Record<'removed' | PanelTransition['change'], number>>;
  readonly servers: Readonly<Record<'added' | 'removed' | 'changed' | 'unchanged', number>>;
}

/** That of this process. */
const EVENT_LOOP: EventLoop = {
  now: () => performance.now(),
  nextTurn: (run) => void setImmediate(run),
  isRendering: isScraped,
};

/** What happens to one panel when the configuration changes. */
interface PanelTransition {
  readonly panel: RunningPanel;
  readonly change: 'added' | 'rebuilt' | 'changed' | 'unchanged';
  /** Applies the configuration, if it isn't already. */
  readonly apply: () => void;
}

/**
 * The panels: started and stopped together, read as a whole, and updated to a new configuration.
 */
export class Supervisor implements FleetReading {
  readonly #shared: PanelContext;
  readonly #accounts: Accounts;
  #panels: readonly RunningPanel[];
  #isRunning = false;
  #isStopped = false;
  /** Removed fleets whose sockets are closing. */
  readonly #leaving = new Set<Promise<void>>();
  /** The fleets' records when they were last joined, and the joined list. */
  #parts: readonly (readonly ServerReading[])[] = [];
  #servers: readonly ServerReading[] = [];

  constructor(config: Config, shared: PanelShared) {
    this.#accounts = new Accounts(shared.clock);
    this.#shared = {
      ...shared,
      connects: new ConnectPacer(EVENT_LOOP),
      isTaken: (server, port) => this.#panels.some((panel) => panel.isTaken(server, port)),
    };
    this.#panels = this.#panelsOf(config).map((panel) => this.#create(panel));
    this.#pinRates();
  }

  /** The panels, in the configuration's order. */
  get running(): readonly RunningPanel[] {
    return this.#panels;
  }

  panels(): readonly PanelReading[] {
    return this.#panels.map(({ fleet }) => fleet.reading());
  }

  servers(): readonly ServerReading[] {
    const parts = this.#panels.map(({ fleet }) => fleet.records);
    const isSame = parts.length === this.#parts.length && parts.every((part, i) => part === this.#parts[i]);
    if (!isSame) {
      this.#parts = parts;
      this.#servers = parts.flat();
    }
    return this.#servers;
  }

  /** What a restarted exporter has to know of each server. */
  *keep(): Generator<KeptServer, void, void> {
    const { clock } = this.#shared;
    for (const { fleet } of this.#panels) {
      for (const record of fleet.records) {
        const kept = record.keep(clock.now(), clock);
        if (kept !== undefined) yield kept;
      }
    }
  }

  /** Where people open a panel; undefined if there is no panel of this name. */
  publicUrlOf(panel: string): string | undefined {
    const found = this.#panels.find(({ config }) => config.name === panel);
    return found && publicUrl(found.config);
  }

  start(): void {
    this.#isRunning = true;
    for (const { fleet } of this.#panels) fleet.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#panels.map(({ fleet }) => fleet.stop()), ...this.#leaving]);
  }

  /**
   * Applies a new configuration and touches only what differs. New panels are started once the
   * removed ones have stopped, so that no server has two sockets. Resolves then.
   *
   * @throws Error if a panel can't be built; then nothing is changed
   */
  async apply(config: Config): Promise<ConfigChanges> {
    const transitions = await this.#prepare(this.#panelsOf(config));
    const [before, targets] = [this.#panels, this.servers().map(({ target }) => target)];
    for (const { apply } of transitions) apply();
    const panels = transitions.map(({ panel }) => panel);
    const names = new Set(panels.map(({ config: { name } }) => name));
    const left = before.filter((panel) => !panels.includes(panel));
    this.#panels = panels;
    const servers = changesOf(targets, this.servers());
    this.#pinRates();
    for (const { fleet } of left) {
      const leaving = fleet.stop();
      this.#leaving.add(leaving);
      void leaving.finally(() => this.#leaving.delete(leaving));
    }
    await Promise.all(this.#leaving);
    if (this.#isRunning && !this.#isStopped) this.start();
    const count = (change: string) => transitions.filter((one) => one.change === change).length;
    return {
      panels: {
        added: count('added'),
        removed: before.filter((panel) => !names.has(panel.config.name)).length,
        rebuilt: count('rebuilt'),
        changed: count('changed'),
        unchanged: count('unchanged'),
      },
      servers,
    };
  }

  /**
   * The panels with servers of this shard; a panel that has none here and discovers none is left to
   * other shards.
   */
  #panelsOf({ panels }: Config): readonly PanelConfig[] {
    return panels
      .map((panel) => ({ ...panel, servers: panel.servers.filter(this.#shared.isOurs) }))
      .filter((panel) => panel.servers.length > 0 || panel.listing?.discover !== undefined);
  }

  /** Builds everything new before anything else is touched. */
  async #prepare(panels: readonly PanelConfig[]): Promise<readonly PanelTransition[]> {
    const transitions: PanelTransition[] = [];
    try {
      for (const panel of panels) transitions.push(this.#prepareOne(panel));
      return transitions;
    } catch (error) {
      const built = transitions.filter(({ change }) => change === 'added' || change === 'rebuilt');
      await Promise.all(built.map(({ panel }) => panel.fleet.stop()));
      throw error;
    }
  }

  #prepareOne(next: PanelConfig): PanelTransition {
    const panel = this.#panels.find(({ config }) => config.name === next.name);
    const changed = panel && changedConcerns(panel.config, next);
    if (panel === undefined || changed?.has('panel') === true) {
      const change = panel === undefined ? 'added' : 'rebuilt';
      return { panel: this.#create(next), change, apply: () => undefined };
    }
    return {
      panel,
      change: changed?.size === 0 ? 'unchanged' : 'changed',
      apply: panel.prepare(next, this.#accounts),
    };
  }

  #create(panel: PanelConfig): RunningPanel {
    return new RunningPanel(panel, this.#accounts.limitOf(panel), this.#shared);
  }

  /** Of the rates that several entries pin for one account, the lowest counts. */
  #pinRates(): void {
    const { total } = this.#shared.shard;
    const limits = new Set(this.#panels.map((panel) => panel.limit));
    this.#accounts.keep(limits);
    for (const limit of limits) {
      const entries = this.#panels.filter((panel) => panel.limit === limit).map(({ config }) => config);
      const pinned = entries.flatMap(({ requestsPerMinute = [] }) => requestsPerMinute);
      limit.pin({
        pinnedPerMinute: pinned.length === 0 ? undefined : Math.min(...pinned),
        share: entries.every(({ keyPerShard }) => keyPerShard) ? 1 : 1 / total,
      });
    }
  }
}

/**
 * One running panel, and the configuration that it currently uses. Nothing is opened before its
 * fleet is started.
 */
export class RunningPanel {
  readonly fleet: PanelFleet;
  /**
   * Does a port of the address of a server, which may be another panel's, belong to another one, as
   * far as the server list shows?
   */
  readonly isTaken: QueryAccess['isTaken'];
  readonly #clock: Clock;
  readonly #resolve: ReturnType<NameLookups['forPanel']>;
  readonly #inTurn: InTurn;
  readonly #api: PanelApi;
  #config: PanelConfig;
  #limit: RateLimit;

  /** @throws Error if the environment's proxy is invalid */
  constructor(config: PanelConfig, limit: RateLimit, shared: PanelContext) {
    const { clock, names, connects, queryClient, isTaken } = shared;
    const telemetry = shared.telemetry(config.name);
    const resolve = names.forPanel();
    const inTurn = connects.line();
    this.#limit = limit;
    this.isTaken = latestPorts(config.name, () => this.fleet.discovery.listed);
    this.#clock = clock;
    this.#resolve = resolve;
    this.#inTurn = inTurn;
    this.#config = config;
    const access = { ...apiAccess(config, clock, resolve), telemetry };
    const options = { ...access, apiKey: () => this.#config.apiKey.reveal(), log: shared.log, limit };
    this.#api = new PanelApi(options);
    this.fleet = new PanelFleet(config, {
      ...shared,
      telemetry,
      gateway: new Gateway({ ...options, inTurn: connects.line() }, this.#api),
      sockets: socketAccess(config, clock, resolve, inTurn),
      openNodes: (key) =>
        new PanelApi({ ...access, ...apiAccess(this.#config, clock, resolve), apiKey: () => key.reveal() }),
      openQueries: () => {
        const client = queryClient ?? new QueryThread();
        return { client, resolve, findService, isTaken, panelUrl: config.url };
      },
    });
  }

  get config(): PanelConfig {
    return this.#config;
  }

  /** That of the account that the current key belongs to. */
  get limit(): RateLimit {
    return this.#limit;
  }

  /**
   * Prepares another configuration of the same panel; the returned function applies it, and touches
   * only what differs.
   *
   * @throws Error if the environment's proxy is invalid
   */
  prepare(next: PanelConfig, accounts: Accounts): () => void {
    const changed = changedConcerns(this.#config, next);
    const connections = changed.has('calls')
      ? new Connections(apiAccess(next, this.#clock, this.#resolve))
      : undefined;
    const sockets = changed.has('sockets')
      ? socketAccess(next, this.#clock, this.#resolve, this.#inTurn)
      : undefined;
    return () => {
      this.#config = next;
      if (connections !== undefined) this.#api.use(connections);
      this.fleet.configure(next);
      if (changed.has('key')) {
        this.#limit = accounts.limitOf(next);
        this.fleet.keyChanged(this.#limit);
      }
      if (sockets !== undefined || connections !== undefined) this.fleet.accessChanged(sockets);
    };
  }
}

/**
 * Where people open a panel, without a trailing slash. The exporter may use an internal address,
 * but the origin that the panel's nodes expect is the panel's own.
 */
export function publicUrl({ origin, url }: Pick<PanelConfig, 'origin' | 'url'>): string {
  return origin + new URL(url).pathname.replace(/\/+$/, '');
}

/**
 * How many servers were added, removed or changed. A server that is monitored as before keeps the
 * object that describes it.
 */
function changesOf(before: readonly ServerTarget[], now: readonly ServerReading[]): ConfigChanges['servers'] {
  const isSame =
    before.length === now.length && before.every((target, index) => target === now[index]?.target);
  if (isSame) return { added: 0, removed: 0, changed: 0, unchanged: now.length };
  const had = new Map<string, Map<string, ServerTarget>>();
  for (const target of before) {
    const ofPanel = had.get(target.panel) ?? new Map<string, ServerTarget>();
    had.set(target.panel, ofPanel.set(identityOf(target), target));
  }
  const hadAs = (target: ServerTarget) => had.get(target.panel)?.get(identityOf(target));
  const kept = now.flatMap(({ target }) => (hadAs(target) === undefined ? [] : [target]));
  const unchanged = kept.filter((target) => hadAs(target) === target).length;
  return {
    added: now.length - kept.length,
    removed: before.length - kept.length,
    changed: kept.length - unchanged,
    unchanged,
  };
}

/** The part of the connect timeout that a proxy may use, so that its own timeout comes first. */
const PROXY_PART = 0.8;

/**
 * The part that the lookup of a name may use; shorter, so that the name is identified as the cause.
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

/** How this panel's sockets are opened, from its configuration. */
export function socketAccess(
  panel: PanelConfig,
  clock: Clock,
  resolve: ResolveName,
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
    codec,
    origin: panel.origin,
    userAgent: USER_AGENT,
    clock,
    tunnelFor: tunnel,
    lookup: nodeLookup(guardedNames(policy, resolve), limits),
    tls: socketTls(panel.tls && nodeTls(panel.tls)),
    unfinished: new UnfinishedBytes(),
  };
  return {
    codec,
    inTurn,
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
