import type { CauseCode, Problem } from '../domain/problems.ts';
import type { CollectionStatus, SocketState } from '../domain/reading.ts';
import type { Sample, ServerState, ServerTarget } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { Cancel, Clock } from '../domain/time.ts';
import { problemOf } from '../panel/api.ts';
import type { DaemonWords, Resources, SocketCodec } from '../panel/dialect.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { InTurn } from './connect-pacer.ts';
import type { SocketTimeouts } from './machine.ts';
import { isResting, type MachineState, socketState } from './machine-model.ts';
import {
  afterPoll,
  declinesTrial,
  isPollRetry,
  NEVER,
  NEVER_POLLED,
  type PollIntervals,
  type PollPlan,
  type PollState,
  planOf,
  polledStalenessMs,
  resultOf,
} from './plan.ts';
import type { ConsoleSocket, SocketListener } from './socket.ts';
import { neededBy, Streamer } from './streamer.ts';

/** A panel's settings for console sockets. */
export interface SessionSettings extends SocketTimeouts {
  /** Sent as `Origin`; mentioned when an upgrade is refused. */
  readonly origin: string;
}

/** How a panel's console sockets are opened, and to which addresses. */
export interface SocketAccess {
  /** The codec of the messages on its sockets. */
  readonly codec: SocketCodec;
  /** Calls back when it is this panel's turn to open a socket. */
  readonly inTurn: InTurn;
  readonly openSocket: (url: string, listener: SocketListener) => ConsoleSocket;
  /** Why the exporter may not connect to this address, which the panel gave; undefined if it may. */
  readonly addressProblem: (url: string) => Problem | undefined;
  /** Is this address, of the panel or of a socket, reached through a proxy? */
  readonly isProxied: (url: string) => boolean;
}

/** Where a session stores what it learns; one server's entry in the fleet store. */
export interface SessionRecord {
  readonly target: ServerTarget;
  /** Included in the log, if known. */
  readonly node?: string | undefined;
  readonly sampledAt: number | undefined;
  /**
   * Events may have been missed until now, so the next state is not a transition: a new socket begins, or the node withheld events
   * from the open one because it no longer accepts the token.
   */
  interrupted(): void;
  /** The sample is valid only during the call. */
  socketSample(sample: Sample, now: number): void;
  stateHint(state: ServerState, now: number): void;
  consoleLines: number;
  /** Has the server just stopped, so that the daemon may explain it on the console? */
  readonly awaitsWords: boolean;
  daemonWords(words: DaemonWords, now: number): void;
  /** The host and port that the panel gives for the server's socket. */
  socketHost: string | undefined;
  pollSample(sample: Sample, requestedAt: number, now: number): void;
  /** From now on, a polled sample is stale after this many milliseconds. */
  setPolledStaleness(stalenessMs: number): void;
  setCollection(status: CollectionStatus, socket: SocketState): void;
}

/** How a server's condition changed. */
export interface ConditionChange {
  readonly before: CollectionStatus;
  readonly now: CollectionStatus;
  /** The server's socket has been open before. */
  readonly hasStreamed: boolean;
}

/** Gets what may be logged about servers. */
export interface SessionLog {
  conditionChanged(record: SessionRecord, change: ConditionChange): void;
  /** The panel gives another host and port for the server's socket than before. */
  socketMoved(record: SessionRecord, from: string, to: string): void;
}

/** What all sessions of a panel share. */
export interface SessionContext {
  readonly sockets: SocketAccess;
  readonly clock: Clock;
  readonly log: SessionLog;
  readonly random: () => number;
  readonly panel: Pick<
    PanelGateway,
    'credentials' | 'resources' | 'isCurrent' | 'socketEnded' | 'declineTrial' | 'reclassify'
  >;
  readonly telemetry: PanelTelemetry;
  readonly settings: SessionSettings;
  /** The node reported that a backup of the server completed. */
  readonly backupCompleted?: (record: SessionRecord) => void;
  /** The condition of this server is shown, and what is known of its node: both may have changed. */
  readonly shown?: (record: SessionRecord) => void;
  /** What the session of this server sees now. */
  readonly surroundings: (record: SessionRecord, isRunning: boolean) => Surroundings;
}

