import { problemLine } from '../diagnosis/causes.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import type { BudgetReading, NeedsReading } from '../domain/reading.ts';
import { counted } from '../domain/sentences.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { Logger } from '../domain/telemetry.ts';
import type { Cancel, Clock } from '../domain/time.ts';

/** The part of the rate that polls may take, of what the tokens of sockets leave: the rest is for lists, trials and new sockets. */
const POLL_SHARE = 0.9;

/** A token of ten minutes is renewed after about eight. */
const CALLS_PER_SOCKET_AND_MINUTE = 1 / 8;

/** Milliseconds between the polls of a server: as configured, or as many as the rate carries; pure. */
export function pollEveryMs(
  configuredMs: number,
  { perMinute, polled, streaming }: Readonly<Record<'perMinute' | 'polled' | 'streaming', number>>,
): number {
  const left = POLL_SHARE * (perMinute - streaming * CALLS_PER_SOCKET_AND_MINUTE);
  // Where tokens take nearly all calls, polls are late in proportion rather than never.
  return Math.max(configuredMs, (polled * 60_000) / Math.max(left, perMinute / 10));
}

/** What monitoring a panel's servers as configured takes. */
export interface Needs extends Omit<NeedsReading, 'allowedSockets'> {
  readonly servers: number;
}

/** Does this server need a console socket? One that the panel blocks needs nothing. */
export function isStreamed({ mode, blocked }: Pick<ServerTarget, 'mode' | 'blocked'>): boolean {
  return blocked === undefined && mode !== 'poll';
}

/** What these servers need, beside calls for lists; pure arithmetic. A server that the panel blocks needs nothing. */
export function needsOf(
  servers: readonly Pick<ServerTarget, 'mode' | 'blocked'>[],
  pollIntervalMs: number,
  listsPerMinute: number,
): Needs {
  const requiredSockets = servers.filter(isStreamed).length;
  const polls = servers.filter(({ blocked }) => blocked === undefined).length - requiredSockets;
  const sockets = requiredSockets * CALLS_PER_SOCKET_AND_MINUTE;
  return {
    servers: servers.length,
    requiredSockets,
    polls,
    requiredCallsPerMinute: sockets + (polls * 60_000) / pollIntervalMs + listsPerMinute,
  };
}

/** What the servers need, what is available, and the consequence if that is too little; undefined if it is enough. */
export function budgetProblem(
  { servers, requiredCallsPerMinute }: Needs,
  { isPinned, limitPerMinute }: Pick<BudgetReading, 'isPinned' | 'limitPerMinute'>,
): Problem | undefined {
  if (requiredCallsPerMinute <= limitPerMinute) return undefined;
  const [needed, allowed] = [requiredCallsPerMinute, limitPerMinute].map((calls) =>
    Number(calls.toFixed(calls < 10 ? 2 : 1)),
  );
  const count = `${servers} ${servers === 1 ? 'server needs' : 'servers need'}`;
  const source = isPinned ? '`requests_per_minute`' : 'the API budget';
  return {
    cause: 'budget_too_small',
    detail: `${count} ${needed} API calls per minute, but ${source} allows ${allowed}: sockets reconnect late and polls are delayed, so servers have gaps in their data`,
  };
}

/** The console sockets of the process, which all panels share. */
export interface SharedSockets {
  /** How many files the process may open; infinite if unknown. */
  readonly descriptors: number;
  /** The limit on open files that would give a console socket to every server that may stream. */
  readonly requiredDescriptors: number;
  /** Those that the process may hold, and of these each panel; infinite if all panels have as many as they need. */
  readonly sockets: number;
  readonly part: number;
  /** A panel needs this many sockets from now on; `changed` identifies it, and is called whenever the part changes. */
  require(sockets: number, changed: () => void): void;
  /** The panel no longer needs sockets. */
  leave(changed: () => void): void;
}

