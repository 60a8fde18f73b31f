import type { CollectionStatus } from '../domain/collection.ts';
import { printable } from '../domain/printable.ts';
import { collectionStatus, socketState } from './condition.ts';
import { tellCondition } from './condition-log.ts';
import { type FrameHandler, handleFrame } from './frames.ts';
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
import { pollPolicy, type Role } from './poll-policy.ts';
import { answeredResult, failedResult, type PollResult } from './poll-result.ts';
import { Poller, type PollOutcome } from './poller.ts';
import type { SessionContext, SessionRecord } from './session-ports.ts';
import type { ConsoleSocket, SocketListener } from './socket.ts';
import { Timers } from './timers.ts';
import { TokenSource } from './token.ts';
import { SILENCE_MS } from './transitions.ts';
import { addressFailure, tokenFailure, upgradeFailure } from './trouble.ts';

/** Keeps one server observed: runs the machine's effects, feeds it what happens, and falls back to polling. */
export class Session {
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #tokens: TokenSource;
  readonly #poller: Poller;
  readonly #timers: Timers<TimerName>;
  readonly #frames: FrameHandler;
  #machine: MachineState = INITIAL_STATE;
  #role: Role = { type: 'rest' };
  #socket: ConsoleSocket | undefined;
  #fetch: AbortController | undefined;
  #lastStatsAt = 0;
  #waitingSince = 0;
  #pollResult: PollResult = { type: 'none' };
  #status: CollectionStatus = { condition: 'stopped' };
  #quiet = false;
  #socketHost: string | undefined;
  #closing: Promise<void> = Promise.resolve();

