import type { Cancel } from '../domain/clock.ts';
import { subjectOf } from '../domain/log.ts';
import { printable } from '../domain/printable.ts';
import type { Problem } from '../domain/problem.ts';
import { Connection } from './connection.ts';
import { connectBy } from './due.ts';
import { tokenFailure } from './failure.ts';
import { type MachineContext, step } from './machine.ts';
import {
  effectsOf,
  INITIAL_STATE,
  isAttempt,
  isLive,
  isResting,
  isTokenRetry,
  type MachineEffect,
  type MachineEvent,
  type MachineState,
  timersOf,
  unansweredIn,
} from './machine-model.ts';
import type { StreamContext, StreamRecord, WayOwner } from './session-ports.ts';
import { isListed } from './surroundings.ts';
import { toToken } from './token.ts';

/** Holds one server's console socket: runs what its machine's states require, and feeds events to it. */
export class Streamer {
  readonly #context: StreamContext;
  readonly #record: StreamRecord;
  readonly #owner: WayOwner;
  #machine: MachineState = INITIAL_STATE;
  /** For what the state does next by itself. */
  #cancelTimer: Cancel | undefined;
  #connection: Connection | undefined;
  #fetch: AbortController | undefined;
  /** When the attempt under way began. */
  #attemptedAt = 0;
  #socketHost: string | undefined;
  #closing: Promise<void> = Promise.resolve();

  constructor(context: StreamContext, record: StreamRecord, owner: WayOwner) {
    this.#context = context;
    this.#record = record;
    this.#owner = owner;
  }

  get machine(): MachineState {
    return this.#machine;
  }

  /** Resolves when the sockets closed so far are gone. */
  get closing(): Promise<void> {
    return this.#closing;
  }

  /** The server was chosen to try its node's sockets, and doesn't. */
  declineTrial(): void {
    this.#report('withdrawn');
  }

  /** Something happened to the server or its connection. */
  happened(event: MachineEvent): void {
    const before = this.#machine;
    const state = step(before, event, this.#machineContext());
    if (state === before) return;
    this.#machine = state;
    if (isAttempt(state) && !isAttempt(before)) this.#attemptedAt = this.#context.clock.now();
    for (const effect of effectsOf(before, state)) this.#run(effect);
    if (this.#connection !== undefined) this.#connection.awaitsStats = unansweredIn(state) > 0;
    this.#setTimer();
    // Last, because a report may begin another attempt.
    this.#reportChange(before, state);
    this.#owner.changed();
  }

  #machineContext(): MachineContext {
    const { clock, random, settings, panel } = this.#context;
    const { node, target } = this.#record;
    const mayRenew = target.blocked === undefined;
    return {
      now: clock.now(),
      random: random(),
      timeouts: settings,
      isCurrent: (socketUrl) => panel.isCurrent(node, socketUrl),
      isListed: isListed(target),
      mayRenew,
    };
  }

  #run(effect: MachineEffect): void {
    switch (effect.type) {
      case 'fetchToken':
        void this.#fetchToken();
        break;
      case 'abortFetch':
        this.#fetch?.abort(new Error('the credentials are no longer needed'));
        this.#fetch = undefined;
        break;
      case 'openSocket':
        void this.#openSocket(effect.epoch, effect.url);
        break;
      case 'closeSocket':
        this.#closing = Promise.all([this.#closing, this.#connection?.close()]).then(() => undefined);
        this.#connection = undefined;
        break;
      case 'authenticate':
        this.#connection?.send({ event: 'auth', token: effect.token });
        break;
      case 'requestStats':
        this.#connection?.send({ event: 'send stats' });
        break;
      case 'countReconnect':
        this.#context.telemetry.reconnect(effect.reason);
        break;
    }
  }

