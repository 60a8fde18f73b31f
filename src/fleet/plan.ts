import { CAUSES, problemLine } from '../diagnosis/causes.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { PlanReading } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import { type Shares, sharesOf } from '../panel/fair-share.ts';
import type { Standing } from '../session/session-ports.ts';

/** A socket costs one call per token, and a token is renewed after about eight of its ten minutes. */
const CALLS_PER_SOCKET_AND_MINUTE = 1 / 8;

/** How long a turn lasts: a token's whole lifetime. */
export const TURN_MS = 10 * 60_000;

/** The share of the turns' calls that is planned; the rest is for turns that fail and are retried. */
const TURN_SHARE = 0.9;

/** The share of the budget that sockets leave to servers that can only be polled. */
const POLL_SHARE = 0.2;

/**
 * The share of the budget that the listing may reserve, and the share that backups may reserve even if servers have to wait for
 * it.
 */
const LISTING_SHARE = 0.1;
const BACKUP_SHARE = 0.1;

/** The share of the budget for credentials of servers whose sockets keep failing: most of these calls fail. */
const RETRY_SHARE = 0.025;

/** The most retries of such a server, in calls per minute. */
const RETRIES_PER_MINUTE = 1 / 5;

/** The share that polls leave, at least, to sockets that are not open yet. */
const CONNECT_SHARE = 0.4;

/** Polls keep at least this share, for servers that fall back before they are planned as polled. */
const MIN_POLL_SHARE = 0.05;

/** The listing and the backups are guaranteed more than their average need, so that they don't run late. */
const LISTING_HEADROOM = 2;
const BACKUP_HEADROOM = 1.5;

/** The factor by which a planned poll or turn may be late before its sample counts as stale. */
const POLLED_STALENESS_INTERVALS = 2.5;
const TURN_LATENESS = 1.25;

/** What the configuration requests for one panel. */
export interface PlanRequest {
  /** Servers that may only stream (`mode: socket`). */
  readonly socketOnly: number;
  /** Servers that may stream or be polled (`mode: auto`). */
  readonly either: number;
  /** Servers that may only be polled (`mode: poll`). */
  readonly pollOnly: number;
  /** Servers that are polled because their sockets fail. */
  readonly fallenBack?: number;
  /** Calls a minute for sockets that are not open yet: polls leave these calls to them even if renewals need fewer. */
  readonly connects?: number;
  /** Console sockets for which the process has file descriptors; unlimited if absent. */
  readonly socketLimit?: number;
  /** Calls a minute that the budget allows. */
  readonly callsPerMinute: number;
  readonly pollIntervalMs: number;
  readonly stalenessMs: number;
}

/** The plan, and whether it covers everything that was requested. */
export interface Plan extends PlanReading {
  readonly fits: boolean;
  /**
   * How many servers of `mode: auto` may stream while the others are polled because the process's file descriptor limit is too
   * low; absent if all may.
   */
  readonly streamed?: number;
}

/** A panel's plan and the resulting shares of calls. */
export interface PanelPlan extends Plan {
  /** Calls a minute for backups: what they need, unless the budget doesn't allow it. */
  readonly backupsPerMinute: number;
  readonly shares: Shares;
  /** Polls are stretched because some sockets are not open yet. */
  readonly isTransitional: boolean;
}

/** A server as its plan sees it. */
export interface PlannedServer {
  readonly target: Pick<ServerTarget, 'mode' | 'blocked'>;
  readonly standing: Standing;
  /** Its socket is not open yet. */
  readonly isConnecting: boolean;
}

/** The input of a panel's plan besides its servers, in calls per minute. */
interface PanelBudget extends Pick<PlanRequest, 'pollIntervalMs' | 'stalenessMs' | 'socketLimit'> {
  readonly budgetPerMinute: number;
  readonly listingPerMinute: number;
  /** Calls needed to request backups as often as configured. */
  readonly backupsPerMinute: number;
}

