import { CAUSES, shortTitle } from '../../diagnosis/causes.ts';
import type { CauseCode, Problem } from '../../domain/problems.ts';
import type {
  BudgetReading,
  FleetReading,
  NeedsReading,
  PanelReading,
  ServerReading,
} from '../../domain/reading.ts';
import { counted } from '../../domain/sentences.ts';
import type { Clock } from '../../domain/time.ts';
import { panelViewOf } from '../../metrics/families.ts';
import { type Complaint, isFact } from './complaint.ts';
import { things } from './words.ts';

/** One panel as the page shows it. */
export interface PanelStatus {
  readonly name: string;
  readonly url: string | undefined;
  /** What is wrong with the panel, its API key, the connection to it, and its nodes; a panel that is up may have some, too. */
  readonly complaints: readonly Complaint[];
  readonly budget: Pick<BudgetReading, 'limitPerMinute' | 'usedLastMinute' | 'queueLength' | 'paused'>;
  readonly rateLimited: number;
  /** What the configuration requires of it, and how much of that is allowed if that is less. */
  readonly needs: string;
}

/** The panels at one instant, and what is wrong with them together. */
export interface PanelsStatus {
  readonly panels: readonly PanelStatus[];
  /** The most serious first; panels or nodes that have the same problem share one. */
  readonly complaints: readonly Complaint[];
  /** Why there are no servers, in case there are none. */
  readonly emptyBecause: string;
}

/** What the page and `/api/v1` show. */
export interface BoardSource {
  readonly fleet: FleetReading;
  readonly clock: Clock;
  readonly version: string;
  /** The number of 429 responses of a panel since the exporter started. */
  readonly rateLimited: (panel: string) => number;
  /** The address at which people open a panel, from the configuration; without a trailing slash. */
  readonly panelUrl?: ((panel: string) => string | undefined) | undefined;
}

export function panelsStatus({ fleet, clock, rateLimited, panelUrl }: BoardSource): PanelsStatus {
  const readings = fleet.panels();
  const now = clock.now();
  const found = readings.map((panel) => singlesOf(panel, fleet.servers(), now, readings.length === 1));
  const panels = readings.map(({ name, budget, needs }, place): PanelStatus => {
    const { usedLastMinute, queueLength, paused } = budget;
    const limitPerMinute = Math.round(budget.limitPerMinute);
    return {
      name,
      url: panelUrl?.(name),
      complaints: together(found[place] ?? []),
      budget: { limitPerMinute, usedLastMinute, queueLength, paused },
      rateLimited: rateLimited(name),
      needs: needsText(needs, limitPerMinute),
    };
  });
  return { panels, complaints: together(found.flat()), emptyBecause: emptyBecause(readings) };
}

function emptyBecause(panels: readonly PanelReading[]): string {
  const listed = panels.filter(({ discovery }) => discovery !== undefined);
  const unread = listed.filter(({ discovery }) => discovery?.succeededUnixMs === undefined);
  // A panel with a problem doesn't respond, so its list isn't awaited.
  if (unread.some(({ discovery, problems }) => discovery?.isPending !== true || problems.length > 0)) {
    return 'No servers known yet: a server list could not be read. See the problem above, or the log.';
  }
  if (unread.length > 0) return 'No servers known yet: waiting for the server list.';
  return listed.length > 0
    ? 'No servers to monitor. Check which servers the account of the API key can access, and the rules of discover.'
    : 'No servers to monitor. List them under servers, or set discover: true.';
}

function needsText(needs: NeedsReading, limitPerMinute: number): string {
  const { requiredSockets: sockets, allowedSockets, polls } = needs;
  const calls = Math.ceil(needs.requiredCallsPerMinute);
  const required = [
    `${counted(calls, 'API call')} per minute${calls > limitPerMinute ? `, ${limitPerMinute} allowed` : ''}`,
    ...(sockets > allowedSockets ? [`${counted(sockets, 'console socket')}, ${allowedSockets} allowed`] : []),
  ];
  return `${counted(sockets, 'server')} to stream, ${polls} to poll: needs ${required.join('; needs ')}.`;
}

