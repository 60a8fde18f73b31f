import {
  type Config,
  isSameConnection,
  isSameKey,
  isSameSettings,
  type PanelConfig,
} from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import { identityOf } from '../domain/server.ts';
import type { TargetChanges } from '../fleet/members.ts';
import { type PanelContext, PanelFleet } from '../fleet/panel-fleet.ts';
import { isInShard, type Shard } from '../fleet/shard.ts';
import type { SocketLimit } from '../fleet/socket-limit.ts';
import { Supervisor } from '../fleet/supervisor.ts';
import type { SelfMetrics } from '../metrics/self.ts';
import type { NameLookups } from '../names/name-lookups.ts';
import { PanelApi } from '../panel/api.ts';
import { Gateway } from '../panel/gateway.ts';
import { RateLimit } from '../panel/rate-limit.ts';
import { apiAccess, type SharedQueryAccess, socketAccess } from './panel-access.ts';

/** What all panels share. */
interface PanelShared {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly self: SelfMetrics;
  readonly shard: Shard;
  readonly socketLimit: SocketLimit;
  /** By account. */
  readonly limits: Map<string, RateLimit>;
  readonly queries: SharedQueryAccess;
  readonly names: NameLookups;
}

/** The rate limit of the panel's account: entries with the same address and key share one. */
function limitOf(panel: PanelConfig, { clock, limits, shard }: PanelShared): RateLimit {
  const { url, apiKey, requestsPerMinute, keyPerShard } = panel;
  const account = JSON.stringify([url, apiKey.reveal(), requestsPerMinute, keyPerShard]);
  const share = keyPerShard ? 1 : 1 / shard.total;
  const limit = limits.get(account) ?? new RateLimit({ clock, pinnedPerMinute: requestsPerMinute, share });
  limits.set(account, limit);
  return limit;
}

/** One running panel of the configuration. */
interface PanelUnit {
  /** The configuration currently in use. */
  readonly config: PanelConfig;
  readonly fleet: PanelFleet;
  /** Applies a new configuration with the same connection; unchanged servers are not affected. */
  update(next: PanelConfig): TargetChanges;
}

/**
 * Builds the parts of one panel; nothing is opened before its fleet is started.
 *
 * @throws Error if the environment's proxy is invalid
 */
function createPanelUnit(panel: PanelConfig, shared: PanelShared): PanelUnit {
  const { clock, log, random, self, shard, socketLimit, queries, names } = shared;
  const resolve = names.forPanel();
  let config = panel;
  const telemetry = self.telemetry(panel.name);
  const context: PanelContext = {
    clock,
    log,
    random,
    telemetry,
    gateway: new Gateway({
      ...apiAccess(panel, clock, resolve),
      apiKey: () => config.apiKey.reveal(),
      telemetry,
      clock,
      log,
      limit: limitOf(panel, shared),
    }),
    ...socketAccess(panel, clock, resolve, () => socketLimit.take()),
    openNodes: (apiKey) =>
      new PanelApi({ ...apiAccess(panel, clock, resolve), apiKey: () => apiKey.reveal(), telemetry }),
    socketLimit,
    queries: { ...queries, resolve, panelUrl: panel.url },
    isOurs: (server) => isInShard(server, shard),
  };
  const ratePinned = panel.requestsPerMinute !== undefined;
  const fleet = new PanelFleet({ ...panel, ratePinned }, panel, context);
  return {
    get config() {
      return config;
    },
    fleet,
    update: (next) => {
      const before = config;
      config = next;
      if (before.pollIntervalMs !== next.pollIntervalMs || before.stalenessMs !== next.stalenessMs) {
        fleet.setIntervals(next);
      }
      const changes = fleet.setSelection(next);
      if (!isSameKey(before, next)) fleet.keyChanged();
      return changes;
    },
  };
}

/** What a new configuration changed, in numbers. */
export interface ConfigChanges {
  /** A `rebuilt` panel gets new connections; a `changed` one got another API key or other intervals. */
  readonly panels: Readonly<Record<'added' | 'removed' | 'rebuilt' | 'changed' | 'unchanged', number>>;
  readonly servers: TargetChanges;
}

