// The current problems of one panel, of its paths and of its nodes.

import type { Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problems.ts';
import type { ProblemReading } from '../domain/reading.ts';
import { backlogProblem } from './backlog-problem.ts';
import type { Health } from './health/health.ts';
import type { PanelRate } from './panel-rate.ts';
import { pauseProblem } from './pause-problem.ts';
import type { Scheduler } from './scheduler/scheduler.ts';
import { PATHS, type Path, pathSubject, pollsSubject, type Subject, socketsSubject } from './subjects.ts';

export interface PanelProblemsOptions {
  readonly clock: Clock;
  readonly health: Pick<Health, 'firstProblem' | 'reading' | 'listing'>;
  readonly rate: Pick<PanelRate, 'limit' | 'sharingProblem'>;
  readonly scheduler: Pick<Scheduler, 'backlog'>;
}

export class PanelProblems {
  readonly #options: PanelProblemsOptions;

  constructor(options: PanelProblemsOptions) {
    this.#options = options;
  }

  /**
   * The panel's problem, with the pause that delays its trials. While the panel works, the problems
   * of its consoles, paths and rate limit.
   */
  get all(): readonly ProblemReading[] {
    const { clock, health, rate, scheduler } = this.#options;
    const { limit, sharingProblem } = rate;
    const ofRate = pauseProblem(limit, clock);
    const ofPanel = health.reading('panel');
    if (ofPanel !== undefined) return [ofRate === undefined ? ofPanel : withDetail(ofPanel, ofRate.detail)];
    const ofPaths = PATHS.map((path) => this.#ofPath(path));
    const ofBacklog = backlogProblem(scheduler.backlog, limit.limitPerMinute, clock.now());
    return [health.reading('consoles'), ...ofPaths, ofRate, sharingProblem, ofBacklog].filter(
      (problem) => problem !== undefined,
    );
  }

  /** The problem of the panel or its API key; undefined while calls are allowed. */
  get ofPanel(): Problem | undefined {
    return this.of('panel');
  }

  /**
   * A missing server list isn't a problem if it is optional. If it is required, discovery reports
   * it.
   */
  of(subject: Subject): Problem | undefined {
    const { health } = this.#options;
    const isSilent = subject === pathSubject('listing') && health.listing !== 'required';
    return isSilent ? undefined : health.firstProblem(subject);
  }

  /**
   * The problem of the node itself: that of its sockets, which is more exact, or else that of its
   * polls.
   */
  ofNode(node: string): ProblemReading | undefined {
    return this.#options.health.reading(socketsSubject(node), pollsSubject(node));
  }

  /** Why this node's sockets aren't opened: a problem of the panel, path, account or node. */
  ofSockets(node: string | undefined): Problem | undefined {
    const { clock, health, rate } = this.#options;
    const ofNode = node === undefined ? [] : [socketsSubject(node)];
    return (
      health.firstProblem('panel', pathSubject('websocket'), 'consoles', ...ofNode) ??
      pauseProblem(rate.limit, clock, 'websocket')
    );
  }

  /** Why servers of this node aren't polled: a problem of the panel, path or node. */
  ofPolls(node: string | undefined): Problem | undefined {
    const ofNode = node === undefined ? [] : [pollsSubject(node)];
    return this.#options.health.firstProblem('panel', pathSubject('resources'), ...ofNode);
  }

  #ofPath(path: Path): ProblemReading | undefined {
    const subject = pathSubject(path);
    const problem = this.of(subject) && this.#options.health.reading(subject);
    return problem && { ...problem, detail: `${path} calls only: ${problem.detail}` };
  }
}

function withDetail(problem: ProblemReading, detail: string): ProblemReading {
  return { ...problem, detail: `${problem.detail}; ${detail}` };
}
