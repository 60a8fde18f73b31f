import { problemLine } from '../diagnosis/causes.ts';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { Needs } from './needs.ts';

/** The needs are logged once the panel's limit is known, or after this long without it. */
const LIMIT_KNOWN_WITHIN_MS = 10_000;

/** What is logged about a panel's servers. */
export interface NeedsReport {
  readonly servers: number;
  readonly needs: Needs;
  readonly perMinute: number;
  /** The panel's own limit in calls per minute: undefined while the panel may still report one. */
  readonly limit: number | 'none' | undefined;
  /** What keeps some servers from being observed as configured. */
  readonly problems: readonly Problem[];
}

/** Logs what a panel's servers need when that is known, and again when it changes. */
export class NeedsLog {
  readonly #panel: string;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #report: () => NeedsReport;
  #logged: string | undefined;
  #isDue = false;
  #cancel: Cancel | undefined;

  constructor(panel: string, log: Logger, clock: Clock, report: () => NeedsReport) {
    this.#panel = panel;
    this.#log = log;
    this.#clock = clock;
    this.#report = report;
  }

  /** Problems are reported from the moment at which they are logged: a limit may still be unknown. */
  get isLogged(): boolean {
    return this.#logged !== undefined;
  }

  /** The servers or the limit may have changed. */
  follow(): void {
    const report = this.#report();
    // Before the first server is discovered there is nothing to log.
    if (report.servers === 0) return;
    if (report.limit !== undefined || this.#isDue) {
      this.#write(report);
      return;
    }
    this.#cancel ??= this.#clock.schedule(LIMIT_KNOWN_WITHIN_MS, () => {
      this.#isDue = true;
      this.follow();
    });
  }

  stop(): void {
    this.#cancel?.();
  }

  #write({ servers, needs, perMinute, limit, problems }: NeedsReport): void {
    const panel = this.#panel;
    const { sockets, polls } = needs;
    const [budgetPerMinute, callsPerMinute] = [rounded(perMinute), rounded(needs.callsPerMinute)];
    const fields = { panel, sockets, polls, callsPerMinute, budgetPerMinute };
    const state = JSON.stringify([
      servers,
      sockets,
      polls,
      budgetPerMinute,
      problems.map(({ cause }) => cause),
    ]);
    if (state === this.#logged) return;
    this.#logged = state;
    for (const problem of problems)
      this.#log.warn(
        { ...fields, cause: problem.cause, detail: problem.detail },
        `panel ${panel}: ${problemLine(problem)}`,
      );
    if (problems.length > 0) return;
    const rate = `using up to ${budgetPerMinute}${typeof limit === 'number' ? ` of ${limit}` : ''} calls per minute`;
    this.#log.info(fields, `panel ${panel}: ${collectionOf(servers, needs)}; ${rate}`);
  }
}

/** How the servers are observed; servers that the panel blocks are neither streamed nor polled. */
function collectionOf(servers: number, { sockets, polls }: Needs): string {
  if (servers === 1 && sockets === 1) return '1 server, with its own console socket';
  const all = `${servers} ${servers === 1 ? 'server' : 'servers'}`;
  if (sockets === servers) return `${all}, each with its own console socket`;
  return `${all}, ${sockets} with a console socket, ${polls} polled`;
}

function rounded(value: number): number {
  return Number(value.toFixed(1));
}
