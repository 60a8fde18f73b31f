import type { Problem } from '../domain/problem.ts';
import type { CollectionStatus } from '../domain/reading.ts';
import type { BlockedReason } from '../domain/server.ts';
import type { Recovery } from '../panel/gateway.ts';
import { collectionStatus, isListedReason, logCondition, mayBeOfPanel, socketState } from './condition.ts';
import { type Due, type Need, needOf, pollBy, polledStalenessMs } from './due.ts';
import type { MachineState } from './machine-model.ts';
import {
  type PollAttempt,
  Poller,
  type PollOutcome,
  type PollResult,
  resultOfAnswer,
  resultOfError,
} from './poller.ts';
import type { SessionContext, SessionRecord } from './session-ports.ts';
import { isLive, isResting, Streamer, type StreamerOwner } from './streamer.ts';

/** Keeps one server monitored: by its socket, or by polls while it can't have one. */
export class Session implements StreamerOwner {
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #hasRoom: () => boolean;
  readonly #streamer: Streamer;
  /** Undefined before the first poll, because most servers are never polled. */
  #poller: Poller | undefined;
  #isRunning = false;
  #waitingSince = 0;
  #pollResult: PollResult = { type: 'none' };
  #hasPolled = false;
  #status: CollectionStatus = { condition: 'stopped' };
  #hasStreamed = false;

  /** `hasRoom`: may the process open a file for the server's socket? `follow` tells the session that this changed. */
  constructor(context: SessionContext, record: SessionRecord, hasRoom: () => boolean = () => true) {
    this.#hasRoom = hasRoom;
    this.#context = context;
    this.#record = record;
    this.#streamer = new Streamer(context, record, this);
  }

  /** The socket of a server that the panel blocks lasts as long as its token. */
  renews(): boolean {
    return this.#record.target.blocked === undefined;
  }

  tokenSpent(): void {
    this.#streamer.stop();
  }

  changed(): void {
    this.follow();
  }

  start(): void {
    this.#isRunning = true;
    this.#waitingSince = this.#context.clock.now();
    this.follow();
  }

  /** Resolves when the socket is closed. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#streamer.stop();
    this.follow();
    // Polling that ends forgets its failures.
    this.#poller = undefined;
    await this.#streamer.closing;
  }

  /** Retries now, because the problem of the panel or its API key may be gone. */
  wake(): void {
    const { machine } = this.#streamer;
    const isOther = machine.name === 'blocked' && !mayBeOfPanel(machine.refused.reason);
    if (!isOther) this.#streamer.wake();
    this.wakePolls();
  }

  /** The server list was read, and doesn't show that the panel blocks the server: a response that did may be outdated. */
  listedAsFree(): void {
    const { machine } = this.#streamer;
    if (machine.name === 'blocked' && isListedReason(machine.refused.reason)) this.#streamer.wake();
    const poll = this.#pollResult;
    if (poll.type === 'refused' && isListedReason(poll.reason)) this.#poller?.wake();
  }

  /** The node's sockets work again, so they are worth a try. */
  wakeSocket(): void {
    const { machine } = this.#streamer;
    if (mayBeOfNode(machine)) this.#streamer.wake();
  }

  /** Its socket is to try those of its node. */
  tryNode(isFresh: boolean): void {
    this.#streamer.tryNode(isFresh);
  }

