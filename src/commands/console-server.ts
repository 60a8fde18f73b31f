import type { PanelConfig } from '../config/config.ts';
import { formatIssues } from '../config/issue.ts';
import { loadConfig } from '../config/load.ts';
import {
  type Chosen,
  choosePanels,
  chooseServer,
  isServerId,
  noSuchServer,
} from '../console/choose-server.ts';
import { listedServers, target } from '../console/find-listed.ts';
import type { Clock } from '../domain/clock.ts';
import { type OwnKey, ownKey } from './console-key.ts';
import { CommandFailure } from './failure.ts';
import { panelApi } from './open-console.ts';

/** The flags that tell which server is meant, and with whose key. */
export interface ServerFlags {
  readonly config: string;
  readonly panel?: string;
  readonly apiKeyFile?: string;
}

/** The server that is meant, on its panel with the key that is to be used. */
export interface FoundServer extends Chosen<PanelConfig> {
  /** Where the key came from, in words. */
  readonly keySource: string;
  readonly isOwnKey: boolean;
}

/** Finds a server by name or id, short or full; throws a CommandFailure where there isn't exactly one. */
export async function findServer(wanted: string, flags: ServerFlags, clock: Clock): Promise<FoundServer> {
  const own = await ownKey(flags.apiKeyFile, process.env);
  const loaded = await loadConfig(flags.config, process.env, { skipKeyFiles: own !== undefined });
  if (!loaded.ok) throw new CommandFailure(formatIssues(loaded.issues));
  const panels = choosePanels(loaded.config.panels, flags.panel);
  if (typeof panels === 'string') throw new CommandFailure(panels);
  const keyed = panels.map((panel) => withKey(panel, own));
  const chosen = chooseServer(keyed, wanted) ?? (await findElsewhere(keyed, wanted, own, clock));
  if (typeof chosen === 'string') throw new CommandFailure(chosen);
  const keySource = own?.source ?? `the configuration (${chosen.panel.apiKeySource})`;
  return { ...chosen, keySource, isOwnKey: own !== undefined };
}

function withKey(panel: PanelConfig, own: OwnKey | undefined): PanelConfig {
  return own === undefined ? panel : { ...panel, apiKey: own.key };
}

/** A server that the configuration doesn't name: one that is discovered, or any by its id where the panel is clear. */
async function findElsewhere(
  panels: readonly PanelConfig[],
  wanted: string,
  own: OwnKey | undefined,
  clock: Clock,
): Promise<Chosen<PanelConfig> | string> {
  const [only] = panels;
  if (panels.length === 1 && only !== undefined && isServerId(wanted)) {
    return { panel: only, target: target(only.name, wanted, wanted) };
  }
  const discovering = panels.filter(({ listing }) => listing?.discover !== undefined);
  if (own !== undefined && discovering.length > 1) {
    // A key is shown to its own panel alone, and whose this one is can't be told.
    return `${noSuchServer(panels, wanted)}; to look among the discovered ones, name the panel with --panel`;
  }
  const listed = await Promise.all(discovering.map((panel) => withListed(panel, clock)));
  return chooseServer(listed, wanted) ?? noSuchServer([...panels, ...listed], wanted);
}

async function withListed(panel: PanelConfig, clock: Clock): Promise<PanelConfig> {
  const api = panelApi(panel, clock);
  try {
    const { signal } = new AbortController();
    return { ...panel, servers: await listedServers(api, panel.name, panel.listing?.type, signal) };
  } catch (error) {
    throw new CommandFailure(`panel ${panel.name}: ${(error as Error).message}`, { cause: error });
  } finally {
    await api.close();
  }
}
