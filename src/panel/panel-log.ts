import { problemLine, shortTitle, withRemedy } from '../diagnosis/causes.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import { API_ENDPOINTS, type ApiEndpoint } from '../domain/telemetry.ts';
import type { Judge } from './judge.ts';

export interface PanelLogOptions {
  readonly log: Logger;
  /** The panel's name. */
  readonly panel: string;
  /** The panel's address as it is shown. */
  readonly url: string;
}

/** What the log lines are about. */
type Problems = Pick<Judge, 'health' | 'problem' | 'consoleProblem' | 'pathProblem' | 'pathHold'>;

/** The log lines about a panel: when a problem of its own, of its consoles or of a path begins, and when it ends. */
export class PanelLog {
  readonly #options: PanelLogOptions;
  #problem: Problem | undefined;
  #consoleProblem: Problem | undefined;
  /** Paths that have a problem. */
  readonly #paths = new Set<ApiEndpoint>();

  constructor(options: PanelLogOptions) {
    this.#options = options;
  }

  /** Logs what changed; returns whether another path has a problem. */
  follow(now: Problems): boolean {
    // The end of a problem is logged once a call has shown it.
    if (now.health === 'unknown') return false;
    this.#followPanel(now.problem);
    this.#followConsoles(now.consoleProblem);
    return this.#followPaths(now);
  }

  /** The panel is used with another key: its paths are judged again. */
  forgetPaths(): void {
    this.#paths.clear();
  }

  #followPanel(problem: Problem | undefined): void {
    const { log, panel, url } = this.#options;
    const before = this.#problem;
    this.#problem = problem;
    if (problem?.cause === before?.cause) return;
    if (problem === undefined) {
      log.info({ panel, url }, `panel ${panel} (${url}) is available again: resuming calls`);
      return;
    }
    // If a panel that is already down fails in another way, that isn't worth another error.
    log[before === undefined ? 'error' : 'warn'](
      { panel, url, cause: problem.cause, detail: problem.detail },
      `panel ${panel} (${url}): ${problemLine(problem)} Retrying at least once a minute.`,
    );
  }

  #followConsoles(problem: Problem | undefined): void {
    const { log, panel, url } = this.#options;
    const before = this.#consoleProblem;
    this.#consoleProblem = problem;
    if (problem?.cause === before?.cause) return;
    if (problem === undefined)
      log.info({ panel, url }, `panel ${panel} (${url}) grants console access again`);
    else
      log.warn(
        { panel, url, cause: problem.cause, detail: problem.detail },
        `panel ${panel} (${url}): ${problemLine(problem)}`,
      );
  }

  #followPaths(now: Problems): boolean {
    const { log, panel, url } = this.#options;
    let hasBegun = false;
    for (const endpoint of API_ENDPOINTS) {
      const was = this.#paths.has(endpoint);
      // The panel's own problem takes over those of its paths.
      const problem = now.problem === undefined && now.pathProblem(endpoint) && now.pathHold(endpoint);
      if (!problem) {
        this.#paths.delete(endpoint);
        if (was && now.problem === undefined)
          log.info({ panel, url, endpoint }, `panel ${panel} (${url}) responds to ${endpoint} calls again`);
      } else if (!was) {
        this.#paths.add(endpoint);
        hasBegun = true;
        const { cause, detail } = problem;
        log.warn(
          { panel, url, endpoint, cause, detail },
          `panel ${panel} (${url}): ${shortTitle(cause)}, for ${endpoint} calls only: ${withRemedy(problem)}`,
        );
      }
    }
    return hasBegun;
  }
}
