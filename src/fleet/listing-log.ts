import { CAUSES, isPanelWide, problemLine } from '../diagnosis/causes.ts';
import type { Logger } from '../domain/log.ts';
import { printable } from '../domain/printable.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import { problemOf } from '../panel/errors.ts';
import type { ListingWalk } from '../panel/listing.ts';

/** What is logged when a problem of the server list has ended. */
const ENDED: Partial<Record<CauseCode, string>> = {
  nothing_listed: 'servers are discovered again',
  all_excluded: 'servers are discovered again',
  listing_too_long: 'no servers are left out any more',
  same_identifier: 'no duplicate server identifiers any more',
};

/** What the line about a walk that found a problem depends on. */
export interface WalkCircumstances {
  /** Servers are discovered from the list, not only described by it. */
  readonly discovers: boolean;
  /** The account may not see the server list. */
  readonly isRefused: boolean;
  /** Some servers are known. */
  readonly knowsServers: boolean;
  readonly isPanelUp: boolean;
}

/** The log lines about a panel's server list: each problem when it appears or changes, and when it ends. */
export class ListingLog {
  readonly #panel: string;
  readonly #log: Logger;
  #problems: readonly Problem[] = [];
  #isFailing = false;

  constructor(panel: string, log: Logger) {
    this.#panel = panel;
    this.#log = log;
  }

  /** These are the problems now. */
  problems(now: readonly Problem[]): void {
    const before = this.#problems;
    this.#problems = now;
    for (const { cause, detail } of now) {
      if (before.some((one) => one.cause === cause && one.detail === detail)) continue;
      this.#log.warn(
        { panel: this.#panel, cause, detail },
        `panel ${this.#panel}: ${problemLine({ cause, detail })}`,
      );
    }
    for (const { cause } of before) {
      const ended = ENDED[cause];
      if (ended !== undefined && !now.some((one) => ENDED[one.cause] === ended)) this.info(ended);
    }
  }

  /** The server list isn't used any more, or for something else. */
  forget(): void {
    this.#problems = [];
  }

  /** A walk ended. */
  walked({ problem, complete, failure }: ListingWalk, context: WalkCircumstances): void {
    if (problem === undefined) {
      if (this.#isFailing) this.info('server list available again');
      this.#isFailing = false;
      return;
    }
    const { discovers, isRefused, knowsServers, isPanelUp } = context;
    const detail = printable(problem.message);
    const cause = failure === undefined ? 'bad_answer' : problemOf(failure.error).cause;
    // Problems with the panel or its API key are reported once, by the servers' own calls.
    if (!isPanelUp && (!discovers || isPanelWide(CAUSES[cause]))) return;
    const what = isRefused
      ? 'server list rejected: node, egg and limits are unknown, except for configured limits; set limits_from_listing: false to stop retrying'
      : complete
        ? 'server list has unreadable entries: ignoring them'
        : knowsServers
          ? 'server list incomplete: keeping the known servers'
          : 'server list unavailable: no servers known yet';
    this.#log[this.#isFailing ? 'debug' : 'warn'](
      { panel: this.#panel, cause, detail },
      `panel ${this.#panel}: ${what}; last error: ${detail}`,
    );
    this.#isFailing = true;
  }

  /** The number of discovered servers; at the start it is logged with what they need. */
  discovered(discovered: number, before: number): void {
    if (discovered === before) return;
    this.#log[before === 0 ? 'debug' : 'info'](
      { panel: this.#panel, discovered, before },
      `panel ${this.#panel}: ${discovered} servers discovered, previously ${before}`,
    );
  }

  info(words: string): void {
    this.#log.info({ panel: this.#panel }, `panel ${this.#panel}: ${words}`);
  }
}
