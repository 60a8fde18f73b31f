import type { Clock } from '../domain/clock.ts';
import { subjectOf } from '../domain/log.ts';
import { printable } from '../domain/printable.ts';
import type { Problem } from '../domain/problem.ts';
import type { Credentials } from '../panel/dialect.ts';
import { connectBy } from './due.ts';
import { tokenFailure, type UpgradeWay, upgradeFailure } from './failure.ts';
import { step } from './machine.ts';
import {
  INITIAL_STATE,
  type MachineContext,
  type MachineEffect,
  type MachineEvent,
  type MachineState,
  SILENCE_MS,
  type StateNamed,
  type TimerName,
  type Token,
  type TokenPurpose,
} from './machine-model.ts';
import type { StreamContext, StreamRecord } from './session-ports.ts';
import type { ConsoleSocket } from './socket.ts';
import { SocketEvents } from './socket-events.ts';
import { Timers } from './timers.ts';
import { toToken } from './token.ts';

/** While its node's sockets are in trouble, a retry that is due is put off by this. */
const HELD_MS = 15_000;

/** What a streamer asks its owner, and what it notifies the owner of. */
export interface StreamerOwner {
  /** Should the token be renewed when it ends? */
  renews(): boolean;
  /** The token ended and won't be renewed. */
  tokenSpent(): void;
  /** The machine's state changed. */
  changed(): void;
}

/** Holds one server's console socket: runs the machine's effects and feeds events to it. */
export class Streamer {
  readonly #context: StreamContext;
  readonly #record: StreamRecord;
  readonly #owner: StreamerOwner;
  readonly #clock: Clock;
  readonly #timers: Timers<TimerName>;
  #machine: MachineState = INITIAL_STATE;
  #socket: ConsoleSocket | undefined;
  #fetch: AbortController | undefined;
  /** When the attempt under way began. */
  #attemptedAt = 0;
  #hasAttempted = false;
  /** The reason for earlier failures may be gone, also for a call that waits. */
  #isPromising = false;
  /** In whole milliseconds: every sample sets it, and V8 keeps a fraction in a separate object. */
  #lastStatsAt = 0;
  /** Kept beside it, since every sample asks. */
  #awaitsSample = false;
  #socketHost: string | undefined;
  #closing: Promise<void> = Promise.resolve();

  constructor(context: StreamContext, record: StreamRecord, owner: StreamerOwner) {
    const { clock } = context;
    this.#context = context;
    this.#record = record;
    this.#owner = owner;
    this.#clock = clock;
    this.#timers = new Timers(clock, (timer) => this.#onTimer(timer));
  }

  get machine(): MachineState {
    return this.#machine;
  }

  /** Resolves when the sockets closed so far are gone. */
  get closing(): Promise<void> {
    return this.#closing;
  }

