import type { PanelConfig } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { apiKeyOfFile, apiKeyProblem } from '../config/values.ts';
import {
  type Chosen,
  choosePanels,
  chooseServer,
  hasId,
  isServerId,
  namesOf,
  noSuchServer,
} from '../console/choose-server.ts';
import { listedServers, target } from '../console/find-listed.ts';
import type { Clock } from '../domain/clock.ts';
import { Secret } from '../domain/secret.ts';
import type { ListedServer } from '../panel/dialect.ts';
import { formatIssues } from '../yaml/issues.ts';
import { API_KEY_FILE, readTextFile } from '../yaml/text-file.ts';
import type { Environment } from '../yaml/variables.ts';
import { CommandFailure } from './command-line.ts';
import { panelApi } from './panel-api.ts';

/** The flags that select the server and the API key. */
export interface ServerFlags {
  readonly config: string;
  readonly panel?: string;
  readonly apiKeyFile?: string;
}

/** The selected server, on its panel with the API key to use. */
export interface FoundServer extends Chosen<PanelConfig> {
  /** A description of where the key came from. */
  readonly keySource: string;
  readonly isOwnKey: boolean;
}

/** Finds a server by name or id, short or full; throws a CommandFailure unless there is exactly one. */
export async function findServer(wanted: string, flags: ServerFlags, clock: Clock): Promise<FoundServer> {
  const own = await ownKey(flags.apiKeyFile, process.env);
  const loaded = await loadConfig(flags.config, process.env, { skipKeyFiles: own !== undefined });
  if (!loaded.ok) throw new CommandFailure(formatIssues(loaded.issues));
  const panels = choosePanels(loaded.config.panels, flags.panel);
  if (typeof panels === 'string') throw new CommandFailure(panels);
  const keyed = panels.map((panel) => withKey(panel, own));
  const configured = chooseServer(keyed, wanted);
  const chosen = isCertain(configured, keyed, wanted, own)
    ? configured
    : await findElsewhere(keyed, wanted, own, clock);
  if (typeof chosen === 'string') throw new CommandFailure(chosen);
  const keySource = own?.source ?? `the configuration (${chosen.panel.apiKeySource})`;
  return { ...chosen, keySource, isOwnKey: own !== undefined };
}

/** Whether no discovered server can be meant: one of another panel can have the id that is a name in the configuration. */
function isCertain<Configured extends Chosen<PanelConfig> | string>(
  configured: Configured | undefined,
  panels: readonly PanelConfig[],
  wanted: string,
  own: OwnKey | undefined,
): configured is Configured {
  if (configured === undefined) return false;
  if (typeof configured === 'string' || panels.length === 1 || own !== undefined) return true;
  return !isServerId(wanted) || hasId(configured.target, wanted);
}

function withKey(panel: PanelConfig, own: OwnKey | undefined): PanelConfig {
  return own === undefined ? panel : { ...panel, apiKey: own.key };
}

/** Finds a server that isn't in the configuration: a discovered one, or any server by its id if the panel is unambiguous. */
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
  if (own !== undefined && panels.length > 1) {
    // A key is only sent to its own panel, which can't be derived from the key or the server.
    return `${noSuchServer(panels, wanted)}; your own key is sent only to a panel that you select: add --panel <name> (panels: ${namesOf(panels)})`;
  }
  const listed = await Promise.all(panels.map((panel) => withListed(panel, clock)));
  return chooseServer(listed, wanted) ?? noSuchServer(listed, wanted);
}

/** The panel with the servers that it discovers, after those of the configuration. */
async function withListed(panel: PanelConfig, clock: Clock): Promise<PanelConfig> {
  if (panel.listing?.discover === undefined) return panel;
  const servers = (await listing(panel, clock)).map(({ uuid, name }) => target(panel.name, uuid, name));
  return { ...panel, servers: [...panel.servers, ...servers] };
}

/** The servers in a panel's server list; throws a CommandFailure if it can't be read. */
async function listing(panel: PanelConfig, clock: Clock): Promise<readonly ListedServer[]> {
  const api = panelApi(panel, clock);
  try {
    return await listedServers(api, panel.listing?.type, new AbortController().signal);
  } catch (error) {
    throw new CommandFailure(`panel ${panel.name}: ${(error as Error).message}`, { cause: error });
  } finally {
    await api.close();
  }
}

/** The environment variable with the user's own key. */
export const KEY_VARIABLE = 'GAMESERVER_CONSOLE_API_KEY';

/** The user's own API key. */
interface OwnKey {
  readonly key: Secret;
  /** A description of where the key came from. */
  readonly source: string;
}

/** The key in the file, or else in the variable, or none; throws a CommandFailure if it is invalid. */
async function ownKey(file: string | undefined, env: Environment): Promise<OwnKey | undefined> {
  if (file !== undefined) {
    const read = await readTextFile(file, API_KEY_FILE);
    const shown = JSON.stringify(file);
    if (!read.ok) throw new CommandFailure(`--api-key-file ${shown} can't be read: ${read.problem}`);
    return checked(apiKeyOfFile(read.content), `the file ${shown}`);
  }
  const value = env[KEY_VARIABLE];
  return value === undefined || value === '' ? undefined : checked(value, KEY_VARIABLE);
}

function checked(key: string, source: string): OwnKey {
  const problem = apiKeyProblem(key);
  if (problem !== undefined) throw new CommandFailure(`${source}: ${problem}`);
  return { key: new Secret(key), source };
}
