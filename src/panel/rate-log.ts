/** The log lines about a panel's rate limit. */
import { problemLine } from '../diagnosis/causes.ts';
import type { Logger } from '../domain/logger.ts';
import type { Problem } from '../domain/problems.ts';
import { toOneDecimal } from '../text/sentences.ts';
import type { Pause, RateLimit } from './scheduler/rate-limit.ts';

export class RateLog {
  readonly #log: Logger;
  readonly #panel: string;

  constructor(log: Logger, panel: string) {
    this.#log = log;
    this.#panel = panel;
  }

  /** Logs another limit from the panel. */
  learned({ knownLimitPerMinute: known, limitPerMinute, isPinned }: RateLimit, wasKnown: boolean): void {
    if (isPinned) return;
    const [log, panel] = [this.#log, this.#panel];
    const perMinute = toOneDecimal(limitPerMinute);
    log[wasKnown ? 'info' : 'debug'](
      { panel, limit: known, perMinute: limitPerMinute },
      `panel ${panel}: rate limit ${known ?? 0}/min; using at most ${perMinute}/min`,
    );
  }

  /** Logs that other clients use the account; undefined if they no longer do. */
  shared(problem: Problem | undefined): void {
    const [log, panel] = [this.#log, this.#panel];
    if (problem === undefined)
      log.info({ panel }, `panel ${panel}: only this exporter uses its account again`);
    else log.warn({ panel, ...problem }, `panel ${panel}: ${problemLine(problem)}`);
  }

  /** Logs a pause that the panel demanded. */
  paused({ scope, lengthMs, isRepeated }: Pause): void {
    const [log, panel] = [this.#log, this.#panel];
    const seconds = Math.ceil(lengthMs / 1_000);
    const limitedCalls =
      scope === 'account'
        ? `no calls for ${seconds} s. Other clients may share the limit: give the exporter its own account, or lower \`requests_per_minute\`.`
        : `no calls for ${scope} for ${seconds} s. Only these are limited, by the panel or by a proxy in front of it.`;
    const level = isRepeated || scope.startsWith('tokens of ') ? 'debug' : 'warn';
    log[level](
      { panel, cause: 'rate_limited', seconds },
      `panel ${panel}: rate limit exceeded (429): ${limitedCalls}`,
    );
  }
}
