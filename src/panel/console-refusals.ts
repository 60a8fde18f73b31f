import { CAUSES } from '../diagnosis/causes.ts';
import type { Clock } from '../domain/clock.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import { PanelError } from './errors.ts';

/** Reasons for refusing a console that may concern the account rather than the server. */
const OF_ACCOUNT: ReadonlySet<CauseCode> = new Set(['no_console_permission', 'unauthorized']);

/** How often one server is tried while every console is refused. */
export const CONSOLE_TRIAL_INTERVAL_MS = 5 * 60_000;

/** With a single server, it is impossible to tell whether the account or the server is refused. */
const REFUSALS_NEEDED = 2;

/**
 * Detects that the panel refuses the console of every server because a permission is missing. The problem then lies with the
 * account: further calls for credentials are refused on the panel's behalf, except for one every five minutes.
 */
export class ConsoleRefusals {
  readonly #clock: Clock;
  readonly #refused = new Set<string>();
  /** Servers that the panel blocks or doesn't know: they say nothing about the account. */
  readonly #held = new Set<string>();
  /** Servers that need a console; undefined until they are first set. */
  #servers: ReadonlySet<string> | undefined;
  #isOfAccount = false;
  #detail = '';
  #nextTrialAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The account's problem, from when no server's console is granted until one is. */
  get problem(): Problem | undefined {
    return this.#isOfAccount ? { cause: 'key_console_permission', detail: this.#detail } : undefined;
  }

  /** Sets the servers that need a console; others are forgotten. */
  setServers(servers: readonly string[]): void {
    const wanted = new Set(servers);
    this.#servers = wanted;
    for (const known of [this.#refused, this.#held]) {
      for (const server of known) if (!wanted.has(server)) known.delete(server);
    }
    if (this.#refused.size < REFUSALS_NEEDED) this.#isOfAccount = false;
    this.#judge();
  }

  clear(): void {
    this.#refused.clear();
    this.#held.clear();
    this.#isOfAccount = false;
  }

  /** The error for a call that isn't worth making; undefined if it should be made. */
  refuse(server: string): PanelError | undefined {
    const { problem } = this;
    if (problem === undefined || !this.#refused.has(server)) return undefined;
    const now = this.#clock.now();
    if (now >= this.#nextTrialAt) {
      this.#nextTrialAt = now + CONSOLE_TRIAL_INTERVAL_MS;
      return undefined;
    }
    return new PanelError(problem, { fromPanel: true });
  }

  /** Records the outcome of a call for a server's credentials; `problem` is undefined on success. */
  ended(server: string, problem: Problem | undefined): void {
    if (problem === undefined) {
      this.clear();
      return;
    }
    if (this.#servers?.has(server) === false) return;
    const { cause, detail } = problem;
    const { scope, lasting } = CAUSES[cause];
    if (OF_ACCOUNT.has(cause)) {
      this.#detail = detail;
      this.#held.delete(server);
      this.#refused.add(server);
    } else if (scope === 'server' && lasting) {
      this.#refused.delete(server);
      this.#held.add(server);
    } else return;
    this.#judge();
  }

  #judge(): void {
    if (this.#isOfAccount || this.#servers === undefined) return;
    if (this.#refused.size < REFUSALS_NEEDED) return;
    if (this.#refused.size + this.#held.size < this.#servers.size) return;
    this.#isOfAccount = true;
    this.#nextTrialAt = this.#clock.now() + CONSOLE_TRIAL_INTERVAL_MS;
  }
}
