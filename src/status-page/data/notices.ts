import type { Severity } from '../../diagnosis/cause-table.ts';
import { shortTitle } from '../../diagnosis/causes.ts';
import type { ExplainedProblem, PanelStatus } from './protocol.ts';

/** What is wrong with a panel. */
export type PanelTroubles = Pick<PanelStatus, 'name' | 'up' | 'problems' | 'nodesDown'>;

/** A problem of panels or nodes in three texts, from bold to quiet. */
export interface Notice {
  readonly severity: Severity;
  readonly title: string;
  /** What to do; may be empty. */
  readonly remedy: string;
  /** What happened; empty if several have the problem. */
  readonly detail: string;
}

/** What is wrong with one panel or node. */
interface SingleNotice extends Omit<Notice, 'title'> {
  readonly what: 'panel' | 'node' | 'problem';
  readonly name: string;
  readonly problem: string;
}

/** The problems of panels and their nodes, the most serious first; those that have the same one share a notice. */
export function noticesOf(panels: readonly PanelTroubles[]): readonly Notice[] {
  const groups = new Map<string, SingleNotice[]>();
  for (const single of panels.flatMap((panel) => singleNotices(panel, panels.length === 1))) {
    const key = [single.what, single.problem].join(' ');
    groups.set(key, [...(groups.get(key) ?? []), single]);
  }
  const notices = [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { severity, remedy, detail } = first;
    return [{ severity, title: titleOf(group), remedy, detail: group.length === 1 ? detail : '' }];
  });
  const isError = ({ severity }: Notice) => severity === 'error';
  return [...notices.filter(isError), ...notices.filter((notice) => !isError(notice))];
}

function singleNotices(
  { name, up, problems, nodesDown: nodes }: PanelTroubles,
  isOnly: boolean,
): readonly SingleNotice[] {
  const [first, ...others] = problems;
  return [
    ...(up ? [] : [singleNotice('panel', name, first, 'error')]),
    ...(up ? problems : others).map((problem) => singleNotice('problem', name, problem, problem.severity)),
    ...nodes.map(({ node, problem }) =>
      singleNotice('node', isOnly ? node : `${node} (${name})`, problem, 'error'),
    ),
  ];
}

function singleNotice(
  what: SingleNotice['what'],
  name: string,
  known: ExplainedProblem | undefined,
  severity: Severity,
): SingleNotice {
  const { remedy = '', detail = '' } = known ?? {};
  const problem = known && (what === 'problem' ? known.title : shortTitle(known.cause));
  return { what, name, problem: problem ?? '', severity, remedy, detail };
}

function titleOf(group: readonly SingleNotice[]): string {
  const [{ what, problem } = { what: 'panel', problem: '' }] = group;
  const isOne = group.length === 1;
  const things = `${what === 'node' ? 'Node' : 'Panel'}${isOne ? '' : 's'} ${listed(group.map(({ name }) => name))}`;
  const state = what === 'problem' ? '' : ` ${isOne ? 'is' : 'are'} down`;
  return `${things}${state}${problem === '' ? '' : `: ${problem}`}`;
}

const MAX_NAMES = 3;

function listed(names: readonly string[]): string {
  const last = names.length > MAX_NAMES ? `${names.length - MAX_NAMES} more` : names.at(-1);
  const others = names.slice(0, Math.min(names.length - 1, MAX_NAMES));
  return others.length === 0 ? String(last) : `${others.join(', ')} and ${last}`;
}
