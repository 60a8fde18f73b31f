import type { CollectionStatus } from '../domain/collection.ts';
import { collectionStatus, socketState } from './condition.ts';
import { subjectOf, tellCondition } from './condition-log.ts';
import type { MachineState } from './machine-model.ts';
import { pollPolicy, type Role } from './poll-policy.ts';
import { answeredResult, failedResult, type PollResult } from './poll-result.ts';
import { Poller, type PollOutcome } from './poller.ts';
import type { SessionContext, SessionRecord } from './session-ports.ts';
import { Streamer } from './streamer.ts';

/** Keeps one server observed in the role that it is given: by its socket, by polls, or by one after the other. */
export class Session {
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #streamer: Streamer;
  readonly #poller: Poller;
  #role: Role = { type: 'rest' };
  #waitingSince = 0;
  #pollResult: PollResult = { type: 'none' };
  #status: CollectionStatus = { condition: 'stopped' };
  /** The trouble that the last turn ended with. */
  #lastTurn: MachineState | undefined;
  /** The newest trouble was told by the panel, once for all its servers. */
  #told = false;

  constructor(context: SessionContext, record: SessionRecord) {
    this.#context = context;
    this.#record = record;
    this.#streamer = new Streamer(context, record, {
      // A turn lasts as long as its token, to the last second, and so does the socket of a server that is held.
      renews: () => this.#role.type !== 'turn' && this.#role.type !== 'held',
      tokenSpent: () => this.#onTokenSpent(),
      changed: () => this.#onMachineChange(),
      troubled: (told) => {
        this.#told = told;
      },
    });
    this.#poller = new Poller(context.clock, context.random, (signal) => this.#poll(signal));
  }

  /** Takes on a role; a socket that is open already serves a role that wants one. */
  assume(role: Role): void {
    this.#role = role;
    if (role.type === 'stream' || role.type === 'turn') {
      if (this.#streamer.machine.name === 'idle') this.#waitingSince = this.#context.clock.now();
      this.#streamer.start();
    } else if (role.type !== 'held' || !isLive(this.#streamer.machine)) {
      this.#streamer.stop();
    }
    this.#settle();
  }

  /** Takes part in turns, and waits for the first. */
  waitForTurn(pollIntervalMs: number): void {
    if (this.#role.type !== 'wait') this.assume({ type: 'wait', pollIntervalMs, pollable: false });
  }

  /** What kept the server from being observed may be over (the panel answers again): try now. */
  wake(): void {
    const { machine } = this.#streamer;
    const wasRefused = machine.name === 'blocked' && machine.refused.reason === 'unauthorized';
    if (machine.name === 'backingOff' || wasRefused) this.#streamer.wake();
    if (this.#pollResult.type === 'failed' || isUnauthorized(this.#pollResult)) this.#poller.wake();
  }

  /** The panel's health changed: the condition may follow from that alone. */
  refresh(): void {
    this.#settle();
  }

  /** Resolves when the socket is closed. */
  async stop(): Promise<void> {
    this.assume({ type: 'rest' });
    await this.#streamer.closing;
  }

  #onMachineChange(): void {
    this.#settle();
    if (this.#role.type === 'held' && !isLive(this.#streamer.machine)) this.#streamer.stop();
    if (this.#role.type === 'turn' && isOverForNow(this.#streamer.machine)) this.#endTurn();
  }

  #onTokenSpent(): void {
    if (this.#role.type === 'held') this.#streamer.stop();
    else this.#endTurn();
  }

  // What the turn ended with is what is known of the server until the next: its trouble, or a refusal that stands.
  #endTurn(): void {
    const role = this.#role;
    if (role.type !== 'turn') return;
    const { machine } = this.#streamer;
    const failed = machine.name === 'blocked' || machine.name === 'backingOff' ? machine : undefined;
    this.#lastTurn = failed;
    const pollable = failed?.refused?.pollable === true && this.#record.target.mode === 'auto';
    this.assume({ type: 'wait', pollIntervalMs: role.pollIntervalMs, pollable });
    role.onOver();
  }

  async #poll(signal: AbortSignal): Promise<PollOutcome> {
    const { clock, panel, telemetry, toldByPanel } = this.#context;
    const requestedAt = clock.now();
    const ended = await panel.resources(this.#record.target.id, signal).then(
      (resources) => ({ resources, result: answeredResult(resources), told: false }),
      (error: unknown) => ({ resources: undefined, result: failedResult(error), told: toldByPanel(error) }),
    );
    if (signal.aborted) return 'failed';
    const { resources, result, told } = ended;
    for (let bad = 0; bad < (resources?.badFields ?? 0); bad += 1) telemetry.badMessage('bad_field');
    if (result.type === 'answered' && resources?.sample !== undefined) {
      this.#record.pollSample(resources.sample, requestedAt, clock.now());
    }
    this.#told = told;
    this.#pollResult = result;
    this.#settle();
    return result.type;
  }

  /** Brings polling and the shown condition in line with where the machine stands. */
  #settle(): void {
    const policy = pollPolicy({
      role: this.#role,
      mode: this.#record.target.mode,
      machine: this.#streamer.machine,
      sampledAt: this.#record.sampledAt,
      waitingSince: this.#waitingSince,
    });
    if (policy.type === 'off') this.#pollResult = { type: 'none' };
    this.#poller.follow(policy);
    const status = this.#currentStatus(policy.type === 'on');
    this.#record.setCollection(status, socketState(this.#streamer.machine));
    if (status.condition !== this.#status.condition || status.blocked !== this.#status.blocked) {
      const told = this.#told || this.#context.keyRefused();
      tellCondition(this.#context.log, { ...subjectOf(this.#record.target), ...status }, told);
    }
    this.#status = status;
  }

  #currentStatus(polling: boolean): CollectionStatus {
    if (this.#role.type === 'rest') return { condition: 'stopped' };
    const { machine } = this.#streamer;
    if (this.#role.type === 'held' && !isLive(machine)) {
      const { reason } = this.#role;
      return { condition: 'blocked', blocked: reason, trouble: `the panel's listing says: ${reason}` };
    }
    return collectionStatus({
      machine: this.#role.type === 'wait' ? (this.#lastTurn ?? machine) : machine,
      polling,
      poll: this.#pollResult,
      mode: this.#record.target.mode,
      keyRefused: this.#context.keyRefused(),
    });
  }
}

/** Would going on cost another call, or wait for long? Then the place is better given to the next. */
function isOverForNow(machine: MachineState): boolean {
  return machine.name === 'blocked' || (machine.name === 'backingOff' && machine.failures > 1);
}

function isLive(machine: MachineState): boolean {
  return machine.name === 'streaming' || machine.name === 'refreshing';
}

function isUnauthorized(result: PollResult): boolean {
  return result.type === 'refused' && result.reason === 'unauthorized';
}
