// Restricts `doctor` to the panel and the server that its flags name.

import type { Config, PanelConfig } from '../config/config.ts';
import { isServerId } from '../config/server-schema.ts';
import type { DoctorReport, FoundProblem, PanelReport } from '../doctor/report.ts';
import { canonicalId, isSameServer } from '../domain/server-ids.ts';
import type { ServerIdentity } from '../fleet/discover-rules.ts';
import { isUnnamed } from '../fleet/discovered-targets.ts';
import { listed } from '../text/sentences.ts';
import { mostSimilar } from '../yaml/most-similar.ts';

/** The panel and server to run; all if absent. */
export interface DoctorSelection {
  readonly panel?: string;
  /** A server's name or id. */
  readonly server?: string;
}

/** The selected part of a configuration. */
interface SelectedConfig {
  readonly config: Config;
  /** Whether the server is selected, whether it is configured or discovered. */
  readonly isMeant?: (server: ServerIdentity) => boolean;
}

/** The number of names that a message lists. */
const LISTED = 10;

/**
 * The selected part of a configuration, or a message about why there is none. A server that isn't
 * in the configuration is looked up in the server lists of the panels with `discover`.
 */
export function select(config: Config, { panel, server }: DoctorSelection): SelectedConfig | string {
  const named = config.panels.filter(({ name }) => panel === undefined || name === panel);
  if (named.length === 0) {
    return `no panel "${panel ?? ''}" in the configuration (panels: ${listed(
      config.panels.map(({ name }) => name),
      LISTED,
    )})`;
  }
  if (server === undefined) return { config: { ...config, panels: named } };
  const discovers = new Set(named.filter(({ listing }) => listing?.discover).map(({ name }) => name));
  // A server without a name is kept until the server list has its name.
  const isMeant = (one: ServerIdentity) =>
    isNamed(one, server) || (discovers.has(one.panel) && isUnnamed(one));
  const having = named.filter(({ servers }) => servers.some((one) => isNamed(one, server)));
  if (having.length > 0)
    return {
      config: { ...config, panels: having.map(withoutDiscovery) },
      isMeant: (one) => isNamed(one, server),
    };
  const discovering = named.filter(({ listing }) => listing?.discover !== undefined);
  if (discovering.length > 0) return { config: { ...config, panels: discovering }, isMeant };
  const names = named.flatMap(({ servers }) => servers.map(({ name }) => name));
  return `no server "${server}" in the configuration (${advice(server, names)}servers: ${listed(names, LISTED)})`;
}

/**
 * The report without panels that lack the selected server, or a message if no panel has it. A panel
 * whose servers couldn't be listed stays, because it may have the server.
 */
export function withServer(report: DoctorReport, server: string): DoctorReport | string {
  const panels = report.panels.map((panel) => onlyNamed(panel, server));
  const having = panels.filter(({ servers }) => servers.length > 0);
  if (having.length > 0) return { ...report, panels: having };
  if (report.stopped) return report;
  const unread = panels.filter(({ problems, isListRead }) => !isListRead || problems.some(mayHideServers));
  if (unread.length > 0) return { ...report, panels: unread };
  const known = panels.flatMap(({ listedNames }) => listedNames);
  return `no server "${server}" in the configuration, or among the account's servers (${advice(server, known)}panels: ${listed(
    panels.map(({ name }) => name),
    LISTED,
  )})`;
}

/** Removes other servers, which may have been tested before the server list had their names. */
function onlyNamed(panel: PanelReport, server: string): PanelReport {
  const servers = panel.servers.filter((one) => isNamed({ panel: panel.name, ...one }, server));
  const isOfOthers = ({ servers: names }: FoundProblem) =>
    names.length > 0 && !names.some((name) => servers.some((one) => one.name === name));
  const problems = panel.problems.filter((problem) => !isOfOthers(problem));
  return { ...panel, selection: undefined, servers, problems };
}

/** "Did you mean" for a similar name, else an empty text. */
function advice(server: string, names: readonly string[]): string {
  const meant = mostSimilar(server, names);
  return meant === undefined ? '' : `did you mean "${meant}"? `;
}

/** Whether the problem may hide servers of the panel. */
function mayHideServers({ result, cause }: FoundProblem): boolean {
  return result === 'failed' && cause !== 'nothing_listed' && cause !== 'all_excluded';
}

function withoutDiscovery(panel: PanelConfig): PanelConfig {
  if (panel.listing?.discover === undefined) return panel;
  const { discover: _, ...listing } = panel.listing;
  return { ...panel, listing };
}

function isNamed(server: ServerIdentity, text: string): boolean {
  return server.name === text || (isServerId(text) && isSameServer(server, { id: canonicalId(text) }));
}
