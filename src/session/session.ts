import type { Cancel, Clock } from '../domain/clock.ts';
import type { CollectionStatus } from '../domain/collection.ts';
import type { Logger } from '../domain/log.ts';
import { printable } from '../domain/printable.ts';
import type { SocketState } from '../domain/reading.ts';
import type { Sample } from '../domain/sample.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ServerState } from '../domain/state.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { Credentials, Resources } from '../panel/decode.ts';
import { lastingRefusal, PanelError } from '../panel/errors.ts';
import { collectionStatus, type PollResult, socketState } from './condition.ts';
import { type FrameHandler, handleFrame } from './frames.ts';
import { step } from './machine.ts';
import {
  INITIAL_STATE,
  type MachineContext,
  type MachineEffect,
  type MachineEvent,
  type MachineState,
  type TimerName,
} from './machine-model.ts';
import { pollPolicy, type Role } from './poll-policy.ts';
import { Poller, type PollOutcome } from './poller.ts';
import type { ConsoleSocket, SocketListener } from './socket.ts';
import { TokenSource } from './token.ts';
import { SILENCE_MS } from './transitions.ts';
import { addressFailure, tokenFailure, upgradeFailure } from './trouble.ts';

/** What a session needs of its panel; one server's part of `PanelGateway`. */
export interface SessionPanel {
  credentials(server: string, priority: 'refresh' | 'connect', signal: AbortSignal): Promise<Credentials>;
  resources(server: string, signal: AbortSignal): Promise<Resources>;
}

/** Where a session puts what it learns; one server's entry of the fleet store. */
export interface SessionRecord {
  readonly target: ServerTarget;
  readonly sampledAt: number | undefined;
  /** A new uninterrupted socket begins: what it says first is no transition. */
  socketBegan(): void;
  socketSample(sample: Sample, now: number): void;
  stateHint(state: ServerState, now: number): void;
  pollSample(sample: Sample, requestedAt: number, now: number): void;
  consoleLine(): void;
  setCollection(status: CollectionStatus, socket: SocketState): void;
}

/** What all sessions of a panel share. */
export interface SessionContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly panel: SessionPanel;
  readonly telemetry: PanelTelemetry;
  /** What the sockets send as `Origin`; named when an upgrade is refused. */
  readonly origin: string;
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
  readonly openSocket: (url: string, listener: SocketListener) => ConsoleSocket;
  /** The reason why the panel may not send us to this address. */
  readonly addressProblem: (url: string) => string | undefined;
  /** Does the panel as a whole refuse the key now? */
  keyRefused(): boolean;
  /** Is a trouble of this session's the panel's own, which is told once for all servers? */
  toldByPanel(error: unknown): boolean;
}

/** Keeps one server observed: runs the machine's effects, feeds it what happens, and falls back to polling. */
export class Session {
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #tokens: TokenSource;
  readonly #poller: Poller;
  readonly #timers = new Map<TimerName, Cancel>();
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
      (this.#machine.name === 'blocked' && this.#machine.reason === 'unauthorized')
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
        this.#setTimer(effect.timer, effect.delayMs);
        break;
      case 'cancelTimers':
        for (const cancel of this.#timers.values()) cancel();
        this.#timers.clear();
        break;
      case 'countReconnect':
        this.#context.telemetry.reconnect(effect.reason);
        break;
    }
  }

  #setTimer(timer: TimerName, delayMs: number): void {
    this.#timers.get(timer)?.();
    this.#timers.set(
      timer,
      this.#context.clock.schedule(delayMs, () => {
        this.#timers.delete(timer);
        if (timer === 'silence' && this.#rearmSilence()) return;
        this.#dispatch({ type: 'timer', timer });
      }),
    );
  }

  // One timer in 15 s looks back at the last frame, instead of each frame setting a timer anew.
  #rearmSilence(): boolean {
    const quietMs = this.#context.clock.now() - this.#lastStatsAt;
    if (quietMs >= SILENCE_MS) return false;
    this.#setTimer('silence', SILENCE_MS - quietMs);
    return true;
  }

  async #fetchToken(priority: 'refresh' | 'connect'): Promise<void> {
    const controller = new AbortController();
    this.#fetch = controller;
    try {
      const token = await this.#tokens.next(priority, controller.signal);
      if (this.#fetch !== controller) return;
      this.#fetch = undefined;
      const problem = this.#context.addressProblem(token.socketUrl);
      if (problem === undefined) this.#dispatch({ type: 'tokenFetched', token });
      else this.#dispatch({ type: 'tokenFailed', failure: addressFailure(problem) });
    } catch (error) {
      if (this.#fetch !== controller) return;
      this.#fetch = undefined;
      this.#quiet = this.#context.toldByPanel(error);
      this.#dispatch({ type: 'tokenFailed', failure: tokenFailure(error) });
    }
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
      this.#context.log.info(fields, 'the panel sends this server’s socket to another host');
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
    const requestedAt = this.#context.clock.now();
    try {
      const resources = await this.#context.panel.resources(this.#record.target.id, signal);
      if (signal.aborted) return 'failed';
      return this.#takeResources(resources, requestedAt);
    } catch (error) {
      if (signal.aborted) return 'failed';
      this.#quiet = this.#context.toldByPanel(error);
      const trouble = error instanceof Error ? error.message : String(error);
      const reason = error instanceof PanelError ? lastingRefusal(error) : undefined;
      this.#pollResult =
        reason === undefined ? { type: 'failed', trouble } : { type: 'refused', reason, trouble };
      this.#settle();
      return reason === undefined ? 'failed' : 'refused';
    }
  }

  #takeResources(resources: Resources, requestedAt: number): PollOutcome {
    for (let bad = 0; bad < resources.badFields; bad += 1) this.#context.telemetry.badMessage('bad_field');
    this.#quiet = false;
    if (resources.suspended) {
      this.#pollResult = { type: 'refused', reason: 'suspended', trouble: 'the server is suspended' };
    } else if (resources.sample === undefined) {
      this.#pollResult = { type: 'failed', trouble: 'the panel has no data: it can’t reach the node' };
    } else {
      this.#pollResult = { type: 'answered' };
      this.#record.pollSample(resources.sample, requestedAt, this.#context.clock.now());
    }
    this.#settle();
    return resources.suspended ? 'refused' : 'answered';
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
    if (status.condition !== this.#status.condition || status.blocked !== this.#status.blocked)
      this.#tell(status);
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

  #tell(status: CollectionStatus): void {
    const { log } = this.#context;
    const fields = { ...this.#subject(), ...status };
    const told = this.#quiet || this.#context.keyRefused();
    if (status.condition === 'blocked' && !told) log.warn(fields, `server is blocked: ${status.blocked}`);
    else if (status.condition === 'failing' && !told) log.warn(fields, 'server can’t be observed for now');
    else if (status.condition === 'streaming') log.info(fields, 'server is streaming');
    else if (status.condition === 'polling') log.info(fields, 'server is polled');
    else log.debug(fields, `server is ${status.condition}`);
  }

  #subject(): { readonly panel: string; readonly server: string } {
    return { panel: this.#record.target.panel, server: this.#record.target.name };
  }
}

function isUnauthorized(result: PollResult): boolean {
  return result.type === 'refused' && result.reason === 'unauthorized';
}
