import { answersMessage, type RefusedUpgrade } from '../diagnosis/node-answer.ts';
import type { Clock } from '../domain/clock.ts';
import { printable } from '../domain/printable.ts';
import { identityOf, type Sample, type ServerState } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { FrameHandler, SocketCodec } from '../panel/dialect.ts';
import type { TokenPurpose } from '../panel/gateway.ts';
import { subjectOf } from './condition.ts';
import {
  closeFailure,
  daemonFailure,
  jwtFailure,
  tokenFailure,
  type UpgradeWay,
  upgradeFailure,
} from './failure.ts';
import { step } from './machine.ts';
import {
  INITIAL_STATE,
  type MachineContext,
  type MachineEffect,
  type MachineEvent,
  type MachineState,
  SILENCE_MS,
  type TimerName,
  type Token,
} from './machine-model.ts';
import type { SessionContext, SessionRecord } from './session-ports.ts';
import type { ConsoleSocket, SocketClosing, SocketListener } from './socket.ts';
import { Timers } from './timers.ts';
import { claimsOf, TokenSource } from './token.ts';

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
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #owner: StreamerOwner;
  readonly #clock: Clock;
  readonly #tokens: TokenSource;
  readonly #timers: Timers<TimerName>;
  #machine: MachineState = INITIAL_STATE;
  #socket: ConsoleSocket | undefined;
  #fetch: AbortController | undefined;
  /** In whole milliseconds: every sample sets it, and V8 keeps a fraction in a separate object. */
  #lastStatsAt = 0;
  /** Kept beside it, since every sample asks. */
  #awaitsSample = false;
  #socketHost: string | undefined;
  #closing: Promise<void> = Promise.resolve();

  constructor(context: SessionContext, record: SessionRecord, owner: StreamerOwner) {
    const { clock, random, panel, slots } = context;
    this.#context = context;
    this.#record = record;
    this.#owner = owner;
    this.#clock = clock;
    this.#tokens = new TokenSource(
      clock,
      random,
      (purpose, signal) => panel.credentials(record.target.id, purpose, signal),
      // A token that isn't renewed needs no slot.
      (use, now, lifetimeMs) =>
        owner.renews() ? slots?.refreshAt(identityOf(record.target), use, now, lifetimeMs) : undefined,
    );
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
    this.dispatch({ type: 'start' });
  }

  stop(): void {
    this.dispatch({ type: 'stop' });
  }

  wake(): void {
    this.dispatch({ type: 'wake' });
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
    this.#awaitsSample = 'unanswered' in state && state.unanswered > 0;
    for (const effect of effects) this.#run(effect);
    if (state !== before || effects.length > 0) this.#owner.changed();
  }

  #machineContext(): MachineContext {
    const { clock, random, settings } = this.#context;
    return { now: clock.now(), random: random(), timeouts: settings };
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
    const event = await this.#tokens.next(purpose, controller.signal).then(
      (token) => this.#tokenEvent(token),
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
    const { settings, isProxied } = this.#context;
    const { panel } = this.#record.target;
    return { panel, origin: settings.origin, proxied: url !== undefined && isProxied(url) };
  }

  #socketUrl(): string | undefined {
    return 'token' in this.#machine ? this.#machine.token?.socketUrl : undefined;
  }

  #noteHost(url: string): void {
    const { target, node } = this.#record;
    const host = printable(new URL(url).host, target.panel);
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

/** The token that was sent last on the machine's socket. */
function sentToken(machine: MachineState): Token | undefined {
  if (machine.name === 'refreshing') return machine.next ?? machine.token;
  return 'token' in machine ? machine.token : undefined;
}

/**
 * Passes the events of one socket to the machine and the record. This is a class because closures for each of a dozen events
 * would cost a kilobyte per server.
 */
class SocketEvents implements SocketListener, FrameHandler {
  readonly telemetry: PanelTelemetry;
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #owner: StreamerOwner;
  readonly #streamer: Streamer;
  readonly #epoch: number;
  readonly #codec: SocketCodec;
  readonly #handleFrame: SocketCodec['handleFrame'];
  readonly #daemonWords: SocketCodec['daemonWords'];

  constructor(
    context: SessionContext,
    record: SessionRecord,
    owner: StreamerOwner,
    streamer: Streamer,
    epoch: number,
  ) {
    this.telemetry = context.telemetry;
    this.#context = context;
    this.#record = record;
    this.#owner = owner;
    this.#streamer = streamer;
    this.#epoch = epoch;
    this.#codec = context.codec;
    this.#handleFrame = context.codec.handleFrame;
    this.#daemonWords = context.codec.daemonWords;
  }

  get #panel(): string {
    return this.#record.target.panel;
  }

  opened(): void {
    this.#record.socketBegan();
    this.#streamer.dispatch({ type: 'opened', epoch: this.#epoch });
  }

  refused(refused: RefusedUpgrade): void {
    const failure = upgradeFailure(refused, this.#streamer.wayTo());
    this.#streamer.dispatch({ type: 'refused', epoch: this.#epoch, failure });
  }

  // A socket that the machine has given up is detached, and reports no more frames.
  message(frame: Buffer, isBinary: boolean): void {
    this.#handleFrame(frame, isBinary, this);
  }

  closed(closing: SocketClosing): void {
    if (closing.oversize) this.telemetry.badMessage('oversize');
    const failure = closeFailure(closing, { ...this.#codec, panel: this.#panel });
    this.#streamer.dispatch({ type: 'closed', epoch: this.#epoch, failure });
  }

  consoleLine(frame: Buffer): void {
    this.#record.consoleLine();
    const words = this.#daemonWords(frame, this.#record.awaitsWords);
    if (words !== undefined) this.#record.daemonWords(words, this.#context.clock.now());
  }

  stats(sample: Sample): void {
    const now = this.#context.clock.now();
    const isAwaited = this.#streamer.sampled(now);
    this.#record.socketSample(sample, now);
    if (isAwaited) this.#streamer.dispatch({ type: 'stats', epoch: this.#epoch });
  }

  status(state: ServerState): void {
    this.#record.stateHint(state, this.#context.clock.now());
  }

  authenticated(): void {
    this.#streamer.dispatch({ type: 'authenticated', epoch: this.#epoch });
  }

  tokenEnding(): void {
    if (this.#owner.renews()) this.#streamer.dispatch({ type: 'tokenEnding', epoch: this.#epoch });
  }

  jwtError(text: string, fixable: boolean): void {
    if (fixable) this.#record.eventsWithheld();
    const { machine } = this.#streamer;
    if (fixable && machine.name === 'streaming' && !this.#owner.renews()) {
      this.#owner.tokenSpent();
      return;
    }
    const token = sentToken(machine);
    const failure = () =>
      jwtFailure(text, { ...this.#codec, panel: this.#panel }, token && claimsOf(token.value));
    const answersToken = answersMessage(text);
    this.#streamer.dispatch({ type: 'jwtError', epoch: this.#epoch, fixable, answersToken, failure });
  }

  daemonError(text: string): void {
    const failure = () => daemonFailure(text, this.#panel);
    this.#streamer.dispatch({ type: 'daemonError', epoch: this.#epoch, failure });
  }

  backupCompleted(): void {
    this.#context.backupCompleted?.(this.#record.target);
  }
}