  /** Another server works that failed on this node, or was refused although it is listed as this one is: this one may work, too. */
  othersRecovered({ cause, node }: Recovery): void {
    const { target } = this.#record;
    const isListed = target.node !== undefined && target.blocked === undefined;
    const { machine } = this.#streamer;
    if (isListed && machine.name === 'blocked' && machine.problem?.cause === cause) this.#streamer.wake();
    const poll = this.#pollResult;
    if (poll.type === 'none' || poll.type === 'answered' || poll.problem.cause !== cause) return;
    if (poll.type === 'refused' ? isListed : node === this.#record.node) this.#poller?.wake();
  }

  /** The panel reaches the node again. */
  wakePolls(): void {
    const poll = this.#pollResult;
    if (poll.type === 'failed' || (poll.type === 'refused' && mayBeOfPanel(poll.reason)))
      this.#poller?.wake();
  }

  /** Does what the server needs next, which depends on its target, its socket and the panel's circuits. */
  follow(): void {
    const { socket } = this.#need();
    if (socket === 'hold') this.#streamer.start();
    else if (socket === 'none' || !isLive(this.#streamer.machine)) this.#streamer.stop();
    const { poll } = this.#need();
    if (poll.type === 'off') this.#pollResult = { type: 'none' };
    const { clock, random } = this.#context;
    if (poll.type === 'on')
      this.#poller ??= new Poller(
        clock,
        random,
        (attempt) => this.#poll(attempt),
        () => this.#record.target.node !== undefined,
      );
    this.#poller?.follow(poll);
    const { machine } = this.#streamer;
    const isWoken = 'wokenAt' in machine && machine.wokenAt !== undefined;
    this.#show(poll.type === 'on' && !(isWoken && poll.from > clock.now()));
  }

  #need(): Need {
    if (!this.#isRunning) return { socket: 'none', poll: { type: 'off' } };
    const { target, node, sampledAt } = this.#record;
    return needOf({
      mode: target.mode,
      blocked: target.blocked,
      hasRoom: this.#hasRoom(),
      isSocketHeld: this.#socketHold(node) !== undefined,
      isPollHeld: this.#context.panel.pollHold(node) !== undefined,
      machine: this.#streamer.machine,
      sampledAt,
      waitingSince: this.#waitingSince,
      pollIntervalMs: this.#context.settings.pollIntervalMs,
    });
  }

  /** Why no socket of the server's node is opened for now. */
  #socketHold(node: string | undefined): Problem | undefined {
    return isLive(this.#streamer.machine) ? undefined : this.#context.panel.socketHold(node);
  }

  async #poll({ dueAt, isRetry, signal }: PollAttempt): Promise<PollOutcome> {
    const { clock, panel, telemetry, settings } = this.#context;
    const { pollIntervalMs, stalenessMs } = settings;
    const { sampledAt, target } = this.#record;
    const due: Due = { at: dueAt, isFirst: sampledAt === undefined && !this.#hasPolled };
    this.#hasPolled = true;
    const ask = { deadline: pollBy(due, pollIntervalMs), isRetry };
    const ended = await panel.resources(target.id, ask, signal).then(
      (resources) => ({ resources, result: resultOfAnswer(resources) }),
      (error: unknown) => ({ resources: undefined, result: resultOfError(error) }),
    );
    if (signal.aborted) return 'failed';
    const { resources, result } = ended;
    for (let bad = 0; bad < (resources?.badFields ?? 0); bad += 1) telemetry.badMessage('bad_field');
    if (result.type === 'answered' && resources?.sample !== undefined) {
      const now = clock.now();
      this.#record.setPolledStaleness(polledStalenessMs(stalenessMs, pollIntervalMs, now - dueAt));
      this.#record.pollSample(resources.sample, dueAt, now);
    }
    this.#pollResult = result;
    this.follow();
    return result.type;
  }

  /** Publishes the condition, and logs it if it changed. */
  #show(isPolled: boolean): void {
    const { machine } = this.#streamer;
    const status = this.#currentStatus(isPolled);
    this.#record.setCollection(status, socketState(machine));
    const { condition, blocked, problem } = this.#status;
    const isChanged = status.condition !== condition || status.blocked !== blocked;
    // After a socket was closed, the cause that prevents reopening it is logged once no attempt is under way.
    const isLost = status.condition === 'failing' || status.condition === 'blocked';
    const isExplained =
      isLost && isResting(machine) && problem?.cause === 'closed' && status.problem?.cause !== 'closed';
    if (isChanged || isExplained) this.#log(status, isExplained ? { condition: 'streaming' } : this.#status);
    this.#status = status;
    this.#hasStreamed ||= status.condition === 'streaming';
  }

  #log(status: CollectionStatus, before: CollectionStatus): void {
    const { target, node } = this.#record;
    const waitsForSocket =
      status.condition === 'polling' && status.problem === undefined && target.mode !== 'poll';
    logCondition(this.#context.log, target, status, {
      node,
      before,
      hasStreamed: this.#hasStreamed,
      isRoutine: waitsForSocket,
    });
  }

  #currentStatus(isPolled: boolean): CollectionStatus {
    if (!this.#isRunning) return { condition: 'stopped' };
    const { machine } = this.#streamer;
    const { target, node } = this.#record;
    const { panel } = this.#context;
    if (target.blocked !== undefined) return blockedByListing(target.blocked, machine);
    const status = collectionStatus({
      machine,
      polling: isPolled,
      poll: this.#pollResult,
      mode: target.mode,
      socketHold: machine.name === 'idle' ? undefined : this.#socketHold(node),
      pollHold: isPolled ? panel.pollHold(node) : undefined,
    });
    // A server that was blocked stays so until the panel or its node responds.
    const isAsked = status.condition === 'waiting' || status.condition === 'connecting';
    return this.#status.condition === 'blocked' && isAsked ? this.#status : status;
  }
}

function blockedByListing(reason: BlockedReason, machine: MachineState): CollectionStatus {
  const detail = `${reason} according to the panel's server list`;
  // A streaming server isn't blocked, whatever the server list shows.
  return isLive(machine)
    ? {
        condition: 'streaming',
        problem: { cause: reason, detail: `${detail}, but the console socket streams` },
      }
    : { condition: 'blocked', blocked: reason, problem: { cause: reason, detail } };
}

/** Does the server rest for a reason that may be its node's? A refusal of its own isn't. */
function mayBeOfNode(machine: MachineState): boolean {
  return (
    machine.name === 'backingOff' || (machine.name === 'blocked' && machine.refused.reason === undefined)
  );
}
