// The panels at one instant, for the page.
import type { BudgetReading, NeedsReading, PanelReading } from '../../domain/reading.ts';
import { quantity } from '../../text/sentences.ts';
import type { BoardSource } from './board-source.ts';
import type { Complaint } from './complaint.ts';
import { mergeComplaints, panelComplaints } from './panel-complaints.ts';

/** One panel on the page. */
export interface PanelStatus {
  readonly name: string;
  readonly url: string | undefined;
  /**
   * Complaints about the panel, its API key, the connection to it, and its nodes. A panel that is
   * up may have some, too.
   */
  readonly complaints: readonly Complaint[];
  readonly budget: Pick<BudgetReading, 'limitPerMinute' | 'usedLastMinute' | 'queueLength' | 'paused'>;
  readonly rateLimited: number;
  /** The required calls and sockets, and the allowed number if it is lower. */
  readonly needs: string;
}

export interface PanelsStatus {
  readonly panels: readonly PanelStatus[];
  /** Most serious first. Panels or nodes with the same problem share one. */
  readonly complaints: readonly Complaint[];
  /** The message if there are no servers. */
  readonly emptyBecause: string;
}

export function panelsStatus({ fleet, clock, rateLimited, panelUrl }: BoardSource): PanelsStatus {
  const readings = fleet.panels();
  const found = readings.map((panel) =>
    panelComplaints(panel, fleet.servers(), clock, readings.length === 1),
  );
  const panels = readings.map(({ name, budget, needs }, place): PanelStatus => {
    const { usedLastMinute, queueLength, paused } = budget;
    const limitPerMinute = Math.round(budget.limitPerMinute);
    return {
      name,
      url: panelUrl?.(name),
      complaints: mergeComplaints(found[place] ?? []),
      budget: { limitPerMinute, usedLastMinute, queueLength, paused },
      rateLimited: rateLimited(name),
      needs: needsText(needs, limitPerMinute),
    };
  });
  return { panels, complaints: mergeComplaints(found.flat()), emptyBecause: emptyBecause(readings) };
}

function emptyBecause(panels: readonly PanelReading[]): string {
  const listed = panels.filter(({ discovery }) => discovery !== undefined);
  const unread = listed.filter(({ discovery }) => discovery?.succeededUnixMs === undefined);
  // A panel with a problem doesn't respond, so nothing waits for its list.
  if (unread.some(({ discovery, problems }) => discovery?.isPending !== true || problems.length > 0)) {
    return 'No servers known yet: a server list could not be read. See the problem above, or the log.';
  }
  if (unread.length > 0) return 'No servers known yet: waiting for the server list.';
  return listed.length > 0
    ? 'No servers to monitor. Check which servers the account of the API key can access, and the rules of `discover`.'
    : 'No servers to monitor. List them under `servers`, or set `discover: true`.';
}

function needsText(needs: NeedsReading, limitPerMinute: number): string {
  const { requiredSockets: sockets, allowedSockets, polls } = needs;
  const calls = Math.ceil(needs.requiredCallsPerMinute);
  const required = [
    `${quantity(calls, 'API call')} per minute${calls > limitPerMinute ? `, ${limitPerMinute} allowed` : ''}`,
    ...(sockets > allowedSockets
      ? [`${quantity(sockets, 'console socket')}, ${allowedSockets} allowed`]
      : []),
  ];
  return `Streams ${quantity(sockets, 'server')}, polls ${polls}. Needs ${required.join(' and ')}.`;
}
