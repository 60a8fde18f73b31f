import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { PlanReading } from '../domain/reading.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import { type Allowance, budgetProblem, logPlan, type PanelPlan, planPanel } from './plan.ts';
import type { RefreshSlots } from './refresh-slots.ts';
import { RoleAssigner } from './role-assigner.ts';
import type { Member } from './roster.ts';
import type { Defer } from './sliced-work.ts';
import type { SocketClaim, SocketLimit } from './socket-limit.ts';

/** The delay until a plan covers servers that fell back or recovered, and the shortest gap between such plans. */
const STANDINGS_PLANNED_AFTER_MS = 15_000;

/** How long polls stay stretched for sockets that are not open yet. */
const TRANSITION_PLANNED_AFTER_MS = 60_000;

/** A plan is logged if an interval changed by this factor. */
const NOTABLE_CHANGE = 1.25;

/** The first plan is logged once the panel's limit is known, or after this long without it. */
const LIMIT_KNOWN_WITHIN_MS = 10_000;

/** A plan that changed because servers fell back is logged only after this long, since a node's restart passes. */
const LASTS_MS = 120_000;

/** What the planner plans for, in calls per minute. */
export interface PlannedFleet {
  readonly panel: () => {
    readonly name: string;
    readonly pollIntervalMs: number;
    readonly stalenessMs: number;
    /** The rate is that of `requests_per_minute`. */
    readonly ratePinned: boolean;
  };
  readonly members: () => readonly Member[];
  readonly budgetPerMinute: () => number;
  /** The panel's own limit: undefined while the panel may still report one. */
  readonly knownLimit: () => number | 'none' | undefined;
  readonly listingPerMinute: () => number;
  /** Calls needed to request backups as often as configured. */
  readonly backupsPerMinute: () => number;
}

/** What the planner depends on. */
export interface PlannerContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly gateway: Pick<PanelGateway, 'setShares'>;
  readonly slots: RefreshSlots;
  readonly socketLimit: SocketLimit;
  readonly defer?: Defer;
}

/** Keeps a fleet's plan up to date and applies it: roles for the members, shares for the kinds of calls. */
export class Planner {
  readonly #context: PlannerContext;
  readonly #fleet: PlannedFleet;
  readonly #roles: RoleAssigner;
  #plan: PanelPlan;
  #logged: { readonly plan: PanelPlan; readonly servers: number; readonly isShort: boolean } | undefined;
  #cancelLog: Cancel | undefined;
  #cancelStandings: Cancel | undefined;
  #cancelTransition: Cancel | undefined;
  #isRunning = false;
  readonly #claim: SocketClaim;

  constructor(context: PlannerContext, fleet: PlannedFleet) {
    this.#context = context;
    this.#fleet = fleet;
    this.#claim = context.socketLimit.join(() => this.replan());
    this.#roles = new RoleAssigner(context.clock, context.random, context.defer);
    this.#plan = this.#made();
  }

  get plan(): PanelPlan {
    return this.#plan;
  }

  /** The plan as exported. */
  get reading(): PlanReading {
    const {
      fits: _,
      backupsPerMinute: __,
      shares: ___,
      isTransitional: ____,
      streamed: _____,
      ...reading
    } = this.#plan;
    return reading;
  }

  /** What prevents some servers from being observed as configured. */
  get problems(): readonly Problem[] {
    return [this.#descriptorProblem, this.#budgetProblem].filter((problem) => problem !== undefined);
  }

  /** Why servers that may stream have no socket, if there are any. */
  get #descriptorProblem(): Problem | undefined {
    const { sockets, turnSockets, unseated } = this.#plan;
    if (unseated === 0) return undefined;
    const { descriptors, wantedDescriptors } = this.#context.socketLimit;
    const allowed = `the limit of ${descriptors} open files leaves room for ${sockets + turnSockets} console sockets`;
    const others = `${unseated} ${unseated === 1 ? 'server has' : 'servers have'} none and can only be polled`;
    return { cause: 'descriptors', detail: `${allowed}; ${others}; required limit: ${wantedDescriptors}` };
  }

  /** Present from the moment the log reports it, because a plan may be short until the limit is known or a node is back. */
  get #budgetProblem(): Problem | undefined {
    if (this.#logged?.isShort !== true || !this.#isShort) return undefined;
    return budgetProblem(this.#plan, this.#fleet.members().length, this.#allowance);
  }

  get #allowance(): Allowance {
    const source = this.#fleet.panel().ratePinned ? 'requests_per_minute' : 'the API budget';
    return { perMinute: this.#fleet.budgetPerMinute(), source };
  }

  get #isShort(): boolean {
    return !this.#plan.fits || this.#plan.backupsPerMinute < this.#fleet.backupsPerMinute();
  }

  /** Applies the plan from now on. */
  start(): void {
    this.#isRunning = true;
    this.replan();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancelStandings?.();
    this.#cancelTransition?.();
    this.#cancelLog?.();
    this.#roles.stop();
    this.#claim.leave();
  }