  /** A timer belongs to the state, and ends with it. */
  #setTimer(): void {
    const { clock } = this.#context;
    this.#cancelTimer?.();
    const next = this.#nextTimer;
    this.#cancelTimer = next && clock.schedule(Math.max(0, next.at - clock.now()), () => this.#onTimer());
  }

  get #nextTimer() {
    const timers = timersOf(this.#machine, this.#connection?.lastStatsAt ?? 0);
    return timers.toSorted((one, other) => one.at - other.at)[0];
  }

  #onTimer(): void {
    const next = this.#nextTimer;
    // Frames postpone the end of a silence without setting the timer again.
    if (next === undefined || next.at > this.#context.clock.now()) this.#setTimer();
    // The next attempt depends on more than time.
    else if (isResting(this.#machine)) this.#owner.changed();
    else this.happened({ type: next.type });
  }

  /** Tells the panel when an attempt or a socket ends, and when stats arrive: that shows whether the node's sockets work. */
  #reportChange(before: MachineState, now: MachineState): void {
    const wasOpen = isAttempt(before) || isLive(before);
    if (isLive(now) && !isLive(before)) this.#report(undefined);
    else if (isResting(now) && wasOpen) this.#report(now.problem ?? 'withdrawn', socketUrlOf(before));
    else if (wasOpen && (now.name === 'idle' || (isLive(before) && !isLive(now)))) this.#report('withdrawn');
  }

  #report(end: Problem | 'withdrawn' | undefined, url?: string): void {
    this.#context.panel.socketEnded(this.#record.target.id, { startedAt: this.#attemptedAt, url, end });
  }

  async #fetchToken(): Promise<void> {
    const controller = new AbortController();
    this.#fetch = controller;
    const event = await this.#tokenEvent(controller.signal).catch((error: unknown): MachineEvent => {
      return { type: 'tokenFailed', failure: tokenFailure(error) };
    });
    if (this.#fetch !== controller) return;
    this.#fetch = undefined;
    this.happened(event);
  }

  /** Requests credentials, by the time at which they are needed. */
  async #tokenEvent(signal: AbortSignal): Promise<MachineEvent> {
    const { clock, random, panel, addressProblem } = this.#context;
    const { target, sampledAt } = this.#record;
    const machine = this.#machine;
    const isRefresh = machine.name === 'refreshing';
    const isFirst = sampledAt === undefined && isUntried(machine);
    const ask = {
      daemon: target.daemon,
      deadline: isRefresh ? machine.token.expiresAt : connectBy({ at: clock.now(), isFirst }),
      isRetry: () => isTokenRetry(this.#machine),
      isRefresh,
    };
    const token = toToken(await panel.credentials(target.id, ask, signal), {
      isRefresh,
      now: clock.now(),
      random: random(),
    });
    const problem = addressProblem(token.socketUrl);
    return problem === undefined
      ? { type: 'tokenFetched', token }
      : { type: 'tokenFailed', failure: { reason: 'no_token', problem } };
  }

  // A server never has two sockets: this waits for the old one to close, which takes at most a second.
  async #openSocket(epoch: number, url: string): Promise<void> {
    await this.#closing;
    if (this.#machine.name !== 'connecting' || this.#machine.epoch !== epoch) return;
    // The settings may have changed since the token was fetched.
    const problem = this.#context.addressProblem(url);
    if (problem !== undefined) {
      this.happened({ type: 'closed', epoch, failure: { reason: 'no_token', problem } });
      return;
    }
    this.#noteHost(url);
    this.#connection = new Connection(this.#context, this.#record, this, { epoch, url });
    this.#connection.open();
  }

  #noteHost(url: string): void {
    const { target, node } = this.#record;
    const host = printable(new URL(url).host);
    if (this.#socketHost !== undefined && this.#socketHost !== host) {
      const fields = { ...subjectOf(target, node), event: 'moved', from: this.#socketHost, to: host };
      this.#context.log.info(
        fields,
        `server ${target.name}: socket moved from ${this.#socketHost} to ${host}`,
      );
    }
    this.#socketHost = host;
    this.#record.socketHost(host);
  }
}

/** Is it the server's first attempt? */
function isUntried(machine: MachineState): boolean {
  return machine.name === 'fetchingToken' && machine.epoch === 0 && machine.failures === 0;
}

function socketUrlOf(machine: MachineState): string | undefined {
  return 'token' in machine ? machine.token?.socketUrl : undefined;
}