/** What happens to one panel when the configuration changes. */
interface PanelTransition {
  readonly panel: PanelConfig;
  readonly unit: PanelUnit;
  /** The previous configuration, if there was one. */
  readonly before: PanelConfig | undefined;
  readonly isKept: boolean;
}

/** The running panels, and how they are updated to a new configuration. */
export class PanelSet {
  readonly supervisor: Supervisor;
  readonly #shared: PanelShared;
  #units: readonly PanelUnit[];

  constructor(config: Config, shared: PanelShared) {
    this.#shared = shared;
    this.#units = panelsOf(config, shared.shard).map((panel) => createPanelUnit(panel, shared));
    this.supervisor = new Supervisor(this.#units.map((unit) => unit.fleet));
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
    const transitions = await this.#prepare(panelsOf(config, this.#shared.shard), before);
    const changes = countPanels(transitions, before);
    const servers = transitions.map((transition) =>
      transition.isKept
        ? transition.unit.update(transition.panel)
        : compareServers(transition.before, transition.panel),
    );
    const wanted = new Set(transitions.map(({ panel }) => panel.name));
    const left = [...before.values()].filter((unit) => !wanted.has(unit.config.name));
    const gone = left.map((unit) => compareServers(unit.config, undefined));
    this.#units = transitions.map((transition) => transition.unit);
    await this.supervisor.setFleets(this.#units.map((unit) => unit.fleet));
    return { panels: changes, servers: sum([...servers, ...gone]) };
  }

  /** Builds everything new before anything else is touched. */
  async #prepare(
    panels: readonly PanelConfig[],
    before: ReadonlyMap<string, PanelUnit>,
  ): Promise<readonly PanelTransition[]> {
    const transitions: PanelTransition[] = [];
    try {
      for (const panel of panels) {
        const unit = before.get(panel.name);
        const isKept = unit !== undefined && isSameConnection(unit.config, panel);
        const next = isKept ? unit : createPanelUnit(panel, this.#shared);
        transitions.push({ panel, unit: next, before: unit?.config, isKept });
      }
      return transitions;
    } catch (error) {
      await Promise.all(transitions.filter(({ isKept }) => !isKept).map(({ unit }) => unit.fleet.stop()));
      throw error;
    }
  }
}

/**
 * Where people open a panel, without a trailing slash. The exporter may use an internal address, but the origin that the panel's
 * nodes expect is the panel's own.
 */
export function publicUrl({ origin, url }: Pick<PanelConfig, 'origin' | 'url'>): string {
  return origin + new URL(url).pathname.replace(/\/+$/, '');
}

/** The panels with servers of this shard; a panel that has none here and discovers none is left to other shards. */
function panelsOf({ panels }: Config, shard: Shard): readonly PanelConfig[] {
  return panels
    .map((panel) => ({ ...panel, servers: panel.servers.filter((server) => isInShard(server, shard)) }))
    .filter((panel) => panel.servers.length > 0 || panel.listing?.discover !== undefined);
}

function countPanels(
  transitions: readonly PanelTransition[],
  before: ReadonlyMap<string, PanelUnit>,
): ConfigChanges['panels'] {
  const panels = { added: 0, removed: 0, rebuilt: 0, changed: 0, unchanged: 0 };
  for (const transition of transitions) panels[changeOf(transition)] += 1;
  panels.removed = before.size - (transitions.length - panels.added);
  return panels;
}

function changeOf({ panel, before, isKept }: PanelTransition): 'added' | 'rebuilt' | 'changed' | 'unchanged' {
  if (before === undefined) return 'added';
  if (!isKept) return 'rebuilt';
  return isSameSettings(before, panel) ? 'unchanged' : 'changed';
}

/** Counts the servers of a panel that is added, removed or rebuilt: none of them stays unchanged. */
function compareServers(before: PanelConfig | undefined, after: PanelConfig | undefined): TargetChanges {
  const had = new Set(before?.servers.map(identityOf));
  const has = new Set(after?.servers.map(identityOf));
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
