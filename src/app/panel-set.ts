import { type Config, changedConcerns, type PanelConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import { identityOf, type ServerTarget } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { ServerIdentity } from '../fleet/discovered-targets.ts';
import type { TargetChanges } from '../fleet/members.ts';
import { type PanelContext, PanelFleet } from '../fleet/panel-fleet.ts';
import type { QueryAccess } from '../fleet/query-watch.ts';
import type { Shard } from '../fleet/shard.ts';
import type { SocketLimit } from '../fleet/socket-limit.ts';
import { Supervisor } from '../fleet/supervisor.ts';
import type { NameLookups } from '../names/name-lookups.ts';
import { PanelApi } from '../panel/api.ts';
import { Gateway, type PanelGatewayOptions } from '../panel/gateway.ts';
import { type PinnedRate, RateLimit } from '../panel/rate-limit.ts';
import { Connections } from '../panel/transport.ts';
import { findService } from '../query/ask.ts';
import { type QueryClient, QueryThread } from '../query/thread.ts';
import { apiAccess, isSamePanel, socketAccess } from './panel-access.ts';

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
  readonly socketLimit: SocketLimit;
  /** By account. */
  readonly limits: Map<string, RateLimit>;
  /** Instead of a thread for the queries of each panel. */
  readonly queryClient?: QueryClient | undefined;
  readonly names: NameLookups;
}

/** What a new configuration changed, in numbers. */
export interface ConfigChanges {
  /** A `rebuilt` panel has another address, so it starts anew; a `changed` one has other settings. */
  readonly panels: Readonly<Record<'added' | 'removed' | 'rebuilt' | 'changed' | 'unchanged', number>>;
  readonly servers: TargetChanges;
}

/** What happens to one panel when the configuration changes. */
interface PanelTransition {
  readonly panel: PanelConfig;
  readonly unit: PanelUnit;
  readonly change: 'added' | 'rebuilt' | 'changed' | 'unchanged';
  /** Applies the configuration, if it isn't already. */
  readonly apply: () => TargetChanges;
}

/** The running panels, and how they are updated to a new configuration. */
export class PanelSet {
  readonly supervisor: Supervisor;
  readonly #shared: PanelShared & Pick<QueryAccess, 'isTaken'>;
  #units: readonly PanelUnit[];

  constructor(config: Config, shared: PanelShared) {
    this.#shared = {
      ...shared,
      isTaken: (server, port) => this.#units.some(({ fleet }) => fleet.isTaken(server, port)),
    };
    this.#units = panelsOf(config, shared).map((panel) => createPanelUnit(panel, this.#shared));
    this.supervisor = new Supervisor(this.#units.map((unit) => unit.fleet));
    this.#pinRates();
  }

  /** The panels, in the configuration's order. */
  get panels(): readonly RunningPanel[] {
    return this.#units;
  }

  /** Where people open a panel; undefined if there is no panel of this name. */
  publicUrlOf(panel: string): string | undefined {
    const unit = this.#units.find(({ config }) => config.name === panel);
    return unit && publicUrl(unit.config);
  }

