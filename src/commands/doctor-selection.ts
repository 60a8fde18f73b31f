import type { Config, PanelConfig } from '../config/config.ts';
import { SERVER_ID } from '../config/server-schema.ts';
import type { DoctorReport, FoundProblem } from '../doctor/report.ts';
import { listed } from '../domain/sentences.ts';
import { isSameServer } from '../domain/server.ts';
import type { ServerIdentity } from '../fleet/listing.ts';

/** The panel and server to run; all if absent. */
export interface DoctorSelection {
  readonly panel?: string;
  /** A server's name or id. */
  readonly server?: string;
}

/** The selected part of a configuration. */
interface SelectedConfig {
  readonly config: Config;
  /** Is the server, configured or discovered, one of those to run? */
  readonly isMeant?: (server: ServerIdentity) => boolean;
}

/** The number of names that a message lists. */
const LISTED = 10;

const ONLY_ID = new RegExp(`^${SERVER_ID}$`);

/**
 * The selected part of a configuration, or a message about why there is none. A server that isn't in the configuration is looked up
 * in the server lists of the panels with `discover`.
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
  const isMeant = (one: ServerIdentity) => isNamed(one, server);
  const having = named.filter(({ servers }) => servers.some(isMeant));
  if (having.length > 0) return { config: { ...config, panels: having.map(withoutDiscovery) }, isMeant };
  const discovering = named.filter(({ listing }) => listing?.discover !== undefined);
  if (discovering.length > 0) return { config: { ...config, panels: discovering }, isMeant };
  const names = named.flatMap(({ servers }) => servers.map(({ name }) => name));
  return `no server "${server}" in the configuration (servers: ${listed(names, LISTED)})`;
}

/**
 * The report without the panels that don't have the selected server, or a message if no panel has it. Panels whose servers couldn't
 * be listed stay if none has it: the server may be theirs.
 */
export function withServer(report: DoctorReport, server: string): DoctorReport | string {
  const panels = report.panels.map((panel) => ({ ...panel, selection: undefined }));
  const having = panels.filter(({ servers }) => servers.length > 0);
  if (having.length > 0) return { ...report, panels: having };
  if (report.stopped) return report;
  const unread = panels.filter(({ problems }) => problems.some(mayHideServers));
  if (unread.length > 0) return { ...report, panels: unread };
  return `no server "${server}" in the configuration, or in what the account may see (panels: ${listed(
    panels.map(({ name }) => name),
    LISTED,
  )})`;
}

/** Does the problem leave it open which servers the panel has? */
function mayHideServers({ result, cause }: FoundProblem): boolean {
  return result === 'failed' && cause !== 'nothing_listed' && cause !== 'all_excluded';
}

function withoutDiscovery(panel: PanelConfig): PanelConfig {
  if (panel.listing?.discover === undefined) return panel;
  const { discover: _, ...listing } = panel.listing;
  return { ...panel, listing };
}

function isNamed(server: ServerIdentity, text: string): boolean {
  return server.name === text || (ONLY_ID.test(text) && isSameServer(server, { id: text }));
}
