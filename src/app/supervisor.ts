// Runs the configured panels, and applies changed configurations.

import type { Config, PanelConfig } from '../config/config.ts';
import { affectedByChanges } from '../config/reload-effects.ts';
import type { KeptServer } from '../domain/kept-server.ts';
import type { FleetReading, PanelReading, ServerReading } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import { shortId } from '../domain/server-ids.ts';
import { isScraped } from '../metrics/event-loop-slices.ts';
import { ConnectPacer, NODE_LOOP } from '../session/connect-pacer.ts';
import { Accounts } from './accounts.ts';
import { publicUrl } from './panel-access.ts';
import { type PanelContext, type PanelShared, RunningPanel } from './running-panel.ts';
import { keepServers } from './unchanged-servers.ts';

/** How many panels and servers a new configuration changed. */
export interface ConfigChanges {
  /**
   * A `rebuilt` panel starts again, because it has another address or API (`panel` in
   * config/reload-effects.ts). A `changed` panel continues with new settings.
   */
  readonly panels: Readonly<Record<'removed' | PanelTransition['change'], number>>;
  readonly servers: Readonly<Record<'added' | 'removed' | 'changed' | 'unchanged', number>>;
}

/** The change of one panel by a new configuration. */
interface PanelTransition {
  readonly panel: RunningPanel;
  readonly change: 'added' | 'rebuilt' | 'changed' | 'unchanged';
  /** Applies the panel's new configuration, if there is one. */
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
  /** The records of each fleet when they were last joined, and the joined list. */
  #parts: readonly (readonly ServerReading[])[] = [];
  #servers: readonly ServerReading[] = [];

  constructor(config: Config, shared: PanelShared) {
    this.#accounts = new Accounts(shared.clock);
    this.#shared = {
      ...shared,
      connects: new ConnectPacer({ ...NODE_LOOP, isRendering: isScraped }),
      isTaken: (server, port) => this.#panels.some((panel) => panel.isTaken(server, port)),
    };
    this.#panels = this.#panelsHere(config).map((panel) => this.#create(panel));
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

  /** Each server's state, for the exporter's next start. */
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
  findPublicUrl(panel: string): string | undefined {
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
   * Applies a new configuration, and changes only what differs. New panels start after the removed
   * ones have stopped, so that no server has two sockets.
   *
   * @throws Error if a panel can't be built; then nothing is changed
   */
  async apply(config: Config): Promise<ConfigChanges> {
    const next = await Promise.all(this.#panelsHere(config).map((panel) => this.#kept(panel)));
    const transitions = await this.#prepare(next);
    const [before, targets] = [this.#panels, this.servers().map(({ target }) => target)];
    for (const { apply } of transitions) apply();
    const panels = transitions.map(({ panel }) => panel);
    const names = new Set(panels.map(({ config: { name } }) => name));
    const left = before.filter((panel) => !panels.includes(panel));
    this.#panels = panels;
    const servers = countServerChanges(targets, this.servers());
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
   * The panels with servers in this shard, and those that discover servers. Other shards have the
   * rest.
   */
  #panelsHere({ panels }: Config): readonly PanelConfig[] {
    return panels
      .map((panel) => ({ ...panel, servers: panel.servers.filter(this.#shared.isOurs) }))
      .filter((panel) => panel.servers.length > 0 || panel.listing?.discover !== undefined);
  }

  /** The panel's next settings, in which unchanged servers are the objects from before. */
  async #kept(next: PanelConfig): Promise<PanelConfig> {
    const before = this.#panels.find(({ config }) => config.name === next.name)?.config;
    // After a rebuild, the servers are different ones.
    if (before === undefined || affectedByChanges(before, next).has('panel')) return next;
    return { ...next, servers: await keepServers(before.servers, next.servers) };
  }

  /** Builds all new parts before anything is changed. */
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
    const affected = panel && affectedByChanges(panel.config, next);
    if (panel === undefined || affected?.has('panel') === true) {
      const change = panel === undefined ? 'added' : 'rebuilt';
      return { panel: this.#create(next), change, apply: () => undefined };
    }
    return {
      panel,
      change: affected?.size === 0 ? 'unchanged' : 'changed',
      apply: panel.prepare(next, this.#accounts),
    };
  }

  #create(panel: PanelConfig): RunningPanel {
    return new RunningPanel(panel, this.#accounts.findOrAdd(panel), this.#shared);
  }

  /** If several entries for one account set a rate, the lowest applies. */
  #pinRates(): void {
    const { total } = this.#shared.shard;
    const accounts = new Set(this.#panels.map((panel) => panel.account));
    this.#accounts.keep(accounts);
    for (const account of accounts) {
      const entries = this.#panels.filter((panel) => panel.account === account).map(({ config }) => config);
      const pinned = entries.flatMap(({ requestsPerMinute = [] }) => requestsPerMinute);
      account.limit.pin({
        pinnedPerMinute: pinned.length === 0 ? undefined : Math.min(...pinned),
        share: entries.every(({ keyPerShard }) => keyPerShard) ? 1 : 1 / total,
      });
    }
  }
}

/**
 * How many servers were added, removed or changed. An unchanged server keeps the object that
 * describes it.
 */
function countServerChanges(
  before: readonly ServerTarget[],
  now: readonly ServerReading[],
): ConfigChanges['servers'] {
  const isSame =
    before.length === now.length && before.every((target, index) => target === now[index]?.target);
  if (isSame) return { added: 0, removed: 0, changed: 0, unchanged: now.length };
  const had = new Map<string, Map<string, ServerTarget>>();
  for (const target of before) {
    const ofPanel = had.get(target.panel) ?? new Map<string, ServerTarget>();
    had.set(target.panel, ofPanel.set(shortId(target), target));
  }
  const hadAs = (target: ServerTarget) => had.get(target.panel)?.get(shortId(target));
  const kept = now.flatMap(({ target }) => (hadAs(target) === undefined ? [] : [target]));
  const unchanged = kept.filter((target) => hadAs(target) === target).length;
  return {
    added: now.length - kept.length,
    removed: before.length - kept.length,
    changed: kept.length - unchanged,
    unchanged,
  };
}
