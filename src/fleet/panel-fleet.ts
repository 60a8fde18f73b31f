import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { PanelReading } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { Resources } from '../panel/decode.ts';
import { panelTrouble } from '../panel/errors.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import { answeredResult } from '../session/poll-result.ts';
import { Session } from '../session/session.ts';
import type { SessionContext } from '../session/session-ports.ts';
import type { ConsoleSocket, SocketListener } from '../session/socket.ts';
import { LimitLearner } from './limit-learner.ts';
import { Member, type MemberOwner } from './member.ts';
import { type Plan, planCollection } from './plan.ts';
import { tellPlan } from './plan-log.ts';
import { RoleAssigner } from './role-assigner.ts';
import { regroup, type TargetChanges } from './roster.ts';
import { ServerRecord } from './server-record.ts';
import { type Defer, SlicedWork } from './sliced-work.ts';

/** What a panel's fleet is told of its panel. */
export interface PanelSettings {
  readonly name: string;
  readonly origin: string;
  readonly pollIntervalMs: number;
  readonly stalenessMs: number;
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
  /** The rate is pinned by the configuration: there is no limit to learn. */
  readonly ratePinned: boolean;
}

/** What a panel's fleet works with. */
export interface PanelContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly gateway: PanelGateway;
  readonly telemetry: PanelTelemetry;
  readonly openSocket: (url: string, listener: SocketListener) => ConsoleSocket;
  readonly addressProblem: (url: string) => string | undefined;
  /** How long work lets the event loop have its turn; `setImmediate` where absent. */
  readonly defer?: Defer;
}

/** A reserve that changes by less, in calls a minute, is no reason to plan anew. */
const LEAST_RESERVE_CHANGE = 0.1;

/** The part of the budget that is reserved at the most. */
const MOST_RESERVED = 0.25;

/** The servers of one panel: a session each, and the plan that keeps them within the panel's limit. */
export class PanelFleet {
  readonly #context: PanelContext;
  readonly #owner: MemberOwner;
  readonly #learner: LimitLearner;
  readonly #roles: RoleAssigner;
  /** Tells the sessions of the panel's health. */
  readonly #telling: SlicedWork;
  /** Members that left or began anew, while their sockets close. */
  readonly #closing = new Set<Promise<void>>();
  #settings: PanelSettings;
  #members: readonly Member[] = [];
  #records: readonly ServerRecord[] = [];
  #plan: Plan;
  /** Calls a minute that are made beside those for samples. */
  #reserve = 0;
  #isRunning = false;
  #isStopped = false;
  #unsubscribe: readonly (() => void)[] = [];

