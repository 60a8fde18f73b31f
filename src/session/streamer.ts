import { subjectOf } from '../domain/log.ts';
import { printable } from '../domain/printable.ts';
import type { Problem } from '../domain/problem.ts';
import type { Credentials } from '../panel/dialect.ts';
import { Connection, type ConnectionOwner } from './connection.ts';
import { connectBy } from './due.ts';
import { tokenFailure } from './failure.ts';
import { step } from './machine.ts';
import {
  INITIAL_STATE,
  isAttempt,
  isLive,
  isResting,
  type MachineContext,
  type MachineEffect,
  type MachineEvent,
  type MachineState,
  SILENCE_MS,
  type TimerName,
  type Token,
  type TokenPurpose,
} from './machine-model.ts';
import type { SocketPlan } from './plan.ts';
import type { StreamContext, StreamRecord, WayOwner } from './session-ports.ts';
import { Timers } from './timers.ts';
import { toToken } from './token.ts';

/** Holds one server's console socket as its plan says: runs the machine's effects and feeds events to it. */
export class Streamer implements ConnectionOwner {
  readonly #context: StreamContext;
  readonly #record: StreamRecord;
  readonly #owner: WayOwner;
  readonly #timers: Timers<TimerName>;
  #machine: MachineState = INITIAL_STATE;
  #connection: Connection | undefined;
  #fetch: AbortController | undefined;
  /** When the attempt under way began. */
  #attemptedAt = 0;
  /** The token is renewed when it ends. */
  #isRenewed = true;
  #socketHost: string | undefined;
  #closing: Promise<void> = Promise.resolve();

  constructor(context: StreamContext, record: StreamRecord, owner: WayOwner) {
    this.#context = context;
    this.#record = record;
    this.#owner = owner;
    this.#timers = new Timers(context.clock, (timer) => this.#onTimer(timer));
  }

  get machine(): MachineState {
    return this.#machine;
  }

  /** Resolves when the sockets closed so far are gone. */
  get closing(): Promise<void> {
    return this.#closing;
  }

  follow(plan: SocketPlan): void {
    this.#isRenewed = plan.type === 'hold';
    if (plan.type === 'none') this.#dispatch({ type: 'stop' });
    else if (plan.type === 'hold' && plan.next !== undefined) this.#dispatch(plan.next);
  }

  /** The server was chosen to try its node's sockets, and doesn't. */
  declineTrial(): void {
    this.#report('withdrawn');
  }

  happened(event: MachineEvent): void {
    if (this.#isRenewed || !endsToken(event, this.#machine)) this.#dispatch(event);
    else if (event.type === 'jwtError' || (event.type === 'timer' && event.timer === 'expiry'))
      this.#dispatch({ type: 'stop' });
  }

  #dispatch(event: MachineEvent): void {
    const before = this.#machine;
    const { state, effects } = step(before, event, this.#machineContext());
    this.#machine = state;
    if (isAttempt(state) && !isAttempt(before)) this.#attemptedAt = this.#context.clock.now();
    for (const effect of effects) this.#run(effect);
    if (this.#connection !== undefined)
      this.#connection.awaitsStats = 'unanswered' in state && state.unanswered > 0;
    // Last, because a report may begin another attempt.
    this.#reportChange(before, state);
    if (state !== before || effects.length > 0) this.#owner.changed();
  }

  #machineContext(): MachineContext {
    const { clock, random, settings, panel } = this.#context;
    const { node, target } = this.#record;
    return {
      now: clock.now(),
      random: random(),
      timeouts: settings,
      isCurrent: (socketUrl) => panel.isCurrent(node, socketUrl),
      isListed: target.node !== undefined && target.blocked === undefined,
    };
  }

  #run(effect: MachineEffect): void {
    switch (effect.type) {
      case 'fetchToken':
        void this.#fetchToken(effect.priority);
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
      case 'terminateSocket':
        this.#connection?.terminate();
        this.#connection = undefined;
        break;
      case 'authenticate':
        this.#connection?.authenticate(effect.token);
        break;
      case 'requestStats':
        this.#connection?.requestStats();
        break;
      case 'setTimer':
        this.#timers.set(effect.timer, effect.delayMs);
        break;
      case 'cancelTimers':
        this.#timers.cancelAll();
        break;
      case 'countReconnect':
        this.#context.telemetry.reconnect(effect.reason);
        break;
    }
  }

  #onTimer(timer: TimerName): void {
    if (timer === 'silence' && this.#rearmSilence()) return;
    // The next attempt depends on more than time.
    if (timer === 'retry') this.#owner.changed();
    else this.happened({ type: 'timer', timer });
  }

  // One timer every 15 s checks when the last frame arrived, so that frames needn't reset a timer.
  #rearmSilence(): boolean {
    const quietMs = this.#context.clock.now() - (this.#connection?.lastStatsAt ?? 0);
    // A wait shorter than this is a rounding error and would never elapse.
    if (SILENCE_MS - quietMs < 1) return false;
    this.#timers.set('silence', SILENCE_MS - quietMs);
    return true;
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

  async #fetchToken(purpose: TokenPurpose): Promise<void> {
    const controller = new AbortController();
    this.#fetch = controller;
    const event = await this.#credentials(purpose, controller.signal).then(
      (credentials) =>
        this.#tokenEvent(toToken(credentials, purpose, this.#context.clock.now(), this.#context.random())),
      (error: unknown): MachineEvent => {
        return { type: 'tokenFailed', failure: tokenFailure(error) };
      },
    );
    if (this.#fetch !== controller) return;
    this.#fetch = undefined;
    this.#dispatch(event);
  }

  /** Requests credentials, by the time at which they are needed. */
  #credentials(purpose: TokenPurpose, signal: AbortSignal): Promise<Credentials> {
    const { target, sampledAt } = this.#record;
    const machine = this.#machine;
    const isFirst = sampledAt === undefined && machine.name === 'fetchingToken' && isUntried(machine);
    const isWoken = () => 'wokenAt' in this.#machine && this.#machine.wokenAt !== undefined;
    const ask = {
      daemon: target.daemon,
      deadline:
        machine.name === 'refreshing'
          ? machine.token.expiresAt
          : connectBy({ at: this.#context.clock.now(), isFirst }),
      isRetry: () => purpose === 'retry' && !isWoken(),
      isRefresh: purpose === 'refresh',
    };
    return this.#context.panel.credentials(target.id, ask, signal);
  }

  #tokenEvent(token: Token): MachineEvent {
    const problem = this.#context.addressProblem(token.socketUrl);
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
      this.#dispatch({ type: 'refused', epoch, failure: { reason: 'no_token', problem } });
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

/** Does the event mean that the token ends, or soon will? */
function endsToken(event: MachineEvent, machine: MachineState): boolean {
  switch (event.type) {
    case 'tokenEnding':
      return true;
    case 'jwtError':
      return event.fixable && machine.name === 'streaming';
    case 'timer':
      return event.timer === 'refresh' || event.timer === 'expiry';
    default:
      return false;
  }
}

/** Has the server never been tried before? */
function isUntried({ epoch, failures }: MachineState & { readonly failures: number }): boolean {
  return epoch === 0 && failures === 0;
}

function socketUrlOf(machine: MachineState): string | undefined {
  return 'token' in machine ? machine.token?.socketUrl : undefined;
}