/** Plans for the current servers of a panel, and includes the listing, backups and retries in the plan's cost; pure. */
export function planPanel(servers: readonly PlannedServer[], budget: PanelBudget): PanelPlan {
  const { budgetPerMinute, pollIntervalMs, stalenessMs, socketLimit = Number.POSITIVE_INFINITY } = budget;
  const counts = countServers(servers);
  const listing = Math.min(budget.listingPerMinute, budgetPerMinute * LISTING_SHARE);
  const retries = Math.min(counts.retrying * RETRIES_PER_MINUTE, budgetPerMinute * RETRY_SHARE);
  const connects = Math.min(counts.connecting, socketLimit, budgetPerMinute * CONNECT_SHARE);
  const planWith = (backups: number) =>
    planCollection({
      ...counts,
      connects,
      callsPerMinute: Math.max(0, budgetPerMinute - listing - retries - backups),
      pollIntervalMs,
      stalenessMs,
      socketLimit,
    });
  const left = budgetPerMinute - listing - retries - planWith(0).callsPerMinute;
  const backups = Math.min(budget.backupsPerMinute, Math.max(left, budgetPerMinute * BACKUP_SHARE));
  const plan = planWith(backups);
  return {
    ...plan,
    callsPerMinute: plan.callsPerMinute + listing + backups + retries,
    wantedCallsPerMinute:
      plan.wantedCallsPerMinute + budget.listingPerMinute + budget.backupsPerMinute + retries,
    backupsPerMinute: backups,
    isTransitional: counts.connecting > 0 && plan.polls > 0 && plan.turns === 0,
    shares: sharesOf(
      {
        poll: Math.max(budgetPerMinute * MIN_POLL_SHARE, (plan.polls * 60_000) / plan.pollIntervalMs),
        listing: Math.min(budgetPerMinute * LISTING_SHARE, Math.max(1, listing * LISTING_HEADROOM)),
        backups: Math.max(budgetPerMinute * RETRY_SHARE, backups * BACKUP_HEADROOM),
        retry: budgetPerMinute * RETRY_SHARE,
      },
      budgetPerMinute,
    ),
  };
}

interface ServerCounts extends Pick<PlanRequest, 'socketOnly' | 'either' | 'pollOnly'> {
  readonly fallenBack: number;
  readonly retrying: number;
  readonly connecting: number;
}

function countServers(servers: readonly PlannedServer[]): ServerCounts {
  const counts = { socketOnly: 0, either: 0, pollOnly: 0, fallenBack: 0, retrying: 0, connecting: 0 };
  for (const { target, standing, isConnecting } of servers) {
    // A server that is blocked according to the listing costs no calls.
    if (target.blocked !== undefined) continue;
    if (target.mode === 'poll') counts.pollOnly += 1;
    else if (standing !== 'planned') counts.retrying += 1;
    else if (target.mode === 'socket') counts.socketOnly += 1;
    else counts.either += 1;
    if (standing === 'fallback') counts.fallenBack += 1;
    if (isConnecting) counts.connecting += 1;
  }
  return counts;
}

/**
 * Divides a panel's budget; pure. If it can't renew a socket for every server, those of `mode: auto` take turns: one call yields
 * one sample when polling, and some 600 samples in a turn. Figures for both are in bench/RESULTS.md.
 */
