import type { Clock } from '../domain/clock.ts';
import { subjectOf } from './condition-log.ts';
import { step } from './machine.ts';
import {
  INITIAL_STATE,
  type MachineContext,
  type MachineEffect,
  type MachineEvent,
  type MachineState,
  type TimerName,
  type Token,
} from './machine-model.ts';
import type { SessionContext, SessionRecord } from './session-ports.ts';
import type { ConsoleSocket } from './socket.ts';
import { SocketEvents, type SocketHolder } from './socket-events.ts';
import { Timers } from './timers.ts';
import { TokenSource } from './token.ts';
import { SILENCE_MS } from './transitions.ts';
import { addressFailure, tokenFailure, upgradeFailure } from './trouble.ts';

/** What a streamer asks and tells the one who owns it. */
export interface StreamerOwner extends Pick<SocketHolder, 'renews' | 'tokenSpent' | 'troubled'> {
  /** The machine moved on. */
  changed(): void;
}

/** Holds one server's console socket: runs the machine's effects and feeds it what happens. */
export class Streamer implements SocketHolder {
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #owner: StreamerOwner;
  readonly #clock: Clock;
  readonly #tokens: TokenSource;
  readonly #timers: Timers<TimerName>;
  #machine: MachineState = INITIAL_STATE;
  #socket: ConsoleSocket | undefined;
  #fetch: AbortController | undefined;
  #lastStatsAt = 0;
  #socketHost: string | undefined;
  #closing: Promise<void> = Promise.resolve();

  constructor(context: SessionContext, record: SessionRecord, owner: StreamerOwner) {
    const { clock, random, panel } = context;
    const { id } = record.target;
    this.#context = context;
    this.#record = record;
    this.#owner = owner;
    this.#clock = clock;
    this.#tokens = new TokenSource(clock, random, (priority, signal) =>
      panel.credentials(id, priority, signal),
    );
    this.#timers = new Timers(clock, (timer) => this.#onTimer(timer));
  }

  get machine(): MachineState {
    return this.#machine;
  }

  /** Resolves when the sockets that were closed so far are gone. */
  get closing(): Promise<void> {
    return this.#closing;
  }

  start(): void {
    this.dispatch({ type: 'start' });
  }

  stop(): void {
    this.dispatch({ type: 'stop' });
  }

  wake(): void {
    this.dispatch({ type: 'wake' });
  }

  renews(): boolean {
    return this.#owner.renews();
  }

  tokenSpent(): void {
    this.#owner.tokenSpent();
  }

  troubled(told: boolean): void {
    this.#owner.troubled(told);
  }

  sampled(now: number): void {
    this.#lastStatsAt = now;
  }

  dispatch(event: MachineEvent): void {
    const before = this.#machine;
    const { state, effects } = step(before, event, this.#machineContext());
    this.#machine = state;
    for (const effect of effects) this.#run(effect);
    if (state !== before || effects.length > 0) this.#owner.changed();
  }

  #machineContext(): MachineContext {
    const { clock, random, connectTimeoutMs, authTimeoutMs } = this.#context;
    return { now: clock.now(), random: random(), connectTimeoutMs, authTimeoutMs };
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
    if (this.#owner.renews() || (timer !== 'refresh' && timer !== 'expiry')) {
      this.dispatch({ type: 'timer', timer });
    } else if (timer === 'expiry') this.#owner.tokenSpent();
  }

  // One timer in 15 s looks back at the last frame, instead of each frame setting a timer anew.
  #rearmSilence(): boolean {
    const quietMs = this.#clock.now() - this.#lastStatsAt;
    if (quietMs >= SILENCE_MS) return false;
    this.#timers.set('silence', SILENCE_MS - quietMs);
    return true;
  }

  async #fetchToken(priority: 'refresh' | 'connect'): Promise<void> {
    const controller = new AbortController();
    this.#fetch = controller;
    const event = await this.#tokens.next(priority, controller.signal).then(
      (token) => this.#tokenEvent(token),
      (error: unknown): MachineEvent => {
        if (!controller.signal.aborted) this.#owner.troubled(this.#context.toldByPanel(error));
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
      : { type: 'tokenFailed', failure: addressFailure(problem) };
  }

  #abortFetch(): void {
    this.#fetch?.abort(new Error('the credentials are no longer wanted'));
    this.#fetch = undefined;
  }

  // A server never has two sockets: the old one's close is waited for, which takes a second at most.
  async #openSocket(epoch: number, url: string): Promise<void> {
    await this.#closing;
    if (this.#machine.name !== 'connecting' || this.#machine.epoch !== epoch) return;
    this.#noteHost(url);
    try {
      this.#socket = this.#context.openSocket(
        url,
        new SocketEvents(this.#context, this.#record, this, epoch),
      );
    } catch (error) {
      // ws refuses some addresses outright; that must not pass for a crash of this program.
      const failure = upgradeFailure({ error: error as Error }, this.#context.origin);
      this.dispatch({ type: 'refused', epoch, failure });
    }
  }

  #noteHost(url: string): void {
    const { host } = new URL(url);
    if (this.#socketHost !== undefined && this.#socketHost !== host) {
      const fields = { ...subjectOf(this.#record.target), from: this.#socketHost, to: host };
      this.#context.log.info(fields, "the panel sends this server's socket to another host");
    }
    this.#socketHost = host;
  }
}