/** The sockets of a server's node, or its polls; instants are monotonic milliseconds. */
export interface WayState {
  /** Why it can't be used for now: a problem of the panel, the path, the account or the node. */
  readonly heldBy: Problem | undefined;
  /** When the panel was last blamed for it or cleared, and the node: failures from before are explained, or over. */
  readonly panelJudgedAt: number;
  readonly nodeJudgedAt: number;
}

const FREE: WayState = { heldBy: undefined, panelJudgedAt: NEVER, nodeJudgedAt: NEVER };

/** All that a session sees of the world around it; instants are monotonic milliseconds. */
export interface Surroundings extends PollIntervals {
  readonly now: number;
  readonly isRunning: boolean;
  /** What configuration and server list say of the server. */
  readonly target: ServerTarget;
  /** When the server list was last read completely. */
  readonly listedAt: number;
  /** The process may open a file for its socket. */
  readonly hasRoom: boolean;
  readonly sockets: WayState;
  readonly polls: WayState;
  /** The sockets of its node work as far as is known, or this server is the one that tries them. */
  readonly mayConnect: boolean;
  /** This server is the one that tries them, with new credentials if `isFresh`. */
  readonly trial: { readonly isFresh: boolean } | undefined;
  /** When another server last worked that had failed for a cause: any server of the panel, and those of its node. */
  readonly recovered: ReadonlyMap<CauseCode, number>;
  readonly recoveredOnNode: ReadonlyMap<CauseCode, number>;
}

/** Nothing holds the server, and nothing has happened that it could react to. */
export const NOTHING_KNOWN = {
  listedAt: NEVER,
  hasRoom: true,
  sockets: FREE,
  polls: FREE,
  mayConnect: true,
  trial: undefined,
  recovered: new Map<CauseCode, number>(),
  recoveredOnNode: new Map<CauseCode, number>(),
  pollIntervalMs: 30_000,
  stalenessMs: 60_000,
} satisfies Partial<Surroundings>;

/** What a session knows of its own server. */
export interface SessionState {
  readonly machine: MachineState;
  readonly poll: PollState;
  readonly sampledAt: number | undefined;
  /** Since when the session has needed a socket. */
  readonly waitingSince: number;
  readonly status: CollectionStatus;
}

/** Requests one server's resources as its plan says; never two requests at once. */
export class Poller {
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #owner: { changed(): void };
  #plan: PollPlan | undefined;
  #state: PollState = NEVER_POLLED;
  #cancel: Cancel | undefined;
  #inFlight: AbortController | undefined;

  constructor(context: SessionContext, record: SessionRecord, owner: { changed(): void }) {
    this.#context = context;
    this.#record = record;
    this.#owner = owner;
  }

  get state(): PollState {
    return this.#state;
  }

