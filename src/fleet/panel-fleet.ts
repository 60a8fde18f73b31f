import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { PanelReading } from '../domain/reading.ts';
import type { SampleSource } from '../domain/sample.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import { panelTrouble } from '../panel/errors.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { Role } from '../session/poll-policy.ts';
import { Session } from '../session/session.ts';
import type { SessionContext } from '../session/session-ports.ts';
import type { ConsoleSocket, SocketListener } from '../session/socket.ts';
import { LimitLearner } from './limit-learner.ts';
import { type Plan, planCollection, polledStalenessMs, TURN_MS } from './plan.ts';
import { tellPlan } from './plan-log.ts';
import { ServerRecord } from './server-record.ts';
import { Turns, type TurnTaker } from './turns.ts';

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
}

/** How the plan has a server observed. */
type PlannedRole = 'stream' | 'turns' | 'poll';

interface Member extends TurnTaker {
  readonly record: ServerRecord;
  readonly session: Session;
}

/** The servers of one panel: a session each, and the plan that keeps them within the panel's limit. */
export class PanelFleet {
  readonly #settings: PanelSettings;
  readonly #context: PanelContext;
  readonly #members: readonly Member[];
  readonly #learner: LimitLearner;
  readonly #turns = new Turns();
  #plan: Plan;
  #unsubscribe: readonly (() => void)[] = [];

  constructor(settings: PanelSettings, targets: readonly ServerTarget[], context: PanelContext) {
    this.#settings = settings;
    this.#context = context;
    this.#plan = this.#planFor(targets);
    const sessions = this.#sessionContext();
    this.#members = targets.map((target) => {
      const record = new ServerRecord(target, this.#staleness('stream'));
      const session = new Session(sessions, record);
      return {
        record,
        session,
        beginTurn: (onOver) => session.assume({ type: 'turn', pollIntervalMs: this.#cycleMs(), onOver }),
      };
    });
    this.#learner = new LimitLearner({
      clock: context.clock,
      servers: targets.map((target) => target.id),
      ask: (server, signal) => this.#learnFrom(server, signal),
    });
  }

  get records(): readonly ServerRecord[] {
    return this.#members.map((member) => member.record);
  }

  start(): void {
    const { gateway } = this.#context;
    gateway.setFleetSize(this.#members.length);
    this.#unsubscribe = [
      gateway.onHealthChange(() => this.#onHealthChange()),
      gateway.onRateChange(() => this.#replan()),
    ];
    // Before the sessions' calls: what the panel allows decides how fast those may follow.
    if (!this.#settings.ratePinned) this.#learner.start();
    this.#applyPlan();
  }

  /** Resolves when every socket is closed. */
  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#learner.stop();
    this.#turns.plan([], 0);
    await Promise.all([
      ...this.#members.map((member) => member.session.stop()),
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

  async #learnFrom(server: string, signal: AbortSignal): Promise<void> {
    const { gateway, clock } = this.#context;
    const requestedAt = clock.now();
    const resources = await gateway.learn(server, signal);
    if (resources.sample === undefined) return;
    const member = this.#members.find(({ record }) => record.target.id === server);
    member?.record.pollSample(resources.sample, requestedAt, clock.now());
  }

  #onHealthChange(): void {
    const { health } = this.#context.gateway;
    for (const { session } of this.#members) {
      session.refresh();
      if (health === 'up') session.wake();
    }
  }

  #replan(): void {
    this.#plan = this.#planFor(this.#members.map((member) => member.record.target));
    this.#applyPlan();
  }

  #planFor(targets: readonly ServerTarget[]): Plan {
    const count = (mode: ServerTarget['mode']) => targets.filter((target) => target.mode === mode).length;
    return planCollection({
      socketOnly: count('socket'),
      either: count('auto'),
      pollOnly: count('poll'),
      callsPerMinute: this.#context.gateway.budget().limitPerMinute,
      pollIntervalMs: this.#settings.pollIntervalMs,
      stalenessMs: this.#settings.stalenessMs,
    });
  }

  #applyPlan(): void {
    const { gateway, log } = this.#context;
    tellPlan(log, this.#settings.name, this.#plan, gateway.budget().limitPerMinute);
    const takers: Member[] = [];
    for (const member of this.#members) {
      const { record, session } = member;
      const role = this.#roleOf(record);
      record.staleness = this.#staleness(role);
      if (role === 'turns') takers.push(member);
      else if (role === 'stream') {
        session.assume({ type: 'stream', pollIntervalMs: this.#settings.pollIntervalMs });
      } else session.assume(this.#polledRole(record));
    }
    this.#takeTurns(takers);
  }

  #roleOf({ target }: ServerRecord): PlannedRole {
    if (target.mode === 'poll') return 'poll';
    return target.mode === 'auto' && this.#plan.turns > 0 ? 'turns' : 'stream';
  }

  // Who has a socket already begins, and needs no new one for it.
  #takeTurns(takers: readonly Member[]): void {
    const [begun, waiting] = [true, false].map((isLive) =>
      takers.filter(({ record }) => (record.status.condition === 'streaming') === isLive),
    );
    this.#turns.plan([...(begun ?? []), ...(waiting ?? [])], this.#plan.turnSockets);
    const pollIntervalMs = this.#cycleMs();
    for (const taker of takers) if (!this.#turns.has(taker)) taker.session.waitForTurn(pollIntervalMs);
  }

  /** How long it takes until a server's turn comes round. */
  #cycleMs(): number {
    const { turns, turnSockets } = this.#plan;
    return turnSockets === 0 ? TURN_MS : (turns / turnSockets) * TURN_MS;
  }

  // First polls are spread over the time that the budget takes for them, so that they don't stand in line together.
  #polledRole(record: ServerRecord): Role {
    const { clock, random, gateway } = this.#context;
    const { pollIntervalMs, polls } = this.#plan;
    const roundMs = Math.min(pollIntervalMs, (polls / gateway.budget().limitPerMinute) * 60_000);
    const { source, sampledAt } = record;
    const firstPollAt =
      source === 'poll' && sampledAt !== undefined
        ? sampledAt + pollIntervalMs
        : clock.now() + roundMs * random();
    return { type: 'poll', pollIntervalMs, firstPollAt };
  }

  #staleness(role: PlannedRole): Readonly<Record<SampleSource, number>> {
    const { stalenessMs, pollIntervalMs } = this.#settings;
    if (role === 'turns') return { socket: this.#plan.longestAgeMs, poll: this.#plan.longestAgeMs };
    const intervalMs = role === 'poll' ? this.#plan.pollIntervalMs : pollIntervalMs;
    return { socket: stalenessMs, poll: polledStalenessMs(stalenessMs, intervalMs) };
  }
}