  constructor(context: SessionContext, record: SessionRecord) {
    const { clock, random, panel } = context;
    const { id } = record.target;
    this.#context = context;
    this.#record = record;
    this.#tokens = new TokenSource(clock, random, (priority, signal) =>
      panel.credentials(id, priority, signal),
    );
    this.#poller = new Poller(clock, random, (signal) => this.#poll(signal));
    this.#frames = this.#frameHandler();
    this.#timers = new Timers(clock, (timer) => this.#onTimer(timer));
  }

  /** Takes on a role: to stream (polling as the fallback where the mode allows), to be polled, or to rest. */
  assume(role: Role): void {
    this.#role = role;
    if (role.type === 'stream') {
      if (this.#machine.name === 'idle') this.#waitingSince = this.#context.clock.now();
      this.#dispatch({ type: 'start' });
    } else {
      this.#dispatch({ type: 'stop' });
    }
    this.#settle();
  }

  /** What kept the server from being observed may be over (the panel answers again): try now. */
  wake(): void {
    const { name } = this.#machine;
    if (
      name === 'backingOff' ||
      (this.#machine.name === 'blocked' && this.#machine.refused.reason === 'unauthorized')
    ) {
      this.#dispatch({ type: 'wake' });
    }
    if (this.#pollResult.type === 'failed' || isUnauthorized(this.#pollResult)) this.#poller.wake();
  }

  /** The panel's health changed: the condition may follow from that alone. */
  refresh(): void {
    this.#settle();
  }

  /** Resolves when the socket is closed; the session takes on no role after it. */
  async stop(): Promise<void> {
    this.assume({ type: 'rest' });
    await this.#closing;
  }

  #dispatch(event: MachineEvent): void {
    const before = this.#machine;
    const { state, effects } = step(before, event, this.#machineContext());
    this.#machine = state;
    for (const effect of effects) this.#run(effect);
    if (state !== before || effects.length > 0) this.#settle();
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
    this.#dispatch({ type: 'timer', timer });
  }

  // One timer in 15 s looks back at the last frame, instead of each frame setting a timer anew.
  #rearmSilence(): boolean {
    const quietMs = this.#context.clock.now() - this.#lastStatsAt;
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
        if (!controller.signal.aborted) this.#quiet = this.#context.toldByPanel(error);
        return { type: 'tokenFailed', failure: tokenFailure(error) };
      },
    );
    if (this.#fetch !== controller) return;
    this.#fetch = undefined;
    this.#dispatch(event);
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
      this.#socket = this.#context.openSocket(url, this.#listener(epoch));
    } catch (error) {
      // ws refuses some addresses outright; that must not pass for a crash of this program.
      const failure = upgradeFailure({ error: error as Error }, this.#context.origin);
      this.#dispatch({ type: 'refused', epoch, failure });
    }
  }

  #noteHost(url: string): void {
    const { host } = new URL(url);
    if (this.#socketHost !== undefined && this.#socketHost !== host) {
      const fields = { ...this.#subject(), from: this.#socketHost, to: host };
      this.#context.log.info(fields, "the panel sends this server's socket to another host");
    }
    this.#socketHost = host;
  }

  #listener(epoch: number): SocketListener {
    return {
      opened: () => {
        this.#record.socketBegan();
        this.#dispatch({ type: 'opened', epoch });
      },
      refused: (problem) => {
        this.#quiet = false;
        this.#dispatch({ type: 'refused', epoch, failure: upgradeFailure(problem, this.#context.origin) });
      },
      message: (frame, isBinary) => {
        if (epoch === this.#machine.epoch) handleFrame(frame, isBinary, this.#frames);
      },
      closed: ({ code, text, reason, oversize }) => {
        this.#quiet = false;
        if (oversize) this.#context.telemetry.badMessage('oversize');
        const said = printable(text);
        const words = said === '' ? '' : `: "${said}"`;
        this.#dispatch({
          type: 'closed',
          epoch,
          code,
          reason,
          trouble: `the socket was closed (${code})${words}`,
        });
      },
    };
  }

  #frameHandler(): FrameHandler {
    const record = this.#record;
    return {
      telemetry: this.#context.telemetry,
      consoleLine: () => record.consoleLine(),
      stats: (sample) => {
        const now = this.#context.clock.now();
        this.#lastStatsAt = now;
        record.socketSample(sample, now);
        if ('unanswered' in this.#machine && this.#machine.unanswered > 0) {
          this.#dispatch({ type: 'heard', epoch: this.#machine.epoch });
        }
      },
      status: (state) => record.stateHint(state, this.#context.clock.now()),
      authenticated: () => this.#dispatch({ type: 'authenticated', epoch: this.#machine.epoch }),
      tokenEnding: () => this.#dispatch({ type: 'tokenEnding', epoch: this.#machine.epoch }),
      jwtError: (text, curable) => {
        this.#quiet = false;
        this.#dispatch({ type: 'jwtError', epoch: this.#machine.epoch, curable, text: printable(text) });
      },
    };
  }

  async #poll(signal: AbortSignal): Promise<PollOutcome> {
    const { clock, panel, telemetry, toldByPanel } = this.#context;
    const requestedAt = clock.now();
    const ended = await panel.resources(this.#record.target.id, signal).then(
      (resources) => ({ resources, result: answeredResult(resources), quiet: false }),
      (error: unknown) => ({ resources: undefined, result: failedResult(error), quiet: toldByPanel(error) }),
    );
    if (signal.aborted) return 'failed';
    const { resources, result, quiet } = ended;
    for (let bad = 0; bad < (resources?.badFields ?? 0); bad += 1) telemetry.badMessage('bad_field');
    if (result.type === 'answered' && resources?.sample !== undefined) {
      this.#record.pollSample(resources.sample, requestedAt, clock.now());
    }
    this.#quiet = quiet;
    this.#pollResult = result;
    this.#settle();
    return result.type;
  }

  /** Brings polling and the shown condition in line with where the machine stands. */
  #settle(): void {
    const policy = pollPolicy({
      role: this.#role,
      mode: this.#record.target.mode,
      machine: this.#machine,
      sampledAt: this.#record.sampledAt,
      waitingSince: this.#waitingSince,
    });
    if (policy.type === 'off') this.#pollResult = { type: 'none' };
    this.#poller.follow(policy);
    const status = this.#currentStatus(policy.type === 'on');
    this.#record.setCollection(status, socketState(this.#machine));
    if (status.condition !== this.#status.condition || status.blocked !== this.#status.blocked) {
      const toldAlready = this.#quiet || this.#context.keyRefused();
      tellCondition(this.#context.log, { ...this.#subject(), ...status }, toldAlready);
    }
    this.#status = status;
  }

  #currentStatus(polling: boolean): CollectionStatus {
    if (this.#role.type === 'rest') return { condition: 'stopped' };
    return collectionStatus({
      machine: this.#machine,
      polling,
      poll: this.#pollResult,
      mode: this.#record.target.mode,
      keyRefused: this.#context.keyRefused(),
    });
  }

  #subject(): { readonly panel: string; readonly server: string } {
    return { panel: this.#record.target.panel, server: this.#record.target.name };
  }
}

function isUnauthorized(result: PollResult): boolean {
  return result.type === 'refused' && result.reason === 'unauthorized';
}
