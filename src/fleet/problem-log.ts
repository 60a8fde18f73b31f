// Logs when the problems of a panel's fleet begin, change and end.

import { problemLine } from '../diagnosis/causes.ts';
import type { Logger } from '../domain/logger.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';

/**
 * Logs each problem of a panel's fleet when it begins or changes, with figures that explain it, and
 * when it ends, if there is a text for that. Problems with the same text end together.
 */
export function problemLog(panel: string, log: Logger, ended: Partial<Record<CauseCode, string>> = {}) {
  let before: readonly Problem[] = [];
  return (now: readonly Problem[], figures: Readonly<Record<string, unknown>> = {}): void => {
    for (const problem of now) {
      const { cause, detail } = problem;
      if (before.some((one) => one.cause === cause && one.detail === detail)) continue;
      log.warn({ ...figures, panel, cause, detail }, `panel ${panel}: ${problemLine(problem)}`);
    }
    for (const { cause } of before) {
      const ending = ended[cause];
      if (ending !== undefined && !now.some((one) => ended[one.cause] === ending))
        log.info({ panel }, `panel ${panel}: ${ending}`);
    }
    before = now;
  };
}
