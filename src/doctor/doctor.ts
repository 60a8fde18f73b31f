import type { ServerTarget } from '../domain/server.ts';
import { messageOf } from './canceled.ts';
import type { ListingScope } from './panel-steps.ts';
import { type DoctorPanel, NOT_REACHED, PanelTrial, type Tools } from './panel-trial.ts';
import { type DoctorReport, failed, PANEL_STEPS, type PanelReport, skipped } from './report.ts';
import { untested } from './server-steps.ts';

/** Tries every panel concurrently, and every server of each once; ends by itself, or soon after the signal aborts. */
export async function examine(panels: readonly DoctorPanel[], tools: Tools): Promise<DoctorReport> {
  const { clock, signal } = tools;
  const startedAt = clock.now();
  const reports = await Promise.all(panels.map((panel) => examineOne(panel, tools)));
  return { panels: reports, stopped: signal.aborted, durationMs: clock.now() - startedAt };
}

function examineOne(panel: DoctorPanel, tools: Tools): Promise<PanelReport> {
  let trial: PanelTrial;
  try {
    trial = new PanelTrial(panel, tools);
  } catch (error) {
    return Promise.resolve(uncallable(panel, error));
  }
  return trial.run();
}

/** The report on a panel that can't be called because the proxy's address is invalid. */
function uncallable({ name, url, targets }: DoctorPanel, error: unknown): PanelReport {
  return {
    name,
    url,
    steps: PANEL_STEPS.map((step) =>
      step === 'reach' ? failed(step, 'proxy', messageOf(error)) : skipped(step, NOT_REACHED),
    ),
    servers: targets.map((target) => untested(target, NOT_REACHED)),
    calls: 0,
    durationMs: 0,
  };
}

/** The panel and server to try; all if absent. */
export interface DoctorSelection {
  readonly panel?: string;
  /** A server's name or id. */
  readonly server?: string;
}

/** The number of names that a message lists. */
const LISTED = 10;

/** A short id is the first part of the full one. */
const SHORT_ID = /^[0-9a-f]{8}$/i;

/**
 * The panels with the selected servers, or a message about why there are none. A server that isn't in the configuration is looked
 * up in the server lists of the panels with discovery.
 */
export function select(
  panels: readonly DoctorPanel[],
  { panel, server }: DoctorSelection,
): readonly DoctorPanel[] | string {
  const named = panels.filter(({ name }) => panel === undefined || name === panel);
  if (named.length === 0) {
    return `no panel "${panel ?? ''}" in the configuration (panels: ${listed(panels.map(({ name }) => name))})`;
  }
  if (server === undefined) return named;
  const wanted = (targets: readonly ServerTarget[]) => targets.filter((target) => isMeant(target, server));
  const narrowed = named.map(
    ({ listing, targets, ...rest }): DoctorPanel => ({
      ...rest,
      shortfall: undefined,
      targets: wanted(targets),
      listing: listing && selecting(listing, server, wanted),
    }),
  );
  const configured = narrowed.filter(({ targets }) => targets.length > 0);
  if (configured.length > 0) return configured.map(withoutDiscovery);
  const discovering = narrowed.filter(({ listing }) => listing?.discovers === true);
  if (discovering.length > 0) return discovering;
  const names = named.flatMap(({ targets }) => targets.map(({ name }) => name));
  return `no server "${server}" in the configuration (servers: ${listed(names)})`;
}

/**
 * The report without the panels that don't have the selected server, or a message if no panel has it. Panels whose servers couldn't
 * be listed stay if none has it: the server may be theirs.
 */
export function withServer(report: DoctorReport, server: string): DoctorReport | string {
  const having = report.panels.filter(({ servers }) => servers.length > 0);
  if (having.length > 0) return { ...report, panels: having };
  if (report.stopped) return report;
  const unlisted = report.panels.filter((panel) => !isListed(panel));
  if (unlisted.length > 0) return { ...report, panels: unlisted };
  const names = listed(report.panels.map(({ name }) => name));
  return `no server "${server}" in the configuration, or in what the account may see (panels: ${names})`;
}

/** Could all servers of the panel's account be listed? */
function isListed({ problem, steps }: PanelReport): boolean {
  const { result, cause } = steps.find(({ step }) => step === 'listing') ?? {};
  const isRead = result !== 'failed' || cause === 'nothing_listed' || cause === 'all_excluded';
  return problem === undefined && isRead && result !== 'skipped';
}

/** The server list, of which only the selected servers are tried. */
function selecting(
  listing: ListingScope,
  sought: string,
  wanted: (targets: readonly ServerTarget[]) => readonly ServerTarget[],
): ListingScope {
  const select: ListingScope['select'] = (walk) => {
    const selection = listing.select(walk);
    return { ...selection, targets: wanted(selection.targets), sought };
  };
  return { ...listing, select };
}

function withoutDiscovery(panel: DoctorPanel): DoctorPanel {
  return panel.listing?.discovers === true ? { ...panel, listing: undefined } : panel;
}

function isMeant({ name, id, uuid }: ServerTarget, text: string): boolean {
  const wanted = text.toLowerCase();
  const ids = [id, ...(uuid === undefined ? [] : [uuid])].map((one) => one.toLowerCase());
  if (name === text || ids.includes(wanted)) return true;
  return ids.some((one) => shortOf(one) === shortOf(wanted) && (SHORT_ID.test(one) || SHORT_ID.test(wanted)));
}

const shortOf = (id: string) => id.slice(0, 8);

function listed(names: readonly string[]): string {
  const rest = names.length - LISTED;
  return `${names.slice(0, LISTED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
