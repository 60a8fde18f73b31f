import { type Config, isSameConnection, isSameSettings, type PanelConfig } from '../config/config.ts';
import { identityOf } from '../domain/server.ts';
import type { TargetChanges } from '../fleet/members.ts';
import { isInShard, type Shard } from '../fleet/shard.ts';
import { Supervisor } from '../fleet/supervisor.ts';
import { createPanelUnit, type PanelShared, type PanelUnit } from './panel-unit.ts';

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
