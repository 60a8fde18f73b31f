// The report on a panel, from the exporter's readings of it.
import { CAUSES, shortTitle } from '../diagnosis/causes.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import type { BudgetReading, NodeReading, PanelReading } from '../domain/reading.ts';
import type { Snapshot } from '../domain/snapshot.ts';
import { toOneDecimal } from '../text/sentences.ts';
import type { FoundProblem, PanelReport, ServerReport } from './report.ts';

/** The readings of a panel at one instant, and the facts that the report passes on unchanged. */
export interface TestedPanel
  extends Pick<PanelReport, 'name' | 'url' | 'selection' | 'calls' | 'isListRead' | 'listedNames'> {
  readonly reading: PanelReading;
  readonly nodes: readonly NodeReading[];
  readonly servers: readonly Snapshot[];
}

/** The report on a panel, from its readings; pure. */
export function describePanel({ reading, nodes, servers, ...rest }: TestedPanel): PanelReport {
  const { up, budget, needs } = reading;
  const found = new FoundProblems();
  for (const problem of [...reading.problems, ...(up ? limitProblems(budget) : [])])
    found.addOfPanel(problem);
  const ofNodes = new Map<string, Occurrence>();
  for (const { name, problem } of nodes) {
    if (problem === undefined) continue;
    const occurrence = found.occurrence(problem);
    occurrence.nodes.add(name);
    ofNodes.set(name, occurrence);
  }
  const reports = servers.map((server) => describeServer(server, reading));
  for (const { name, node = '', problems } of reports) {
    for (const problem of problems) {
      const { scope } = CAUSES[problem.cause];
      // A node's problem is reported once, even if its servers fail with different causes.
      const shared = scope === 'server' ? undefined : ofNodes.get(node);
      const occurrence = shared ?? found.occurrence(problem);
      occurrence.servers.add(name);
      if (scope === 'node' && node !== '') occurrence.nodes.add(node);
    }
  }
  return { ...rest, up, budget, needs, problems: found.all, servers: reports };
}

/** Problems with the rate limit that restrict the exporter. */
function limitProblems(budget: BudgetReading): readonly Problem[] {
  const { isPinned, knownLimitPerMinute: known } = budget;
  const used = toOneDecimal(budget.limitPerMinute);
  if (isPinned && used > (known ?? used)) {
    const detail = `\`requests_per_minute\` is ${used}, but the panel allows ${known}`;
    return [{ cause: 'pinned_too_high', detail }];
  }
  const detail = `the panel reports no rate limit: using at most ${used} calls per minute`;
  return isPinned || known !== undefined ? [] : [{ cause: 'limit_unknown', detail }];
}

function describeServer(server: Snapshot, panel: PanelReading): ServerReport {
  const { target, node, condition, state, players, problem, blocked, query_problem } = server;
  const cause = problem?.cause ?? blocked;
  // For a server that may be off, a state such as suspended is normal.
  const isHeld = cause !== undefined && CAUSES[cause].severity === 'fact' && target.expect !== 'running';
  const own = cause === undefined || isHeld || isReportedOnce(cause, panel) ? undefined : problem;
  const isNeverAnswering = query_problem !== undefined && CAUSES[query_problem.cause].severity === 'fact';
  const problems = [own, isNeverAnswering ? undefined : query_problem]
    .filter((one) => one !== undefined)
    .map((one) => ({ cause: one.cause, detail: one.detail }));
  const isTested = server.collection_up === 1 || isHeld;
  return {
    name: target.name,
    id: target.id,
    node,
    result: problems.length > 0 ? 'failed' : isTested ? 'ok' : 'untested',
    condition,
    state,
    players,
    problems,
    held: isHeld
      ? `${shortTitle(cause)}; not a problem with expect: ${target.expect}`
      : isNeverAnswering
        ? CAUSES[query_problem.cause].title
        : undefined,
  };
}

/** Is it a problem of the panel, which is reported once and not for each server? */
function isReportedOnce(cause: CauseCode, { up, problems }: PanelReading): boolean {
  const { scope } = CAUSES[cause];
  const has = (one: CauseCode) => problems.some((problem) => problem.cause === one);
  if (cause === 'no_console_permission') return has('key_console_permission');
  return scope !== 'server' && scope !== 'node' && (has(cause) || (!up && problems.length > 0));
}

/** A problem, with the affected nodes and servers found so far. */
interface Occurrence extends Omit<FoundProblem, 'nodes' | 'servers'> {
  readonly nodes: Set<string>;
  readonly servers: Set<string>;
}

/**
 * The problems of one panel. Nodes and servers with the same cause share one problem, with the
 * detail of the first.
 */
class FoundProblems {
  readonly #occurrences = new Map<string, Occurrence>();

  get all(): readonly FoundProblem[] {
    const all = [...this.#occurrences.values()].map(({ nodes, servers, ...one }) =>
      Object.assign(one, { nodes: [...nodes], servers: [...servers] }),
    );
    return [
      ...all.filter(({ result }) => result === 'failed'),
      ...all.filter(({ result }) => result === 'warning'),
    ];
  }

  addOfPanel(problem: Problem): void {
    const { severity } = CAUSES[problem.cause];
    this.#at(`panel ${problem.cause}`, problem, severity === 'warning' ? 'warning' : 'failed');
  }

  /** The problem that collects all nodes and servers with this cause. */
  occurrence(problem: Problem): Occurrence {
    return this.#at(problem.cause, problem, 'failed');
  }

  #at(key: string, { cause, detail }: Problem, result: Occurrence['result']): Occurrence {
    const { remedy } = CAUSES[cause];
    const nothing = { nodes: new Set<string>(), servers: new Set<string>() };
    const occurrence = this.#occurrences.get(key) ?? { cause, detail, result, remedy, ...nothing };
    this.#occurrences.set(key, occurrence);
    return occurrence;
  }
}