  /** Undefined if no request is needed. */
  follow(plan: PollPlan | undefined): void {
    const wasRetry = isPollRetry(this.#stateNow);
    this.#plan = plan;
    this.#cancel?.();
    this.#cancel = undefined;
    if (plan === undefined) {
      this.#inFlight?.abort(new Error('the poll is no longer needed'));
      this.#inFlight = undefined;
      this.#state = { ...this.#state, result: NEVER_POLLED.result };
    } else if (this.#inFlight === undefined) {
      const { clock } = this.#context;
      this.#cancel = clock.schedule(plan.at - clock.now(), () => void this.#poll(plan));
    } else if (wasRetry !== isPollRetry(this.#stateNow))
      this.#context.panel.reclassify(this.#record.target.id);
  }

  async #poll(plan: PollPlan): Promise<void> {
    const { clock, random, panel } = this.#context;
    const { target, sampledAt } = this.#record;
    const controller = new AbortController();
    const startedAt = clock.now();
    const isFirst = sampledAt === undefined && this.#state.startedAt === NEVER_POLLED.startedAt;
    // Of servers that are due together, the one whose last poll was earlier goes first.
    const neededAt = Math.max(startedAt, this.#state.endedAt + plan.pollIntervalMs);
    const ask = {
      deadline: neededBy(neededAt, isFirst, plan.pollIntervalMs),
      isRetry: () => isPollRetry(this.#stateNow),
    };
    this.#inFlight = controller;
    this.#state = { ...this.#state, startedAt };
    const answer = await panel.resources(target, ask, controller.signal).catch(problemOf);
    if (this.#inFlight !== controller) return;
    this.#inFlight = undefined;
    const now = clock.now();
    if (!('cause' in answer)) this.#store(answer, startedAt, polledStalenessMs(plan, now - startedAt));
    const next = { now, random: random(), intervalMs: plan.pollIntervalMs };
    this.#state = afterPoll(this.#stateNow, resultOf(answer), next);
    this.#owner.changed();
  }

  /** The state, without failures that say nothing any more. */
  get #stateNow(): PollState {
    const isOutdated = this.#plan?.isOutdated === true;
    return isOutdated ? { ...this.#state, result: NEVER_POLLED.result } : this.#state;
  }

  #store({ badFields, suspended, sample }: Resources, startedAt: number, stalenessMs: number): void {
    const { clock, telemetry } = this.#context;
    for (let bad = 0; bad < badFields; bad += 1) telemetry.badMessage?.('bad_field');
    if (suspended || sample === undefined) return;
    this.#record.setPolledStaleness(stalenessMs);
    this.#record.pollSample(sample, startedAt, clock.now());
  }
}

/** Keeps one server monitored: by its socket, or by polls while it can't have one. */
export class Session {
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #streamer: Streamer;
  /** Undefined before the first poll, because most servers are never polled. */
  #poller: Poller | undefined;
  #isRunning = false;
  #waitingSince: number | undefined;
  #status: CollectionStatus = { condition: 'stopped' };
  #hasStreamed = false;

  constructor(context: SessionContext, record: SessionRecord) {
    this.#context = context;
    this.#record = record;
    this.#streamer = new Streamer(context, record, this);
  }

  get machine(): MachineState {
    return this.#streamer.machine;
  }

  /** Resolves when the sockets closed so far are gone. */
  get closing(): Promise<void> {
    return this.#streamer.closing;
  }

  changed(): void {
    this.sees(this.#context.surroundings(this.#record, this.#isRunning));
  }

  /** Does what the server needs in these surroundings, and shows its condition. */
  sees(surroundings: Surroundings): void {
    const { isRunning, now } = surroundings;
    // Who begins again has waited since the first time.
    if (isRunning) this.#waitingSince ??= now;
    this.#isRunning = isRunning;
    const { machine } = this;
    const { socket, poll, status } = planOf(this.#state, surroundings);
    if (socket !== undefined) this.#streamer.happened(socket);
    // That was a change of its own, with everything that follows from it.
    if (this.machine !== machine) return;
    if (declinesTrial(machine, surroundings)) this.#context.panel.declineTrial(this.#record.target.id);
    if (poll !== undefined) this.#poller ??= new Poller(this.#context, this.#record, this);
    this.#poller?.follow(poll);
    // Polling that ends forgets its failures.
    if (!isRunning) this.#poller = undefined;
    this.#show(status);
  }

  get #state(): SessionState {
    return {
      machine: this.machine,
      poll: this.#poller?.state ?? NEVER_POLLED,
      sampledAt: this.#record.sampledAt,
      waitingSince: this.#waitingSince ?? 0,
      status: this.#status,
    };
  }

  /** Publishes the condition, and logs it if it changed. */
  #show(status: CollectionStatus): void {
    this.#record.setCollection(status, socketState(this.machine));
    this.#context.shown?.(this.#record);
    const { condition, blocked, problem } = this.#status;
    const isChanged = status.condition !== condition || status.blocked !== blocked;
    // After a socket was closed, the cause that prevents reopening it is logged once no attempt is under way.
    const isLost = status.condition === 'failing' || status.condition === 'blocked';
    const isExplained =
      isLost && isResting(this.machine) && problem?.cause === 'closed' && status.problem?.cause !== 'closed';
    if (isChanged || isExplained) {
      this.#context.log.conditionChanged(this.#record, {
        before: isExplained ? { condition: 'streaming' } : this.#status,
        now: status,
        hasStreamed: this.#hasStreamed,
      });
    }
    this.#status = status;
    this.#hasStreamed ||= status.condition === 'streaming';
  }
}
