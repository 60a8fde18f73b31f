import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { BudgetReading, NeedsReading } from '../domain/reading.ts';
import { serversInWords } from '../domain/sentences.ts';
import type { ServerTarget } from '../domain/server.ts';
import { problemLog } from './problem-log.ts';
import type { SocketLimit } from './socket-limit.ts';

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

/** What the configuration requires besides servers. */
interface Wishes {
  readonly pollIntervalMs: number;
  readonly listingPerMinute: number;
  /** For the lists of single servers, such as backups. */
  readonly listsPerMinute: number;
}

/** What monitoring a panel's servers as configured takes. */
export interface Needs {
  /** Servers that should stream, and servers that are configured to be polled. */
  readonly sockets: number;
  readonly polls: number;
  readonly callsPerMinute: number;
}

/** Does this server need a console socket? One that the panel blocks needs nothing. */
export function isStreamed({ mode, blocked }: Pick<ServerTarget, 'mode' | 'blocked'>): boolean {
  return blocked === undefined && mode !== 'poll';
}

/** What these servers need; pure arithmetic. A server that the panel blocks needs nothing. */
export function needsOf(
  servers: readonly Pick<ServerTarget, 'mode' | 'blocked'>[],
  { pollIntervalMs, listingPerMinute, listsPerMinute }: Wishes,
): Needs {
  const asking = servers.filter(({ blocked }) => blocked === undefined);
  const sockets = asking.filter(isStreamed).length;
  const polls = asking.length - sockets;
  const callsPerMinute =
    sockets * CALLS_PER_SOCKET_AND_MINUTE +
    (polls * 60_000) / pollIntervalMs +
    listingPerMinute +
    listsPerMinute;
  return { sockets, polls, callsPerMinute };
}

/** The calls per minute that are available, and who sets that number. */
export interface AllowedRate {
  readonly perMinute: number;
  readonly source: string;
}

/** What this many servers need, what is available, and the consequence if that is too little; undefined if it is enough. */
export function budgetProblem(
  { callsPerMinute }: Needs,
  servers: number,
  { perMinute, source }: AllowedRate,
): Problem | undefined {
  if (callsPerMinute <= perMinute) return undefined;
  const [needed, allowed] = [callsPerMinute, perMinute].map((calls) =>
    Number(calls.toFixed(calls < 10 ? 2 : 1)),
  );
  const count = `${servers} ${servers === 1 ? 'server needs' : 'servers need'}`;
  return {
    cause: 'budget_too_small',
    detail: `${count} ${needed} API calls per minute, but ${source} allows ${allowed}: sockets reconnect late and polls are delayed, so servers have gaps in their data`,
  };
}

/** How many servers have no console socket because of the process's file descriptors, and how many it may open; else undefined. */
export function descriptorProblem(
  { sockets }: Needs,
  {
    descriptors,
    requiredDescriptors,
    part,
  }: Pick<SocketLimit, 'descriptors' | 'requiredDescriptors' | 'part'>,
): Problem | undefined {
  const without = sockets - part;
  if (without <= 0) return undefined;
  const room = `the limit of ${descriptors} open files leaves room for ${part} console sockets`;
  const others = `${without} ${without === 1 ? 'server has' : 'servers have'} none and can only be polled`;
  return { cause: 'descriptors', detail: `${room}; ${others}; required limit: ${requiredDescriptors}` };
}

/** The needs are logged once the panel's limit is known, or after this long without it. */
const LIMIT_KNOWN_WITHIN_MS = 10_000;

/** At the start, the panel's limit and its blocked servers become known one after the other: a line waits for both. */
const SETTLING_MS = 1_000;

