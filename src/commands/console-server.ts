// Finds the server that `console` connects to.

import type { PanelConfig } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { isServerId } from '../config/server-schema.ts';
import type { Clock } from '../domain/clock.ts';
import type { ServerTarget } from '../domain/server.ts';
import { canonicalId } from '../domain/server-ids.ts';
import { walkListing } from '../fleet/listing-walk.ts';
import type { ListingQuery } from '../panel/requests.ts';
import { printable } from '../text/printable.ts';
import { listed } from '../text/sentences.ts';
import { formatIssues } from '../yaml/issues.ts';
import { panelApi } from './api-client.ts';
import { CommandFailure } from './command-failure.ts';
import { ownKey } from './console-key.ts';

/** The flags that select the server and the API key. */
export interface ServerFlags {
  readonly config: string;
  readonly panel?: string;
  readonly apiKeyFile?: string;
}

/**
 * Finds a server by name, short id or full id, and returns the source of the user's own key. Throws
 * a CommandFailure if no server is found.
 */
export async function findServer(wanted: string, flags: ServerFlags, clock: Clock) {
  const own = await ownKey(flags.apiKeyFile);
  const loaded = await loadConfig(flags.config, process.env, own !== undefined);
  if (!loaded.ok) throw new CommandFailure(formatIssues(loaded.issues));
  const withKey = (one: PanelConfig) => (own === undefined ? one : { ...one, apiKey: own.key });
  const all = loaded.config.panels.map(withKey);
  const panels = all.filter(({ name }) => flags.panel === undefined || name === flags.panel);
  if (panels.length === 0)
    throw new CommandFailure(`no panel "${flags.panel}" in the configuration (panels: ${listNames(all)})`);
  const configured = chooseServer(panels.flatMap(panelServers), wanted);
  // A name in the configuration may also be the id of a discovered server on another panel.
  const isCertain = panels.length === 1 || own !== undefined || !isServerId(wanted);
  const isFound = configured !== undefined && (isCertain || hasId(configured.target, wanted));
  const chosen = isFound ? configured : await findElsewhere(panels, wanted, own !== undefined, clock);
  return { ...chosen, ownKeySource: own?.source };
}

/**
 * Finds a server that isn't in the configuration: a discovered one, or any server by its id if the
 * panel is unambiguous.
 */
async function findElsewhere(panels: readonly PanelConfig[], wanted: string, isOwn: boolean, clock: Clock) {
  const [only] = panels;
  if (only !== undefined && panels.length === 1 && isServerId(wanted))
    return { panel: only, target: target(only.name, canonicalId(wanted), wanted) };
  // A person's key is sent only to its own panel, and neither the key nor the server shows which
  // one that is.
  const mayList = !isOwn || panels.length === 1;
  const all = mayList ? await Promise.all(panels.map((panel) => withListed(panel, clock))) : panels;
  const servers = all.flatMap(panelServers);
  const chosen = mayList ? chooseServer(servers, wanted) : undefined;
  if (chosen !== undefined) return chosen;
  const names =
    servers.length === 0 ? 'it contains none' : `servers: ${listNames(servers.map((one) => one.target))}`;
  const advice = `; your own key is sent only to a panel that you select: add --panel <name> (panels: ${listNames(panels)})`;
  throw new CommandFailure(
    `no server "${printable(wanted)}" in the configuration (${names})${mayList ? '' : advice}`,
  );
}

/** The panel with the servers that it discovers, after those of the configuration. */
async function withListed(panel: PanelConfig, clock: Clock): Promise<PanelConfig> {
  const { listing, name } = panel;
  if (listing?.discover === undefined) return panel;
  const api = panelApi(panel, clock);
  const { signal } = new AbortController();
  const read = async (query: ListingQuery) =>
    (await api.get('listing', { ...query, type: listing.type }, signal)).value;
  const { servers, complete, problem } = await walkListing(read);
  await api.close();
  if (!complete) throw new CommandFailure(`panel ${name}: ${problem?.message}`, { cause: problem });
  const others = servers.filter(({ uuid }) => !panel.servers.some((one) => hasId(one, uuid)));
  const discovered = others.map(({ uuid, name: one, daemon }) => target(name, uuid, one, daemon));
  return { ...panel, servers: [...panel.servers, ...discovered] };
}

/** A server that isn't in the configuration. */
export function target(panel: string, id: string, name: string, daemon?: string): ServerTarget {
  return { panel, id, name, labels: {}, expect: 'any', mode: 'socket', limits: {}, daemon };
}

export const panelServers = (panel: PanelConfig) =>
  panel.servers.map((server) => ({ panel, target: server }));

/** A server and its panel. */
type Chosen = ReturnType<typeof panelServers>[number];

/**
 * The server with this short id, full id or name. Throws a CommandFailure if there are several. An
 * id takes precedence over a name only within one panel, because a server of another panel may be
 * named `1a7ce997`.
 */
export function chooseServer(servers: readonly Chosen[], wanted: string): Chosen | undefined {
  const identified = servers.filter((one) => hasId(one.target, wanted));
  const called = servers.filter((one) => one.target.name === wanted || identified.includes(one));
  const isOnePanel = new Set(servers.map(({ panel }) => panel)).size === 1;
  const found = isOnePanel && identified.length > 0 ? identified : called;
  if (found.length <= 1) return found[0];
  const each = found.map(
    (one) => `${printable(one.target.name)} (${one.target.id}) on panel ${one.panel.name}`,
  );
  const matches = `"${printable(wanted)}" matches more than one server: ${each.join(', ')}`;
  throw new CommandFailure(`${matches}; select the panel with --panel, or use an id`);
}

function listNames(all: readonly { readonly name: string }[]): string {
  const names = all.map(({ name }) => printable(name));
  return listed(names, 10);
}

/** Whether the text is the server's id; the short id is the beginning of the full one. */
function hasId({ id, uuid = id }: ServerTarget, wanted: string): boolean {
  const text = canonicalId(wanted).toLowerCase();
  const ids = [id, uuid].map((one) => one.toLowerCase());
  return isServerId(wanted) && ids.some((one) => one.startsWith(text) || text.startsWith(one));
}