  /**
   * Applies a new configuration and touches only what differs. Resolves when removed panels have stopped.
   *
   * @throws Error if a panel can't be built; then nothing is changed
   */
  async apply(config: Config): Promise<ConfigChanges> {
    const before = new Map(this.#units.map((unit) => [unit.config.name, unit]));
    const transitions = await this.#prepare(panelsOf(config, this.#shared), before);
    const servers = transitions.map(({ apply }) => apply());
    const wanted = new Set(transitions.map(({ panel }) => panel.name));
    const left = [...before.values()].filter((unit) => !wanted.has(unit.config.name));
    const gone = left.map((unit) => compareServers(targetsOf(unit), []));
    this.#units = transitions.map((transition) => transition.unit);
    this.#pinRates();
    await this.supervisor.setFleets(this.#units.map((unit) => unit.fleet));
    return { panels: countPanels(transitions, left.length), servers: sum([...servers, ...gone]) };
  }

  #pinRates(): void {
    for (const limit of new Set(this.#units.map((unit) => unit.limit))) {
      const entries = this.#units.filter((unit) => unit.limit === limit).map(({ config }) => config);
      limit.pin(rateOf(entries, this.#shared.shard));
    }
  }

  /** Builds everything new before anything else is touched. */
  async #prepare(
    panels: readonly PanelConfig[],
    before: ReadonlyMap<string, PanelUnit>,
  ): Promise<readonly PanelTransition[]> {
    const transitions: PanelTransition[] = [];
    try {
      for (const panel of panels) {
        transitions.push(this.#prepareOne(panel, before.get(panel.name)));
      }
      return transitions;
    } catch (error) {
      const built = transitions.filter(({ change }) => change === 'added' || change === 'rebuilt');
      await Promise.all(built.map(({ unit }) => unit.fleet.stop()));
      throw error;
    }
  }

  #prepareOne(panel: PanelConfig, unit: PanelUnit | undefined): PanelTransition {
    if (unit === undefined || !isSamePanel(unit.config, panel)) {
      const apply = () => compareServers(unit === undefined ? [] : targetsOf(unit), panel.servers);
      const change = unit === undefined ? 'added' : 'rebuilt';
      return { panel, unit: createPanelUnit(panel, this.#shared), change, apply };
    }
    const change = changedConcerns(unit.config, panel).size > 0 ? 'changed' : 'unchanged';
    return { panel, unit, change, apply: unit.prepare(panel) };
  }
}

/** The rate limit of the panel's account: entries with the same address and key share one. */
function limitOf({ url, apiKey }: PanelConfig, { clock, limits }: PanelShared): RateLimit {
  const account = JSON.stringify([url, apiKey.reveal()]);
  const limit = limits.get(account) ?? new RateLimit(clock);
  limits.set(account, limit);
  return limit;
}

/** The lowest of the rates that several entries pin for one account. */
function rateOf(panels: readonly PanelConfig[], shard: Shard): PinnedRate {
  const pinned = panels
    .map(({ requestsPerMinute }) => requestsPerMinute)
    .filter((rate) => rate !== undefined);
  return {
    pinnedPerMinute: pinned.length === 0 ? undefined : Math.min(...pinned),
    share: panels.every(({ keyPerShard }) => keyPerShard) ? 1 : 1 / shard.total,
  };
}

/** One running panel, and the configuration that it currently uses. */
export interface RunningPanel {
  readonly config: PanelConfig;
  readonly fleet: PanelFleet;
}

interface PanelUnit extends RunningPanel {
  readonly limit: RateLimit;
  /**
   * Prepares another configuration of the same panel; the returned function applies it, and touches only what differs.
   *
   * @throws Error if the environment's proxy is invalid
   */
  prepare(next: PanelConfig): () => TargetChanges;
}

/**
 * Builds the parts of one panel; nothing is opened before its fleet is started.
 *
 * @throws Error if the environment's proxy is invalid
 */
function createPanelUnit(panel: PanelConfig, shared: PanelShared & Pick<QueryAccess, 'isTaken'>): PanelUnit {
  const { clock, log, random, isOurs, socketLimit, queryClient, names, isTaken } = shared;
  const resolve = names.forPanel();
  let config = panel;
  const apiOf = (settings: PanelConfig) => apiAccess(settings, clock, resolve);
  const socketsOf = (settings: PanelConfig) => socketAccess(settings, clock, resolve);
  let sockets = socketsOf(panel);
  const telemetry = shared.telemetry(panel.name);
  const limit = limitOf(panel, shared);
  const options: PanelGatewayOptions = {
    ...apiOf(panel),
    apiKey: () => config.apiKey.reveal(),
    telemetry,
    log,
    limit,
  };
  const api = new PanelApi(options);
  const context: PanelContext = {
    clock,
    log,
    random,
    telemetry,
    gateway: new Gateway(options, api),
    codec: sockets.codec,
    openSocket: (url, listener) => sockets.openSocket(url, listener),
    addressProblem: (url) => sockets.addressProblem(url),
    isProxied: (url) => sockets.isProxied(url),
    openNodes: (apiKey) => new PanelApi({ ...apiOf(config), apiKey: () => apiKey.reveal(), telemetry }),
    socketLimit,
    queries: {
      client: queryClient ?? new QueryThread(),
      resolve,
      findService,
      isTaken,
      panelUrl: panel.url,
    },
    isOurs,
  };
  const fleet = new PanelFleet(panel, panel, context);
  const prepare = (next: PanelConfig) => {
    const changed = changedConcerns(config, next);
    const connections = changed.has('calls') ? new Connections(apiOf(next)) : undefined;
    return () => {
      config = next;
      if (connections !== undefined) api.use(connections);
      if (changed.has('sockets')) sockets = socketsOf(next);
      if (changed.size > 0) fleet.setSettings(next);
      const changes = fleet.setSelection(next);
      if (changed.has('key')) fleet.keyChanged();
      if (changed.has('sockets')) fleet.accessChanged('with sockets');
      else if (changed.has('calls')) fleet.accessChanged();
      return changes;
    };
  };
  return {
    get config() {
      return config;
    },
    fleet,
    limit,
    prepare,
  };
}

/**
 * Where people open a panel, without a trailing slash. The exporter may use an internal address, but the origin that the panel's
 * nodes expect is the panel's own.
 */
export function publicUrl({ origin, url }: Pick<PanelConfig, 'origin' | 'url'>): string {
  return origin + new URL(url).pathname.replace(/\/+$/, '');
}

/** The panels with servers of this shard; a panel that has none here and discovers none is left to other shards. */
function panelsOf({ panels }: Config, { isOurs }: Pick<PanelShared, 'isOurs'>): readonly PanelConfig[] {
  return panels
    .map((panel) => ({ ...panel, servers: panel.servers.filter(isOurs) }))
    .filter((panel) => panel.servers.length > 0 || panel.listing?.discover !== undefined);
}

function countPanels(transitions: readonly PanelTransition[], removed: number): ConfigChanges['panels'] {
  const panels = { added: 0, removed, rebuilt: 0, changed: 0, unchanged: 0 };
  for (const { change } of transitions) panels[change] += 1;
  return panels;
}

/** The servers that are monitored, configured or discovered. */
const targetsOf = ({ fleet }: PanelUnit) => fleet.records.map(({ target }) => target);

/** Counts the servers of a panel that is added, removed or rebuilt: none of them stays unchanged. */
function compareServers(before: readonly ServerTarget[], after: readonly ServerTarget[]): TargetChanges {
  const had = new Set(before.map(identityOf));
  const has = new Set(after.map(identityOf));
  const changed = [...has].filter((identity) => had.has(identity)).length;
  return { added: has.size - changed, removed: had.size - changed, changed, unchanged: 0 };
}

function sum(all: readonly TargetChanges[]): TargetChanges {
  const total = { added: 0, removed: 0, changed: 0, unchanged: 0 };
  for (const changes of all) {
    total.added += changes.added;
    total.removed += changes.removed;
    total.changed += changes.changed;
    total.unchanged += changes.unchanged;
  }
  return total;
}
