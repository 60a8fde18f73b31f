import { CAUSES, isPanelWide, problemLine } from '../diagnosis/causes.ts';
import type { ListingSettings } from '../domain/discovery.ts';
import type { Logger } from '../domain/log.ts';
import { printable } from '../domain/printable.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import type { ListedServer } from '../panel/dialect.ts';
import { problemOf } from '../panel/errors.ts';
import { LISTING_PAGE_SIZE, type ListingWalk } from '../panel/listing.ts';
import { NO_SURPLUS, type Surplus } from './census.ts';

/** What the walks so far show about a panel's server list as a whole. */
export interface ListingStanding {
  readonly hasWalked: boolean;
  /** When the last complete walk ended, in monotonic milliseconds; undefined if there was none. */
  readonly completeAt: number | undefined;
  /** It was read recently enough to be believed about servers that are blocked. */
  readonly isCurrent: boolean;
  /** Why no server is discovered, according to the last complete walk; undefined if there is one. */
  readonly empty: Problem | undefined;
  readonly pages: number;
  /** Walks that found a problem. */
  readonly failures: number;
  /** Servers that are left out because of their number. */
  readonly surplus: Surplus;
  /** Entries that are left out because their page has more than were requested. */
  readonly surplusEntries: number;
}

export const NEVER_READ: ListingStanding = {
  hasWalked: false,
  completeAt: undefined,
  isCurrent: true,
  empty: undefined,
  pages: 1,
  failures: 0,
  surplus: NO_SURPLUS,
  surplusEntries: 0,
};

/** How old a server list that fails may be, unless it is read less often, before blocked servers are tried with their own calls. */
const BELIEVED_MS = 300_000;

/** When a walk ended, how often the server list is read, and whether discovery includes a server. */
interface WalkContext {
  readonly now: number;
  readonly intervalMs: number;
  readonly isIncluded: (server: ListedServer) => boolean;
}

/** The parts of a walk's result that matter for the server list as a whole, and the servers that the walk left out. */
type StandingWalk = Pick<ListingWalk, 'complete' | 'servers' | 'problem' | 'pages' | 'surplusEntries'> & {
  readonly surplus: Surplus;
};

/** The standing after a walk. */
export function standingAfter(
  before: ListingStanding,
  { complete, servers, problem, pages, surplusEntries, surplus }: StandingWalk,
  { now, intervalMs, isIncluded }: WalkContext,
): ListingStanding {
  const completeAt = complete ? now : before.completeAt;
  return {
    hasWalked: true,
    completeAt,
    isCurrent: completeAt !== undefined && now - completeAt <= Math.max(BELIEVED_MS, intervalMs),
    empty: servers.some(isIncluded)
      ? undefined
      : complete
        ? emptiness(servers.length, problem)
        : before.empty,
    pages,
    failures: before.failures + (problem === undefined ? 0 : 1),
    // An aborted walk has seen only some of the servers that are left out.
    surplus: complete || surplus.servers >= before.surplus.servers ? surplus : before.surplus,
    surplusEntries,
  };
}

/** The problem of a server list from which no server is discovered; one with unreadable entries has another problem. */
function emptiness(listed: number, problem: ListingWalk['problem']): Problem | undefined {
  if (problem !== undefined) return undefined;
  return listed === 0 ? NOTHING_LISTED : allExcluded(listed);
}

const NOTHING_LISTED: Problem = { cause: 'nothing_listed', detail: 'the server list is empty' };

/** The problem of rules that include none of the listed servers. */
export function allExcluded(listed: number): Problem {
  const detail =
    listed === 1
      ? 'discover excludes the only listed server'
      : `discover excludes all ${listed} listed servers`;
  return { cause: 'all_excluded', detail };
}

/** The maximum share of the budget for the server list: a long one is read less often. */
const LISTING_SHARE = 0.1;

/**
 * Calls a minute for a server list that only adds facts about configured servers, unless their own pages need more: an account may
 * see thousands of other servers.
 */
const FACTS_CALLS_PER_MINUTE = 1;

/** Delay before repeating a walk that failed or that missed a known server. */
const REPEAT_MS = 60_000;

/** How often a server list is read. */
export interface ListingPace {
  readonly intervalMs: number;
  /** After a walk that failed or missed a server. */
  readonly repeatMs: number;
}

/** How often a server list of this many pages is read, given the number of configured servers and the allowed calls per minute. */
export function paceOf(
  { intervalMs, discover }: ListingSettings,
  pages: number,
  configured: number,
  callsPerMinute: number,
): ListingPace {
  const ownPerMinute = (pagesOf(configured) * 60_000) / intervalMs;
  const factsPerMinute = Math.max(ownPerMinute, FACTS_CALLS_PER_MINUTE);
  const most = callsPerMinute * LISTING_SHARE;
  const mostPerMinute = discover === undefined ? Math.min(most, factsPerMinute) : most;
  const shortestMs = (pages / mostPerMinute) * 60_000;
  const atLeastMs = Math.max(intervalMs, shortestMs);
  return { intervalMs: atLeastMs, repeatMs: Math.min(atLeastMs, Math.max(REPEAT_MS, shortestMs)) };
}

/** The number of pages that this many servers fill. */
export function pagesOf(servers: number): number {
  return Math.ceil(servers / LISTING_PAGE_SIZE);
}

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