/** What is wrong with one panel or node; the same about several is told together. */
interface SingleComplaint {
  readonly complaint: Complaint;
  readonly name: string;
  /** What has this name, and whether it is down. */
  readonly subject: 'Panel' | 'Node';
  readonly isDown: boolean;
}

function singlesOf(
  panel: PanelReading,
  servers: readonly ServerReading[],
  now: number,
  isOnly: boolean,
): readonly SingleComplaint[] {
  const { name, up, problems, nodes } = panelViewOf(panel, now);
  const down = nodes.filter((node) => !node.up);
  const others = (up ? problems : problems.slice(1)).map(complaintAbout);
  // A panel or node that is down has a complaint of its own.
  const silent = up && down.length === 0 ? notStreaming(servers, name) : [];
  const ofPanel = (complaint: Complaint, isDown = false) =>
    ({ complaint, name, subject: 'Panel', isDown }) as const;
  return [
    ...(up ? [] : [ofPanel(downComplaint(problems[0]), true)]),
    ...[...others, ...silent].map((complaint) => ofPanel(complaint)),
    ...down.map(({ name: node, problem }): SingleComplaint => {
      const fullName = isOnly ? node : `${node} (${name})`;
      return { complaint: downComplaint(problem), name: fullName, subject: 'Node', isDown: true };
    }),
  ];
}

function complaintAbout({ cause, detail }: Problem): Complaint {
  const { severity, title, remedy } = CAUSES[cause];
  return { severity, title, action: remedy, detail };
}

function downComplaint(problem: Problem | undefined): Complaint {
  const severity = 'error';
  if (problem === undefined) return { severity, title: '', action: '', detail: '' };
  return { ...complaintAbout(problem), severity, title: shortTitle(problem.cause) };
}

/** The complaint, if any, about a panel of whose servers most don't stream although they should, with their most frequent cause. */
function notStreaming(servers: readonly ServerReading[], panel: string): readonly Complaint[] {
  const required = servers.filter(
    ({ target, status }) =>
      target.panel === panel && target.mode !== 'poll' && !isFact(status.problem?.cause),
  );
  // Without a problem, a server is connecting or waits for its call.
  const affected = required.flatMap(({ status: { problem, condition } }) =>
    problem === undefined || condition === 'streaming' ? [] : [problem.cause],
  );
  const byCause = new Map<CauseCode, number>();
  for (const cause of affected) byCause.set(cause, (byCause.get(cause) ?? 0) + 1);
  const [cause] = [...byCause].sort(([, one], [, other]) => other - one)[0] ?? [];
  if (cause === undefined || affected.length * 2 <= required.length) return [];
  const complaint = complaintAbout({ cause, detail: '' });
  const title = `${affected.length} of ${required.length} servers not streaming: ${complaint.title}`;
  return [{ ...complaint, severity: 'warning', title }];
}

/** Complaints about the same are one; the most serious come first. */
function together(singles: readonly SingleComplaint[]): readonly Complaint[] {
  const groups = new Map<string, [SingleComplaint, ...SingleComplaint[]]>();
  for (const single of singles) {
    const key = `${single.subject} ${single.isDown} ${single.complaint.title}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [single]);
    else group.push(single);
  }
  const complaints = [...groups.values()].map((group): Complaint => {
    const [{ subject, isDown, complaint }] = group;
    const { severity, title, action, detail } = complaint;
    const isOne = group.length === 1;
    const subjects = `${things(group.length, subject)} ${listed(group.map(({ name }) => name))}`;
    const state = isDown ? `${subjects} ${isOne ? 'is' : 'are'} down` : subjects;
    return {
      severity,
      title: title === '' ? state : `${state}: ${title}`,
      action,
      detail: isOne ? detail : '',
    };
  });
  const rank = ({ severity }: Complaint) => (severity === 'error' ? 0 : 1);
  return complaints.sort((one, other) => rank(one) - rank(other));
}

const MAX_NAMES = 3;
const LIST = new Intl.ListFormat('en-GB');

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return LIST.format(more > 0 ? [...names.slice(0, MAX_NAMES), `${more} more`] : names);
}
