import { CAUSES } from '../diagnosis/causes.ts';
import type { CollectionStatus } from '../domain/reading.ts';
import { type BlockedReason, identityOf, type SampleSource } from '../domain/server.ts';
import { collectionStatus, logCondition, recoveredWay, socketState } from './condition.ts';
import type { MachineState } from './machine-model.ts';
import {
  answeredResult,
  failedResult,
  Poller,
  type PollOutcome,
  type PollResult,
  type PollSituation,
  pollPolicy,
  standingOf,
} from './poller.ts';
import type { Role, SessionContext, SessionOwner, SessionRecord, Standing } from './session-ports.ts';
import { Streamer } from './streamer.ts';

/** Keeps one server observed in its assigned role: by its socket, by polls, or by one after the other. */
export class Session {
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #owner: SessionOwner | undefined;
  readonly #streamer: Streamer;
  readonly #poller: Poller;
  #role: Role = { type: 'rest' };
  #waitingSince = 0;
  #pollResult: PollResult = { type: 'none' };
  #status: CollectionStatus = { condition: 'stopped' };
  #standing: Standing = 'planned';
  #hasStreamed = false;

  constructor(context: SessionContext, record: SessionRecord, owner?: SessionOwner) {
    this.#owner = owner;
    this.#context = context;
    this.#record = record;
    this.#streamer = new Streamer(context, record, {
      // A turn lasts exactly as long as its token, and so does the socket of a suspended server.
      renews: () => this.#role.type !== 'turn' && this.#role.type !== 'suspended',
      tokenSpent: () => this.#onTokenSpent(),
      changed: () => this.#onMachineChange(),
    });
    this.#poller = new Poller(context.clock, context.random, (signal) => this.#poll(signal));
  }

  /** Assumes a role; an open socket is reused if the role needs one. */
  assume(role: Role): void {
    this.#role = role;
    if (role.type === 'stream' || role.type === 'turn') {
      if (this.#streamer.machine.name === 'idle') this.#waitingSince = this.#context.clock.now();
      this.#streamer.start();
    } else if (role.type !== 'suspended' || !isLive(this.#streamer.machine)) {
      this.#streamer.stop();
    }
    this.#settle();
  }

  /** Takes part in turns, and waits for the first one. */
  waitForTurn(): void {
    if (this.#role.type !== 'wait') this.assume({ type: 'wait' });
  }

  /** Retries now, because the problem of the panel or its API key may be gone. */
  wake(): void {
    const { machine } = this.#streamer;
    const wasKey = machine.name === 'blocked' && isOfKey(machine.refused.reason);
    if (machine.name === 'backingOff' || wasKey) this.#streamer.wake();
    const poll = this.#pollResult;
    if (poll.type === 'failed' || (poll.type === 'refused' && isOfKey(poll.reason))) this.#poller.wake();
  }

  /** Another server of the node can be observed again through this source, so try it now. */
  wakeNode(way: SampleSource): void {
    const { machine } = this.#streamer;
    const isWaiting = machine.name === 'backingOff' || machine.name === 'blocked';
    const isOfNode =
      isWaiting && machine.problem !== undefined && CAUSES[machine.problem.cause].scope === 'node';
    if (way === 'socket' && isOfNode) this.#streamer.wake();
    if (this.#pollResult.type === 'failed') this.#poller.wake();
  }

  /** Updates the condition, because it may depend on the panel's health. */
  refresh(): void {
    this.#settle();
  }

  /** Resolves when the socket is closed. */
  async stop(): Promise<void> {
    this.assume({ type: 'rest' });
    this.#context.slots?.release(identityOf(this.#record.target));
    await this.#streamer.closing;
  }

  #onMachineChange(): void {
    this.#settle();
    if (this.#role.type === 'suspended' && !isLive(this.#streamer.machine)) this.#streamer.stop();
    if (this.#role.type === 'turn' && isOverForNow(this.#streamer.machine)) this.#endTurn();
  }

  #onTokenSpent(): void {
    if (this.#role.type === 'suspended') this.#streamer.stop();
    else this.#endTurn();
  }

  // A server whose turn failed isn't given another one: it is retried separately until its socket streams.
  #endTurn(): void {
    const role = this.#role;
    if (role.type !== 'turn') return;
    const { pollIntervalMs } = role;
    const end = isOverForNow(this.#streamer.machine) ? 'failed' : 'spent';
    this.assume(end === 'failed' ? { type: 'stream', pollIntervalMs } : { type: 'wait' });
    role.onOver(end);
  }

  async #poll(signal: AbortSignal): Promise<PollOutcome> {
    const { clock, panel, telemetry } = this.#context;
    const requestedAt = clock.now();
    const ended = await panel.resources(this.#record.target.id, signal).then(
      (resources) => ({ resources, result: answeredResult(resources) }),
      (error: unknown) => ({ resources: undefined, result: failedResult(error) }),
    );
    if (signal.aborted) return 'failed';
    const { resources, result } = ended;
    for (let bad = 0; bad < (resources?.badFields ?? 0); bad += 1) telemetry.badMessage('bad_field');
    if (result.type === 'answered' && resources?.sample !== undefined) {
      this.#record.pollSample(resources.sample, requestedAt, clock.now());
    }
    this.#pollResult = result;
    this.#settle();
    return result.type;
  }

  /** Updates polling and the condition to the state of the machine. */
  #settle(): void {
    const situation: PollSituation = {
      role: this.#role,
      mode: this.#record.target.mode,
      machine: this.#streamer.machine,
      sampledAt: this.#record.sampledAt,
      waitingSince: this.#waitingSince,
    };
    const policy = pollPolicy(situation);
    if (policy.type === 'off') this.#pollResult = { type: 'none' };
    this.#poller.follow(policy);
    const status = this.#currentStatus(policy.type === 'on');
    this.#record.setCollection(status, socketState(this.#streamer.machine));
    const { condition, blocked, problem } = this.#status;
    const isChanged = status.condition !== condition || status.blocked !== blocked;
    // After a socket was closed, the cause that prevents reopening it is news once no attempt is under way.
    const { name } = this.#streamer.machine;
    const isAtRest = name === 'backingOff' || name === 'blocked';
    const isLost = status.condition === 'failing' || status.condition === 'blocked';
    const isExplained =
      isLost && isAtRest && problem?.cause === 'closed' && status.problem?.cause !== 'closed';
    if (isChanged || isExplained) this.#log(status, isExplained ? { condition: 'streaming' } : this.#status);
    const before = this.#status;
    this.#status = status;
    this.#hasStreamed ||= status.condition === 'streaming';
    this.#notifyOwner(before, status, standingOf(situation, policy, this.#pollResult));
  }

  #log(status: CollectionStatus, before: CollectionStatus): void {
    const { type } = this.#role;
    const waitsForSocket = status.condition === 'polling' && status.problem === undefined && type !== 'poll';
    const takesTurn = type === 'turn' && before.condition === 'waiting';
    logCondition(this.#context.log, this.#record.target, status, {
      node: this.#record.node,
      before,
      hasStreamed: this.#hasStreamed,
      isRoutine: waitsForSocket || takesTurn,
    });
  }

  #notifyOwner(before: CollectionStatus, now: CollectionStatus, standing: Standing): void {
    const hasChanged = standing !== this.#standing;
    this.#standing = standing;
    if (hasChanged && standing !== 'planned') this.#context.slots?.release(identityOf(this.#record.target));
    if (hasChanged) this.#owner?.standingChanged(standing);
    const way = recoveredWay(before, now);
    if (way !== undefined) this.#owner?.recovered(way);
  }

  #currentStatus(polling: boolean): CollectionStatus {
    if (this.#role.type === 'rest') return { condition: 'stopped' };
    const { machine } = this.#streamer;
    if (this.#role.type === 'suspended') {
      const { reason } = this.#role;
      const detail = `${reason} according to the panel's listing`;
      // A streaming server isn't blocked, whatever the listing says.
      return isLive(machine)
        ? {
            condition: 'streaming',
            problem: { cause: reason, detail: `${detail}, but the console socket streams` },
          }
        : { condition: 'blocked', blocked: reason, problem: { cause: reason, detail } };
    }
    return collectionStatus({
      machine,
      polling,
      poll: this.#pollResult,
      mode: this.#record.target.mode,
      keyProblem: this.#context.keyProblem(),
    });
  }
}

/** Would continuing cost another call or a long wait? If so, the next server makes better use of the place. */
function isOverForNow(machine: MachineState): boolean {
  return machine.name === 'blocked' || (machine.name === 'backingOff' && machine.failures > 1);
}

function isLive(machine: MachineState): boolean {
  return machine.name === 'streaming' || machine.name === 'refreshing';
}

/** May the refusal concern the API key? A 401 may, and a problem of the key itself has no reason that belongs to the server. */
function isOfKey(reason: BlockedReason | undefined): boolean {
  return reason === undefined || reason === 'unauthorized';
}