/** How many servers have no console socket because of the process's file descriptors, and how many it may open; else undefined. */
export function descriptorProblem(
  { requiredSockets }: Needs,
  {
    descriptors,
    requiredDescriptors,
    part,
  }: Pick<SharedSockets, 'descriptors' | 'requiredDescriptors' | 'part'>,
): Problem | undefined {
  const without = requiredSockets - part;
  if (without <= 0) return undefined;
  const room = `the limit of ${descriptors} open files leaves room for ${part} console sockets`;
  const others = `${without} ${without === 1 ? 'server has' : 'servers have'} none and can only be polled`;
  return { cause: 'descriptors', detail: `${room}; ${others}; required limit: ${requiredDescriptors}` };
}

/** The needs are logged once the panel's limit is known, or after this long without it. */
const LIMIT_KNOWN_WITHIN_MS = 10_000;

/** At the start, the panel's limit and its blocked servers become known one after the other: a line waits for both. */
const SETTLING_MS = 1_000;

/** A panel's needs, and what they are compared with. */
export interface NeedsOptions {
  readonly panel: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly needs: () => Needs;
  readonly gateway: { budget(): Pick<BudgetReading, 'isPinned' | 'limitPerMinute' | 'knownLimitPerMinute'> };
  readonly socketLimit: Pick<SharedSockets, 'descriptors' | 'requiredDescriptors' | 'sockets' | 'part'>;
}

/** Compares what a panel's servers need with what is allowed; logs it when that is known, and again when it changes. */
export class NeedsWatch {
  readonly #options: NeedsOptions;
  readonly #logProblems: ReturnType<typeof problemLog>;
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

  /** What keeps some servers from being monitored as configured, from the moment at which it is logged: a limit may still be unknown. */
  get problems(): readonly Problem[] {
    return this.#logged === undefined ? [] : this.#problemsOf(this.#options.needs());
  }

  /** The servers or the limit may have changed. */
  follow(): void {
    const { needs, gateway, clock } = this.#options;
    const { isPinned, knownLimitPerMinute } = gateway.budget();
    // Before the first server is discovered there is nothing to log.
    if (needs().servers === 0) return;
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

  #problemsOf(needs: Needs): readonly Problem[] {
    const { gateway, socketLimit } = this.#options;
    const problems = [descriptorProblem(needs, socketLimit), budgetProblem(needs, gateway.budget())];
    return problems.filter((problem) => problem !== undefined);
  }

  #write(): void {
    const { panel, log, clock, gateway } = this.#options;
    const needs = this.#options.needs();
    const { servers, requiredSockets: sockets, polls, requiredCallsPerMinute } = needs;
    const { limitPerMinute, knownLimitPerMinute: limit } = gateway.budget();
    const [budgetPerMinute, callsPerMinute] = [rounded(limitPerMinute), rounded(requiredCallsPerMinute)];
    const fields = { panel, sockets, polls, callsPerMinute, budgetPerMinute };
    const problems = this.#problemsOf(needs);
    const causes = problems.map(({ cause }) => cause);
    const state = JSON.stringify([servers, sockets, polls, budgetPerMinute, causes]);
    if (state === this.#logged) return;
    this.#logged = state;
    this.#cancelLine?.();
    this.#logProblems(problems, fields);
    if (problems.length > 0) return;
    const rate = `using up to ${budgetPerMinute}${limit === undefined ? '' : ` of ${limit}`} calls per minute`;
    const line = `panel ${panel}: ${collectionOf(needs)}; ${rate}`;
    this.#cancelLine = clock.schedule(SETTLING_MS, () => log.info(fields, line));
  }
}

/** How the servers are monitored; servers that the panel blocks aren't streamed or polled. */
function collectionOf({ servers, requiredSockets: sockets, polls }: Needs): string {
  const all = counted(servers, 'server');
  const blocked = servers - sockets - polls;
  const streaming = sockets === servers ? `streaming ${all}` : `streaming ${sockets} of ${all}`;
  return `${streaming}${polls > 0 ? `, polling ${polls}` : ''}${blocked > 0 ? ` (${blocked} blocked)` : ''}`;
}

function rounded(value: number): number {
  return Number(value.toFixed(1));
}

/**
 * Logs the problems of a panel's fleet, each when it appears or changes, with figures that explain it, and when it ends, if there
 * are words for that; those with the same words end together.
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
      const words = ended[cause];
      if (words !== undefined && !now.some((one) => ended[one.cause] === words))
        log.info({ panel }, `panel ${panel}: ${words}`);
    }
    before = now;
  };
}
