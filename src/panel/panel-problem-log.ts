/** Logs changes of one panel's problems. */
import { problemLine, shortTitle, withRemedy } from '../diagnosis/causes.ts';
import type { Cancel } from '../domain/clock.ts';
import type { Logger } from '../domain/logger.ts';
import type { Problem } from '../domain/problems.ts';
import type { PanelApiOptions } from './panel-api.ts';
import { PATHS, pathSubject, type Subject } from './subjects.ts';

export interface PanelProblemLogOptions extends Pick<PanelApiOptions, 'clock' | 'panel' | 'baseUrl'> {
  readonly log: Logger;
}

/** The subjects whose problems are logged here. Those of nodes are logged with their servers. */
const TOPICS: readonly Subject[] = ['panel', 'consoles', ...PATHS.map(pathSubject)];

/** The minimum time between two lines about a problem that comes and goes. */
const REPEATED_EVERY_MS = 60_000;

export class PanelProblemLog {
  readonly #options: PanelProblemLogOptions;
  readonly #url: string;
  /** The last logged problem of each subject, and when it was logged. */
  readonly #logged = new Map<Subject, { readonly problem: Problem | undefined; readonly at: number }>();
  #cancelTimer: Cancel = () => undefined;

  constructor(options: PanelProblemLogOptions) {
    this.#options = options;
    const { origin, pathname } = new URL(options.baseUrl);
    this.#url = origin + pathname.replace(/\/$/, '');
  }

  /** Logs the changes. Subjects other than the panel are logged at most once a minute. */
  follow(currentProblem: (topic: Subject) => Problem | undefined): void {
    this.#cancelTimer();
    const now = this.#options.clock.now();
    let nextAt = Number.POSITIVE_INFINITY;
    // The panel's own problem explains the others.
    for (const topic of currentProblem('panel') === undefined ? TOPICS : TOPICS.slice(0, 1)) {
      const problem = currentProblem(topic);
      const { problem: before, at = -REPEATED_EVERY_MS } = this.#logged.get(topic) ?? {};
      if (problem?.cause === before?.cause) continue;
      const mayLogAt = topic === 'panel' ? now : at + REPEATED_EVERY_MS;
      if (mayLogAt > now) {
        nextAt = Math.min(nextAt, mayLogAt);
        continue;
      }
      this.#logged.set(topic, { problem, at: now });
      this.#write(topic, problem, before);
    }
    if (Number.isFinite(nextAt))
      this.#cancelTimer = this.#options.clock.schedule(nextAt - now, () => this.follow(currentProblem));
  }

  stop(): void {
    this.#cancelTimer();
  }

  #write(topic: Subject, problem: Problem | undefined, before: Problem | undefined): void {
    const { log, panel } = this.#options;
    const subject = `panel ${panel} (${this.#url})`;
    const path = PATHS.find((one) => pathSubject(one) === topic);
    const fields = { panel, url: this.#url, ...(path && { endpoint: path }) };
    if (problem === undefined) {
      const ofPanel =
        topic === 'panel' ? 'is available again: resuming calls' : 'grants console access again';
      log.info(fields, `${subject} ${path ? `responds to ${path} calls again` : ofPanel}`);
      return;
    }
    const ofPath = `${shortTitle(problem.cause)}, for ${path} calls only: ${withRemedy(problem)}`;
    const retrying = topic === 'panel' ? ' Retrying at least twice a minute.' : '';
    // A new problem of a panel that is already down isn't worth another error.
    log[topic === 'panel' && before === undefined ? 'error' : 'warn'](
      { ...fields, cause: problem.cause, detail: problem.detail },
      `${subject}: ${path ? ofPath : problemLine(problem)}${retrying}`,
    );
  }
}
