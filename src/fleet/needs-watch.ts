// Compares the needs of a panel's servers with the limits, and logs the result.

import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/logger.ts';
import type { Problem } from '../domain/problems.ts';
import type { BudgetReading, NeedsReading, ProblemReading } from '../domain/reading.ts';
import { quantity, toOneDecimal } from '../text/sentences.ts';
import { datedProblems } from './dated-problems.ts';
import { budgetProblem, descriptorProblem, type Needs } from './needs.ts';
import { problemLog } from './problem-log.ts';
import type { SharedSockets } from './shared-sockets.ts';

/** The needs are logged once the panel's limit is known, and after this time at the latest. */
const LIMIT_KNOWN_WITHIN_MS = 10_000;

/**
 * At the start, the panel's limit and its blocked servers become known one after the other. The log
 * line waits this long for both.
 */
const SETTLING_MS = 1_000;

/** A panel's needs and limits. */
export interface NeedsOptions {
  readonly panel: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly needs: () => Needs;
  readonly gateway: { budget(): Pick<BudgetReading, 'isPinned' | 'limitPerMinute' | 'knownLimitPerMinute'> };
  readonly socketLimit: Pick<SharedSockets, 'descriptors' | 'requiredDescriptors' | 'sockets' | 'part'>;
}

/**
 * Compares the needs of a panel's servers with the limits. Logs the result once the limits are
 * known, and after each change.
 */
export class NeedsWatch {
  readonly #options: NeedsOptions;
  readonly #logProblems: ReturnType<typeof problemLog>;
  #problems: readonly ProblemReading[] = [];
  #logged: string | undefined;
  #isDue = false;
  #cancel: Cancel | undefined;
  #cancelLine: Cancel | undefined;

  constructor(options: NeedsOptions) {
    this.#options = options;
    this.#logProblems = problemLog(options.panel, options.log);
  }

  get reading(): NeedsReading {
    const { socketLimit } = this.#options;
    const { servers: _, ...needs } = this.#options.needs();
    return { ...needs, allowedSockets: Math.min(socketLimit.part, socketLimit.sockets) };
  }

  /**
   * The problems that prevent servers from being monitored as configured. There are none until they
   * are logged, because a limit may still be unknown.
   */
  get problems(): readonly ProblemReading[] {
    return this.#problems;
  }

  /** Compares again after the servers or the limit may have changed. */
  follow(): void {
    const { needs, gateway, clock } = this.#options;
    const { isPinned, knownLimitPerMinute } = gateway.budget();
    // Nothing is logged before the first server is discovered.
    if (needs().servers === 0) {
      this.#problems = [];
      return;
    }
    if (this.#isDue || isPinned || knownLimitPerMinute !== undefined) {
      this.#write();
      return;
    }
    this.#cancel ??= clock.schedule(LIMIT_KNOWN_WITHIN_MS, () => {
      this.#isDue = true;
      this.follow();
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancelLine?.();
  }

  #findProblems(needs: Needs): readonly Problem[] {
    const { gateway, socketLimit } = this.#options;
    const problems = [descriptorProblem(needs, socketLimit), budgetProblem(needs, gateway.budget())];
    return problems.filter((problem) => problem !== undefined);
  }

  #write(): void {
    const { panel, log, clock, gateway } = this.#options;
    const needs = this.#options.needs();
    const { servers, requiredSockets: sockets, polls, requiredCallsPerMinute } = needs;
    const { limitPerMinute, knownLimitPerMinute: limit } = gateway.budget();
    const [budgetPerMinute, callsPerMinute] = [
      toOneDecimal(limitPerMinute),
      toOneDecimal(requiredCallsPerMinute),
    ];
    const fields = { panel, sockets, polls, callsPerMinute, budgetPerMinute };
    const problems = this.#findProblems(needs);
    this.#problems = datedProblems(problems, this.#problems, clock.now());
    const causes = problems.map(({ cause }) => cause);
    const state = JSON.stringify([servers, sockets, polls, budgetPerMinute, causes]);
    if (state === this.#logged) return;
    this.#logged = state;
    this.#cancelLine?.();
    this.#logProblems(problems, fields);
    if (problems.length > 0) return;
    const rate = `using up to ${budgetPerMinute}${limit === undefined ? '' : ` of ${limit}`} calls per minute`;
    const line = `panel ${panel}: ${describeCollection(needs)}; ${rate}`;
    this.#cancelLine = clock.schedule(SETTLING_MS, () => log.info(fields, line));
  }
}

/** How the servers are monitored. Servers that the panel blocks are neither streamed nor polled. */
function describeCollection({ servers, requiredSockets: sockets, polls }: Needs): string {
  const all = quantity(servers, 'server');
  const blocked = servers - sockets - polls;
  const streaming = sockets === servers ? `streaming ${all}` : `streaming ${sockets} of ${all}`;
  return `${streaming}${polls > 0 ? `, polling ${polls}` : ''}${blocked > 0 ? ` (${blocked} blocked)` : ''}`;
}
