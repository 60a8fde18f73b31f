// The complaints about panels and nodes.
import { CAUSES, isFact, shortTitle } from '../../diagnosis/causes.ts';
import type { Clock } from '../../domain/clock.ts';
import type { CauseCode } from '../../domain/problems.ts';
import type { PanelReading, ProblemReading, ServerReading } from '../../domain/reading.ts';
import { viewPanel } from '../../metrics/families.ts';
import { NAMES_SHOWN } from '../../text/sentences.ts';
import type { Complaint } from './complaint.ts';
import { pluralize } from './titles.ts';

/** The complaint about one panel or node. Several with the same problem share one. */
export interface SubjectComplaint {
  readonly subject: 'Panel' | 'Node';
  readonly name: string;
  readonly complaint: Complaint;
}

/** The complaints about a panel, its API key, the connection to it, and its nodes. */
export function panelComplaints(
  panel: PanelReading,
  servers: readonly ServerReading[],
  clock: Pick<Clock, 'now' | 'toUnixMs'>,
  isOnlyPanel: boolean,
): readonly SubjectComplaint[] {
  const { name, up, problems, nodes } = viewPanel(panel, clock.now());
  const ofPanel = (complaint: Complaint) => ({ subject: 'Panel', name, complaint }) as const;
  // While the panel is unavailable, the state of its nodes isn't known.
  if (!up) return problems.map((problem) => ofPanel(outageComplaint(problem, clock)));
  const ofNodes = nodes.flatMap(({ name: node, up: isUp, problem }): readonly SubjectComplaint[] => {
    if (isUp || problem === undefined) return [];
    const fullName = isOnlyPanel ? node : `${node} (${name})`;
    return [{ subject: 'Node', name: fullName, complaint: outageComplaint(problem, clock) }];
  });
  // A node that is down explains why its servers don't stream.
  const silent = ofNodes.length === 0 ? notStreaming(servers, name) : [];
  const ofProblems = problems.map((problem) => complaintAbout(problem, clock));
  return [...[...ofProblems, ...silent].map(ofPanel), ...ofNodes];
}

function complaintAbout({ cause, detail, since }: ProblemReading, clock: Pick<Clock, 'toUnixMs'>): Complaint {
  const { severity, title, remedy } = CAUSES[cause];
  const began = Math.round(clock.toUnixMs(since) / 1_000);
  return { severity, title, action: remedy, detail, since: began };
}

/**
 * The complaint about an unusable panel or node. Its title is the cause, because a panel that
 * rejects the API key isn't down.
 */
function outageComplaint(problem: ProblemReading, clock: Pick<Clock, 'toUnixMs'>): Complaint {
  return { ...complaintAbout(problem, clock), severity: 'error', title: shortTitle(problem.cause) };
}

/**
 * The complaint that most of a panel's required servers don't stream, with the most frequent cause.
 * Empty if at least half of them have no such problem.
 */
function notStreaming(servers: readonly ServerReading[], panel: string): readonly Complaint[] {
  const required = servers.filter(
    ({ target, status }) =>
      target.panel === panel && target.mode !== 'poll' && !isFact(status.problem?.cause),
  );
  // A server without a problem is connecting or waits for its call.
  const affected = required.flatMap(({ status: { problem, condition } }) =>
    problem === undefined || condition === 'streaming' ? [] : [problem.cause],
  );
  const byCause = new Map<CauseCode, number>();
  for (const cause of affected) byCause.set(cause, (byCause.get(cause) ?? 0) + 1);
  const [cause] = [...byCause].sort(([, one], [, other]) => other - one)[0] ?? [];
  if (cause === undefined || affected.length * 2 <= required.length) return [];
  const { title, remedy } = CAUSES[cause];
  return [
    {
      severity: 'warning',
      title: `${affected.length} of ${required.length} servers not streaming: ${title}`,
      action: remedy,
      detail: '',
    },
  ];
}

/**
 * Merges complaints with the same title into one that lists all subjects. The most serious come
 * first.
 */
export function mergeComplaints(all: readonly SubjectComplaint[]): readonly Complaint[] {
  const groups = new Map<string, [SubjectComplaint, ...SubjectComplaint[]]>();
  for (const one of all) {
    const key = [one.subject, one.complaint.severity, one.complaint.title].join('\n');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  const rank = ({ severity }: Complaint) => (severity === 'error' ? 0 : 1);
  return [...groups.values()].map(asOne).sort((one, other) => rank(one) - rank(other));
}

function asOne(group: readonly [SubjectComplaint, ...SubjectComplaint[]]): Complaint {
  const [{ subject, complaint }] = group;
  const { severity, title, action, detail } = complaint;
  const names = enumerated(group.map(({ name }) => name));
  const beginnings = group.flatMap(({ complaint: { since } }) => since ?? []);
  return {
    severity,
    title: `${pluralize(group.length, subject)} ${names}: ${title}`,
    action,
    detail: group.length === 1 ? detail : '',
    since: beginnings.length === 0 ? undefined : Math.min(...beginnings),
  };
}

const LIST = new Intl.ListFormat('en-GB');

function enumerated(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  return LIST.format(more > 0 ? [...names.slice(0, NAMES_SHOWN), `${more} more`] : names);
}