  constructor(settings: PanelSettings, targets: readonly ServerTarget[], context: PanelContext) {
    this.#settings = settings;
    this.#context = context;
    const sessions = this.#sessionContext();
    this.#owner = {
      createSession: (record) => new Session(sessions, record),
      cycleMs: () => this.#roles.cycleMs,
    };
    this.#roles = new RoleAssigner(context.clock, context.random, context.defer);
    this.#telling = new SlicedWork(context.defer);
    this.#learner = new LimitLearner({
      clock: context.clock,
      servers: () => this.#askable(),
      ask: (server, signal) => this.#learnFrom(server, signal),
    });
    this.#plan = this.#planFor(targets);
    this.setTargets(targets);
  }

  /** The servers in the list's order; another array where servers came, went or moved. */
  get records(): readonly ServerRecord[] {
    return this.#records;
  }

  start(): void {
    if (this.#isRunning || this.#isStopped) return;
    const { gateway } = this.#context;
    this.#isRunning = true;
    gateway.setFleetSize(this.#members.length);
    this.#unsubscribe = [
      gateway.onHealthChange(() => this.#onHealthChange()),
      gateway.onRateChange(() => this.#replan()),
    ];
    // Before the sessions' calls: what the panel allows decides how fast those may follow.
    if (!this.#settings.ratePinned) this.#learner.start();
    this.#replan();
  }

  /**
   * Observes these servers from now on. One that was observed already keeps its session, socket and record whatever else is said
   * of it; the same list again costs next to nothing. `reserve` calls a minute are left to what is asked beside samples.
   */
  setTargets(targets: readonly ServerTarget[], reserve = this.#reserve): TargetChanges {
    const { members, left, changes, isRegrouped } = regroup(this.#members, targets, (target) =>
      this.#createMember(target),
    );
    const isReserved = Math.abs(reserve - this.#reserve) >= LEAST_RESERVE_CHANGE;
    if ((!isRegrouped && !isReserved) || this.#isStopped) return changes;
    this.#reserve = reserve;
    this.#members = members;
    if (isRegrouped) this.#records = members.map((member) => member.record);
    if (!this.#isRunning) {
      this.#plan = this.#planFor(targets);
      return changes;
    }
    this.#context.gateway.setFleetSize(members.length);
    this.#replan();
    for (const member of left) this.#track(member.stop());
    this.#learner.serversChanged();
    return changes;
  }

  /** Takes on how often to poll and when a sample is stale, in milliseconds. */
  setIntervals(intervals: Pick<PanelSettings, 'pollIntervalMs' | 'stalenessMs'>): void {
    this.#settings = { ...this.#settings, ...intervals };
    if (this.#isRunning) this.#replan();
    else this.#plan = this.#planFor(this.#targets());
  }

  /** The gateway uses another key: what was refused to the old one is tried with it, and its limit learned. */
  keyChanged(): void {
    if (!this.#isRunning) return;
    for (const member of this.#members) {
      if (member.record.status.condition === 'blocked') this.#track(member.reset());
    }
    if (!this.#settings.ratePinned) {
      this.#learner.stop();
      this.#learner.start();
    }
    this.#replan();
  }

  /** Resolves when every socket is closed. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#isStopped = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#roles.stop();
    this.#telling.cancel();
    this.#learner.stop();
    await Promise.all([
      ...this.#members.map((member) => member.stop()),
      ...this.#closing,
      this.#context.gateway.close(),
    ]);
  }

  reading(): PanelReading {
    const { gateway } = this.#context;
    const { fits: _, ...plan } = this.#plan;
    return { name: this.#settings.name, up: gateway.health === 'up', budget: gateway.budget(), plan };
  }

  #sessionContext(): SessionContext {
    const { clock, log, random, gateway, telemetry, openSocket, addressProblem } = this.#context;
    const { origin, connectTimeoutMs, authTimeoutMs } = this.#settings;
    return {
      clock,
      log,
      random,
      telemetry,
      origin,
      connectTimeoutMs,
      authTimeoutMs,
      openSocket,
      addressProblem,
      panel: {
        credentials: (server, priority, signal) => gateway.credentials(server, priority, signal),
        resources: async (server, signal) => {
          const resources = await gateway.resources(server, signal);
          this.#learner.answered();
          return resources;
        },
      },
      keyRefused: () => gateway.health === 'refused',
      // While the panel is well, a refusal is one server's; before it was ever well, it may be the key's.
      toldByPanel: (error) => {
        const trouble = panelTrouble(error);
        return trouble === 'unreachable' || (trouble === 'refused' && gateway.health !== 'up');
      },
    };
  }

  #createMember(target: ServerTarget): Member {
    // Until its role says more.
    const { stalenessMs } = this.#settings;
    return new Member(new ServerRecord(target, { socket: stalenessMs, poll: stalenessMs }), this.#owner);
  }

  #track(closing: Promise<void>): void {
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }

  #targets(): readonly ServerTarget[] {
    return this.#records.map((record) => record.target);
  }

  // A server that is blocked likely has no answer that teaches.
  #askable(): readonly string[] {
    const ids = (records: readonly ServerRecord[]) => records.map((record) => record.target.id);
    const listed = this.#records.filter(({ target }) => target.blocked === undefined);
    const open = listed.filter((record) => !isBlocked(record));
    return ids(open.length > 0 ? open : listed);
  }

  async #learnFrom(server: string, signal: AbortSignal): Promise<void> {
    const { gateway, clock } = this.#context;
    const requestedAt = clock.now();
    const resources = await gateway.learn(server, signal);
    const record = this.#records.find(({ target }) => target.id === server);
    if (record === undefined || resources.sample === undefined || !showsPolls(record, resources)) return;
    record.pollSample(resources.sample, requestedAt, clock.now());
  }

  #onHealthChange(): void {
    this.#telling.begin(this.#tellHealth());
  }

  *#tellHealth(): Generator<void, void, void> {
    const { gateway } = this.#context;
    for (const member of this.#members) {
      member.followHealth(gateway.health === 'up');
      yield;
    }
  }

  #replan(): void {
    const { gateway, log } = this.#context;
    const { name, pollIntervalMs, stalenessMs } = this.#settings;
    const callsPerMinute = gateway.budget().limitPerMinute;
    this.#plan = this.#planFor(this.#targets());
    // A fleet that is yet to be discovered has no plan to tell.
    if (this.#members.length > 0) tellPlan(log, name, this.#plan, callsPerMinute);
    this.#roles.apply(this.#members, { plan: this.#plan, pollIntervalMs, stalenessMs, callsPerMinute });
  }

  #planFor(targets: readonly ServerTarget[]): Plan {
    // One that the listing says is blocked costs no calls.
    const count = (mode: ServerTarget['mode']) =>
      targets.filter((target) => target.mode === mode && target.blocked === undefined).length;
    const budget = this.#context.gateway.budget().limitPerMinute;
    const reserve = Math.min(this.#reserve, budget * MOST_RESERVED);
    const plan = planCollection({
      socketOnly: count('socket'),
      either: count('auto'),
      pollOnly: count('poll'),
      callsPerMinute: budget - reserve,
      pollIntervalMs: this.#settings.pollIntervalMs,
      stalenessMs: this.#settings.stalenessMs,
    });
    return {
      ...plan,
      callsPerMinute: plan.callsPerMinute + reserve,
      wantedCallsPerMinute: plan.wantedCallsPerMinute + this.#reserve,
    };
  }
}

/** Would a poll of the server be shown, and this answer with it? */
function showsPolls(record: ServerRecord, resources: Resources): boolean {
  const isObservable = record.target.mode !== 'socket' && !isBlocked(record);
  return isObservable && answeredResult(resources).type === 'answered';
}

/** Was the server refused, or does the listing say that it would be? */
function isBlocked({ target, status }: ServerRecord): boolean {
  return status.condition === 'blocked' || target.blocked !== undefined;
}