  /** Makes a new plan, because its input changed. */
  replan(): void {
    this.#plan = this.#made();
    if (!this.#isRunning) return;
    const { clock, gateway } = this.#context;
    const callsPerMinute = this.#fleet.budgetPerMinute();
    const { stalenessMs } = this.#fleet.panel();
    gateway.setShares(this.#plan.shares);
    this.#logInTime();
    this.#holdRefreshesBack(callsPerMinute);
    this.#roles.apply(this.#fleet.members(), { plan: this.#plan, stalenessMs, callsPerMinute });
    this.#cancelTransition?.();
    if (this.#plan.isTransitional)
      this.#cancelTransition = clock.schedule(TRANSITION_PLANNED_AFTER_MS, () => this.replan());
  }

  /** Servers fell back or recovered: a new plan covers them soon, but isn't made for each of them. */
  standingsChanged(): void {
    if (!this.#isRunning || this.#cancelStandings !== undefined) return;
    this.#cancelStandings = this.#context.clock.schedule(STANDINGS_PLANNED_AFTER_MS, () => {
      this.#cancelStandings = undefined;
      this.replan();
    });
  }

  #made(): PanelPlan {
    const { panel, members, budgetPerMinute, listingPerMinute, backupsPerMinute } = this.#fleet;
    const { pollIntervalMs, stalenessMs } = panel();
    const current = members();
    const servers = current.map(({ record: { target }, standing, isConnecting }) => ({
      target,
      standing,
      isConnecting,
    }));
    // Before the start there is nothing to share yet.
    const socketLimit = this.#isRunning ? this.#claim.claim(countStreamed(current)) : undefined;
    return planPanel(servers, {
      ...(socketLimit !== undefined && { socketLimit }),
      budgetPerMinute: budgetPerMinute(),
      listingPerMinute: listingPerMinute(),
      backupsPerMinute: backupsPerMinute(),
      pollIntervalMs,
      stalenessMs,
    });
  }

  /** Logs the plan once it is known, and again once a changed plan has lasted. */
  #logInTime(): void {
    const servers = this.#fleet.members().length;
    // There is no plan to log until servers are discovered.
    if (servers === 0) return;
    const isDue =
      this.#logged === undefined ? this.#fleet.knownLimit() !== undefined : this.#logged.servers !== servers;
    if (isDue || !this.#isNews) {
      this.#cancelLog?.();
      this.#cancelLog = undefined;
      if (this.#isNews) this.#log(servers);
      return;
    }
    const delayMs = this.#logged === undefined ? LIMIT_KNOWN_WITHIN_MS : LASTS_MS;
    this.#cancelLog ??= this.#context.clock.schedule(delayMs, () => {
      this.#cancelLog = undefined;
      this.#log(this.#fleet.members().length);
    });
  }

  get #isNews(): boolean {
    return this.#logged === undefined || !isAlike(this.#logged.plan, this.#plan);
  }

  #log(servers: number): void {
    const { log } = this.#context;
    const { name } = this.#fleet.panel();
    this.#logged = { plan: this.#plan, servers, isShort: this.#isShort };
    logPlan(log, this.#plan, {
      panel: name,
      servers,
      allowance: this.#allowance,
      limit: this.#fleet.knownLimit(),
      problem: this.#descriptorProblem,
    });
    const wanted = this.#fleet.backupsPerMinute();
    const planned = this.#plan.backupsPerMinute;
    if (planned >= wanted) return;
    log.warn(
      {
        panel: name,
        cause: 'budget_too_small',
        wantedCallsPerMinute: wanted,
        callsPerMinute: planned,
      },
      `panel ${name}: backups need ${wanted.toFixed(1)} calls per minute, but the budget allows only ${planned.toFixed(1)}: each server's backups are read ${(wanted / planned).toFixed(1)} times less often; raise the panel's limit or backups.interval`,
    );
  }

  /** While some sockets are not open yet, first refreshes wait so that they don't delay them. */
  #holdRefreshesBack(callsPerMinute: number): void {
    const { clock, slots } = this.#context;
    const waiting = this.#fleet.members().filter(({ isConnecting }) => isConnecting).length;
    slots.setQuiet(clock.now() + (waiting / callsPerMinute) * 60_000);
  }
}

/** Servers that should have a console socket, if one is available. */
function countStreamed(members: readonly Member[]): number {
  return members.filter(({ record: { target } }) => target.mode !== 'poll' && target.blocked === undefined)
    .length;
}

/** Do both plans say much the same? */
function isAlike(one: PanelPlan, other: PanelPlan): boolean {
  const isNear = (a: number, b: number) => Math.max(a, b) <= Math.min(a, b) * NOTABLE_CHANGE;
  return (
    one.fits === other.fits &&
    one.turns > 0 === other.turns > 0 &&
    isNear(one.unseated, other.unseated) &&
    isNear(one.pollIntervalMs, other.pollIntervalMs) &&
    isNear(one.longestAgeMs, other.longestAgeMs) &&
    isNear(one.backupsPerMinute, other.backupsPerMinute)
  );
}