/** What the needs of a panel's servers depend on, and what they are compared with. */
export interface NeedsOptions<Server> {
  readonly panel: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly servers: () => readonly Server[];
  readonly wishes: (servers: readonly Server[]) => Wishes;
  readonly budget: () => Pick<BudgetReading, 'isPinned' | 'limitPerMinute' | 'knownLimitPerMinute'>;
  readonly socketLimit: Pick<SocketLimit, 'descriptors' | 'requiredDescriptors' | 'sockets' | 'part'>;
}

/** Compares what a panel's servers need with what is allowed; logs it when that is known, and again when it changes. */
export class NeedsWatch<Server extends Pick<ServerTarget, 'mode' | 'blocked'>> {
  readonly #options: NeedsOptions<Server>;
  readonly #logProblems: ReturnType<typeof problemLog>;
  #logged: string | undefined;
  #isDue = false;
  #cancel: Cancel | undefined;
  #cancelLine: Cancel | undefined;

  constructor(options: NeedsOptions<Server>) {
    this.#options = options;
    this.#logProblems = problemLog(options.panel, options.log);
  }

  get current(): Needs {
    const servers = this.#options.servers();
    return needsOf(servers, this.#options.wishes(servers));
  }

  get reading(): NeedsReading {
    const { socketLimit } = this.#options;
    const { sockets, polls, callsPerMinute } = this.current;
    return {
      requiredCallsPerMinute: callsPerMinute,
      requiredSockets: sockets,
      allowedSockets: Math.min(socketLimit.part, socketLimit.sockets),
      polls,
    };
  }

  /** What keeps some servers from being monitored as configured, from the moment at which it is logged: a limit may still be unknown. */
  get problems(): readonly Problem[] {
    return this.#logged === undefined ? [] : this.#problemsOf(this.current);
  }

  /** The servers or the limit may have changed. */
  follow(): void {
    const { servers, budget, clock } = this.#options;
    const { isPinned, knownLimitPerMinute } = budget();
    // Before the first server is discovered there is nothing to log.
    if (servers().length === 0) return;
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
    const { servers, budget, socketLimit } = this.#options;
    const { isPinned, limitPerMinute: perMinute } = budget();
    const source = isPinned ? '`requests_per_minute`' : 'the API budget';
    return [
      descriptorProblem(needs, socketLimit),
      budgetProblem(needs, servers().length, { perMinute, source }),
    ].filter((problem) => problem !== undefined);
  }

  #write(): void {
    const { panel, log, clock, servers, budget } = this.#options;
    const needs = this.current;
    const { sockets, polls } = needs;
    const { limitPerMinute, knownLimitPerMinute: limit } = budget();
    const [budgetPerMinute, callsPerMinute] = [rounded(limitPerMinute), rounded(needs.callsPerMinute)];
    const fields = { panel, sockets, polls, callsPerMinute, budgetPerMinute };
    const problems = this.#problemsOf(needs);
    const causes = problems.map(({ cause }) => cause);
    const state = JSON.stringify([servers().length, sockets, polls, budgetPerMinute, causes]);
    if (state === this.#logged) return;
    this.#logged = state;
    this.#cancelLine?.();
    this.#logProblems(problems, fields);
    if (problems.length > 0) return;
    const rate = `using up to ${budgetPerMinute}${limit === undefined ? '' : ` of ${limit}`} calls per minute`;
    const line = `panel ${panel}: ${collectionOf(servers().length, needs)}; ${rate}`;
    this.#cancelLine = clock.schedule(SETTLING_MS, () => log.info(fields, line));
  }
}

/** How the servers are monitored; servers that the panel blocks aren't streamed or polled. */
function collectionOf(servers: number, { sockets, polls }: Needs): string {
  const all = serversInWords(servers);
  const blocked = servers - sockets - polls;
  const streaming = sockets === servers ? `streaming ${all}` : `streaming ${sockets} of ${all}`;
  return `${streaming}${polls > 0 ? `, polling ${polls}` : ''}${blocked > 0 ? ` (${blocked} blocked)` : ''}`;
}

function rounded(value: number): number {
  return Number(value.toFixed(1));
}