export function planCollection(request: PlanRequest): Plan {
  const { socketOnly, either, callsPerMinute, pollIntervalMs } = request;
  const polls = request.pollOnly + (request.fallenBack ?? 0);
  const wantedPolls = (polls * 60_000) / pollIntervalMs;
  const renewals = (socketOnly + either) * CALLS_PER_SOCKET_AND_MINUTE;
  const wanted = renewals + wantedPolls;
  const reserved = polls === 0 ? 0 : Math.min(wantedPolls, callsPerMinute * POLL_SHARE);
  const takesTurns = either > 0 && renewals > callsPerMinute - reserved;
  const turns = takesTurns ? planTurns(request, reserved, wanted) : undefined;
  const { socketLimit = Number.POSITIVE_INFINITY } = request;
  const streamed = Math.max(0, socketLimit - socketOnly);
  if (streamed < (turns?.turnSockets ?? either)) {
    const few = planFew(request, streamed, wanted);
    if (few.turns === 0) return few;
    // The budget can't even renew this few sockets and poll the others.
    return planTurns(request, reserved, wanted, streamed);
  }
  if (turns !== undefined) return turns;
  const forSockets = Math.max(renewals, request.connects ?? 0);
  const pollCalls = Math.min(wantedPolls, Math.max(callsPerMinute - forSockets, reserved));
  return {
    fits: wanted <= callsPerMinute,
    sockets: socketOnly + either,
    polls,
    unseated: Math.max(0, socketOnly - socketLimit),
    pollIntervalMs: stretched(pollIntervalMs, polls, pollCalls),
    turns: 0,
    turnSockets: 0,
    longestAgeMs: request.stalenessMs,
    callsPerMinute: renewals + pollCalls,
    wantedCallsPerMinute: wanted,
  };
}

/**
 * Plans for a process that may hold fewer sockets than the budget could renew: the servers that fit keep their sockets and the
 * others are polled, since with so few places a turn would come round only after hours.
 */
function planFew(request: PlanRequest, streamed: number, wantedCallsPerMinute: number): Plan {
  const { socketOnly, either, pollOnly, socketLimit: _, ...rest } = request;
  const plan = planCollection({
    ...rest,
    socketOnly,
    either: streamed,
    pollOnly: pollOnly + either - streamed,
  });
  const unseated = either - streamed + Math.max(0, socketOnly - (request.socketLimit ?? 0));
  return {
    ...plan,
    fits: wantedCallsPerMinute <= request.callsPerMinute,
    unseated,
    streamed,
    wantedCallsPerMinute,
  };
}

function planTurns(
  request: PlanRequest,
  pollCalls: number,
  wantedCallsPerMinute: number,
  places = request.either,
): Plan {
  const { socketOnly, either, callsPerMinute, pollIntervalMs, stalenessMs } = request;
  const polls = request.pollOnly + (request.fallenBack ?? 0);
  const renewals = socketOnly * CALLS_PER_SOCKET_AND_MINUTE;
  const turnCalls = Math.max(0, callsPerMinute - renewals - pollCalls) * TURN_SHARE;
  const turnSockets = Math.min(places, Math.max(1, Math.floor((turnCalls * TURN_MS) / 60_000)));
  return {
    fits: false,
    sockets: socketOnly,
    polls,
    unseated: 0,
    pollIntervalMs: stretched(pollIntervalMs, polls, pollCalls),
    turns: either,
    turnSockets,
    longestAgeMs: longestAge(either, turnSockets, stalenessMs),
    callsPerMinute: renewals + pollCalls + (turnSockets * 60_000) / TURN_MS,
    wantedCallsPerMinute,
  };
}

/** The interval at which `callsPerMinute` polls all servers in turn. */
function stretched(pollIntervalMs: number, polls: number, callsPerMinute: number): number {
  if (polls === 0 || callsPerMinute <= 0) return pollIntervalMs;
  return Math.max(pollIntervalMs, (polls / callsPerMinute) * 60_000);
}

/** The maximum age of a server's sample between two of its turns. */
function longestAge(turns: number, places: number, stalenessMs: number): number {
  // Turns that began together end together, so each missing place costs a whole turn of waiting.
  const pauseMs = (Math.ceil(turns / places) - 1) * TURN_MS;
  return stalenessMs + pauseMs * TURN_LATENESS;
}

/** Milliseconds after which a polled sample is stale: as configured, or longer if polls come too rarely for that. */
export function polledStalenessMs(stalenessMs: number, pollIntervalMs: number): number {
  return pollIntervalMs * 2 > stalenessMs ? pollIntervalMs * POLLED_STALENESS_INTERVALS : stalenessMs;
}

