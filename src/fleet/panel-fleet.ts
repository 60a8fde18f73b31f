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
import { type Plan, planCollection, polledStalenessMs } from './plan.ts';
import { ServerRecord } from './server-record.ts';

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

interface Member {
  readonly record: ServerRecord;
  readonly session: Session;
}

/** The servers of one panel: a session each, and the plan that keeps them within the panel's limit. */
export class PanelFleet {
  readonly #settings: PanelSettings;
  readonly #context: PanelContext;
  readonly #members: readonly Member[];
  readonly #learner: LimitLearner;
  #plan: Plan;
  #unsubscribe: readonly (() => void)[] = [];

  constructor(settings: PanelSettings, targets: readonly ServerTarget[], context: PanelContext) {
    this.#settings = settings;
    this.#context = context;
    this.#plan = this.#planFor(targets);
    const sessions = this.#sessionContext();
    this.#members = targets.map((target) => {
      const record = new ServerRecord(target, this.#staleness(settings.pollIntervalMs));
      return { record, session: new Session(sessions, record) };
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
    });
  }

  #applyPlan(): void {
    this.#tellPlan();
    const { pollIntervalMs } = this.#settings;
    let sockets =
      this.#plan.sockets - this.#members.filter(({ record }) => record.target.mode === 'socket').length;
    for (const { record, session } of this.#members) {
      const { mode } = record.target;
      const streams = mode === 'socket' || (mode === 'auto' && sockets-- > 0);
      const intervalMs = streams ? pollIntervalMs : this.#plan.pollIntervalMs;
      record.staleness = this.#staleness(intervalMs);
      session.assume(streams ? { type: 'stream', pollIntervalMs } : this.#polledRole(record));
    }
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

  #staleness(pollIntervalMs: number): Readonly<Record<SampleSource, number>> {
    const { stalenessMs } = this.#settings;
    return { socket: stalenessMs, poll: polledStalenessMs(stalenessMs, pollIntervalMs) };
  }

  #tellPlan(): void {
    const { fits, sockets, polls, pollIntervalMs, callsPerMinute, wantedCallsPerMinute } = this.#plan;
    const fields = {
      panel: this.#settings.name,
      sockets,
      polls,
      pollIntervalSeconds: Math.round(pollIntervalMs / 1_000),
      callsPerMinute: Number(callsPerMinute.toFixed(1)),
      wantedCallsPerMinute: Number(wantedCallsPerMinute.toFixed(1)),
      budgetPerMinute: Number(this.#context.gateway.budget().limitPerMinute.toFixed(1)),
    };
    if (fits) {
      this.#context.log.info(fields, 'plan: every server that may stream gets a socket');
      return;
    }
    this.#context.log.warn(
      fields,
      'plan: the panel allows fewer calls than this configuration needs, so some servers are polled in turn; ' +
        "to lift it, raise the panel's limit, put some servers in a second panels entry with another account's key, or run shards with keys of their own",
    );
  }
}