  start(): void {
    this.dispatch({ type: 'start', mayConnect: this.#mayConnect });
  }

  stop(): void {
    this.dispatch({ type: 'stop' });
  }

  /** Tries again unless its node's sockets are in trouble, because the reason for earlier failures may be gone. */
  wake(): void {
    this.#isPromising = true;
    if (isResting(this.#machine)) this.#attempt({ type: 'wake' });
    else if (this.#owner.renews()) this.dispatch({ type: 'wake' });
  }

  /** Tries its node's sockets, with a new token if `isFresh`; an attempt that is under way tries them as well. */
  tryNode(isFresh: boolean): void {
    if (isResting(this.#machine)) this.#attempt({ type: 'try', isFresh });
    else if (!isAttempt(this.#machine)) this.#report('withdrawn');
  }

  /** Records that a sample arrived at this instant; returns true if the machine waits for one. */
  sampled(now: number): boolean {
    this.#lastStatsAt = Math.trunc(now);
    return this.#awaitsSample;
  }

  /** Steps the machine and runs its effects. */
  dispatch(event: MachineEvent): void {
    const before = this.#machine;
    const { state, effects } = step(before, event, this.#machineContext());
    this.#machine = state;
    if (isAttempt(before) && !isAttempt(state)) this.#isPromising = false;
    this.#reportChange(before, state);
    this.#awaitsSample = 'unanswered' in state && state.unanswered > 0;
    for (const effect of effects) this.#run(effect);
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
        this.#abortFetch();
        break;
      case 'openSocket':
        void this.#openSocket(effect.epoch, effect.url);
        break;
      case 'closeSocket':
        this.#closing = Promise.all([this.#closing, this.#socket?.close()]).then(() => undefined);
        this.#socket = undefined;
        break;
      case 'terminateSocket':
        this.#socket?.terminate();
        this.#socket = undefined;
        break;
      case 'authenticate':
        this.#socket?.send({ event: 'auth', token: effect.token });
        break;
      case 'requestStats':
        this.#socket?.send({ event: 'send stats' });
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
    if (timer === 'retry') {
      this.#attempt({ type: 'timer', timer });
      return;
    }
    if (this.#owner.renews() || (timer !== 'refresh' && timer !== 'expiry')) {
      this.dispatch({ type: 'timer', timer });
    } else if (timer === 'expiry') this.#owner.tokenSpent();
  }

  get #mayConnect(): boolean {
    return this.#context.panel.mayConnect(this.#record.target.id, this.#record.node);
  }

  /** Begins another attempt, unless its node's sockets are in trouble: then it is woken once they work, or chosen to try them. */
  #attempt(event: MachineEvent): void {
    if (this.#mayConnect) this.dispatch(event);
    // A refusal of its own isn't over because the node works again.
    else if (event.type === 'timer') this.#timers.set(event.timer, HELD_MS);
  }

  /** Tells the panel when an attempt or a socket ends, and when stats arrive: that shows whether the node's sockets work. */
  #reportChange(before: MachineState, now: MachineState): void {
    const wasOpen = isAttempt(before) || isLive(before);
    if (isAttempt(now) && !isAttempt(before)) this.#attemptedAt = this.#clock.now();
    if (isLive(now) && !isLive(before)) this.#report(undefined);
    else if (isResting(now) && wasOpen) this.#report(now.problem ?? 'withdrawn', socketUrlOf(before));
    else if (wasOpen && (now.name === 'idle' || (isLive(before) && !isLive(now)))) this.#report('withdrawn');
  }

  #report(end: Problem | 'withdrawn' | undefined, url?: string): void {
    this.#context.panel.socketEnded(this.#record.target.id, { startedAt: this.#attemptedAt, url, end });
  }

  /** Requests credentials, by the time at which they are needed. */
  #credentials(purpose: TokenPurpose, signal: AbortSignal): Promise<Credentials> {
    const { target, sampledAt } = this.#record;
    const machine = this.#machine;
    const isFirst = sampledAt === undefined && !this.#hasAttempted;
    this.#hasAttempted = true;
    const deadline =
      machine.name === 'refreshing' ? machine.token.expiresAt : connectBy({ at: this.#clock.now(), isFirst });
    const ask = {
      daemon: target.daemon,
      deadline,
      isRetry: () => purpose === 'retry' && !this.#isPromising,
      isRefresh: purpose === 'refresh',
    };
    return this.#context.panel.credentials(target.id, ask, signal);
  }

  // One timer every 15 s checks when the last frame arrived, so that frames needn't reset a timer.
  #rearmSilence(): boolean {
    const quietMs = this.#clock.now() - this.#lastStatsAt;
    // A wait shorter than this is a rounding error and would never elapse.
    if (SILENCE_MS - quietMs < 1) return false;
    this.#timers.set('silence', SILENCE_MS - quietMs);
    return true;
  }

  async #fetchToken(purpose: TokenPurpose): Promise<void> {
    const controller = new AbortController();
    this.#fetch = controller;
    const event = await this.#credentials(purpose, controller.signal).then(
      (credentials) =>
        this.#tokenEvent(toToken(credentials, purpose, this.#clock.now(), this.#context.random())),
      (error: unknown): MachineEvent => {
        return { type: 'tokenFailed', failure: tokenFailure(error) };
      },
    );
    if (this.#fetch !== controller) return;
    this.#fetch = undefined;
    this.dispatch(event);
  }

  #tokenEvent(token: Token): MachineEvent {
    const problem = this.#context.addressProblem(token.socketUrl);
    return problem === undefined
      ? { type: 'tokenFetched', token }
      : { type: 'tokenFailed', failure: { reason: 'no_token', problem } };
  }

  #abortFetch(): void {
    this.#fetch?.abort(new Error('the credentials are no longer needed'));
    this.#fetch = undefined;
  }

  // A server never has two sockets: this waits for the old one to close, which takes at most a second.
  async #openSocket(epoch: number, url: string): Promise<void> {
    await this.#closing;
    if (this.#machine.name !== 'connecting' || this.#machine.epoch !== epoch) return;
    // The settings may have changed since the token was fetched.
    const problem = this.#context.addressProblem(url);
    if (problem !== undefined) {
      this.dispatch({ type: 'refused', epoch, failure: { reason: 'no_token', problem } });
      return;
    }
    this.#noteHost(url);
    try {
      this.#socket = this.#context.openSocket(
        url,
        new SocketEvents(this.#context, this.#record, this.#owner, this, epoch),
      );
    } catch (error) {
      // ws rejects some addresses by throwing; that must not look like a bug in the exporter.
      this.dispatch({
        type: 'refused',
        epoch,
        failure: upgradeFailure({ error: error as Error }, this.wayTo(url)),
      });
    }
  }

  /** How the socket at this address, or the current one, is reached. */
  wayTo(url = this.#socketUrl()): UpgradeWay {
    const { codec, settings, isProxied } = this.#context;
    const { upgradeCause } = codec;
    return { upgradeCause, origin: settings.origin, proxied: url !== undefined && isProxied(url) };
  }

  #socketUrl(): string | undefined {
    return socketUrlOf(this.#machine);
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

/** Does the server wait before it tries again? */
export function isResting(
  machine: MachineState,
): machine is StateNamed<'backingOff'> | StateNamed<'blocked'> {
  return machine.name === 'backingOff' || machine.name === 'blocked';
}

/** Is a socket being opened? */
function isAttempt({ name }: MachineState): boolean {
  return name === 'fetchingToken' || name === 'connecting' || name === 'authenticating' || name === 'opening';
}

function socketUrlOf(machine: MachineState): string | undefined {
  return 'token' in machine ? machine.token?.socketUrl : undefined;
}

/** Does the socket stream? */
export function isLive({ name }: MachineState): boolean {
  return name === 'streaming' || name === 'refreshing';
}