const BUDGET = CAUSES.budget_too_small;

/** The circumstances of a plan that its log line mentions. */
export interface PlanContext {
  readonly panel: string;
  readonly servers: number;
  readonly allowance: Allowance;
  /** The panel's own limit in calls per minute, if it reported one. */
  readonly limit: number | 'none' | undefined;
  /** Why some servers have no socket. */
  readonly problem: Problem | undefined;
}

/** Logs a panel's plan, its cost, and how to lift its constraints. */
export function logPlan(log: Logger, plan: Plan, context: PlanContext): void {
  const { fits, sockets, polls, pollIntervalMs, turns, turnSockets, longestAgeMs } = plan;
  const { panel, servers, problem, limit } = context;
  const budgetPerMinute = rounded(context.allowance.perMinute);
  const fields = {
    panel,
    sockets,
    polls,
    pollIntervalSeconds: Math.round(pollIntervalMs / 1_000),
    turns,
    turnSockets,
    longestAgeSeconds: Math.round(longestAgeMs / 1_000),
    callsPerMinute: rounded(plan.callsPerMinute),
    wantedCallsPerMinute: rounded(plan.wantedCallsPerMinute),
    budgetPerMinute,
  };
  const rate = `using up to ${budgetPerMinute}${typeof limit === 'number' ? ` of ${limit}` : ''} calls per minute`;
  if (problem !== undefined) {
    log.warn({ ...fields, cause: problem.cause }, `panel ${panel}: ${problemLine(problem)}`);
  } else if (fits) {
    log.info(fields, `panel ${panel}: ${collectionOf(servers, plan)}; ${rate}`);
  } else {
    const short = budgetProblem(plan, servers, context.allowance);
    const text = problemLine(short ?? { cause: BUDGET.code, detail: boundsOf(plan) });
    log.warn({ ...fields, cause: BUDGET.code }, `panel ${panel}: ${text}`);
  }
}

/** How the servers are observed; servers that the panel holds, such as suspended ones, are neither streamed nor polled. */
function collectionOf(servers: number, { sockets, polls }: Plan): string {
  if (servers === 1 && sockets === 1) return '1 server, with its own console socket';
  const all = `${servers} ${servers === 1 ? 'server' : 'servers'}`;
  if (sockets === servers) return `${all}, each with its own console socket`;
  return `${all}, ${sockets} with a console socket, ${polls} polled`;
}

/** The calls per minute that are available, and who sets that number. */
export interface Allowance {
  readonly perMinute: number;
  readonly source: string;
}

/** What the plan of this many servers needs, what is available, and what follows if that is too little; otherwise undefined. */
export function budgetProblem(
  plan: Plan,
  servers: number,
  { perMinute, source }: Allowance,
): Problem | undefined {
  const needed = plan.wantedCallsPerMinute;
  if (needed <= perMinute) return undefined;
  const [needs, has] = [needed, perMinute].map((calls) => Number(calls.toFixed(calls < 10 ? 2 : 1)));
  const count = `${servers} ${servers === 1 ? 'server needs' : 'servers need'}`;
  const numbers = `${count} ${needs} API calls per minute, but ${source} allows ${has}`;
  return { cause: BUDGET.code, detail: [numbers, boundsOf(plan)].filter(Boolean).join(': ') };
}

function boundsOf({ polls, pollIntervalMs, turns, turnSockets, longestAgeMs }: Plan): string {
  const parts = [
    ...(turns > 0
      ? [`${turns} servers take turns on ${turnSockets} sockets, samples up to ${minutes(longestAgeMs)} old`]
      : []),
    ...(polls > 0 ? [`${polls} servers are polled every ${minutes(pollIntervalMs)}`] : []),
  ];
  return parts.join('; ');
}

function minutes(ms: number): string {
  return `${rounded(ms / 60_000)} min`;
}

function rounded(value: number): number {
  return Number(value.toFixed(1));
}
