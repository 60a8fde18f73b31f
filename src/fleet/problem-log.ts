import { problemLine } from '../diagnosis/causes.ts';
import type { Logger } from '../domain/log.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';

/** The log lines about problems of a panel's fleet: each when it appears or changes, and when it ends. */
export class ProblemLog {
  readonly #panel: string;
  readonly #log: Logger;
  /** What is logged when a problem ends, if anything; those with the same words end together. */
  readonly #ended: Partial<Record<CauseCode, string>>;
  #problems: readonly Problem[] = [];

  constructor(panel: string, log: Logger, ended: Partial<Record<CauseCode, string>> = {}) {
    this.#panel = panel;
    this.#log = log;
    this.#ended = ended;
  }

  /** These are the problems now, and figures that explain them. */
  follow(now: readonly Problem[], figures: Readonly<Record<string, unknown>> = {}): void {
    const before = this.#problems;
    this.#problems = now;
    for (const problem of now) {
      const { cause, detail } = problem;
      if (before.some((one) => one.cause === cause && one.detail === detail)) continue;
      const fields = { ...figures, panel: this.#panel, cause, detail };
      this.#log.warn(fields, `panel ${this.#panel}: ${problemLine(problem)}`);
    }
    for (const { cause } of before) {
      const words = this.#ended[cause];
      if (words !== undefined && !now.some((one) => this.#ended[one.cause] === words))
        this.#log.info({ panel: this.#panel }, `panel ${this.#panel}: ${words}`);
    }
  }

  /** The problems no longer matter: they don't end. */
  forget(): void {
    this.#problems = [];
  }
}
