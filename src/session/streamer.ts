// Holds one server's console socket, and executes the effects of its state machine.

import type { Cancel } from '../domain/clock.ts';
import { INTERNAL_ERRORS } from '../domain/internal-errors.ts';
import type { ServerState } from '../domain/power-states.ts';
import type { Sample } from '../domain/sample.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { FrameHandler, JwtError } from '../panel/socket-codec.ts';
import { printable } from '../text/printable.ts';
import { closeFailure, daemonFailure, jwtFailure, type RefusedUpgrade, upgradeFailure } from './failure.ts';
import { step } from './machine.ts';
import { listTimers, type MachineEffect } from './machine-effects.ts';
import {
  currentToken,
  type Failure,
  INITIAL_STATE,
  isAttempt,
  isHandshake,
  isResting,
  isTokenRetry,
  type MachineEvent,
  type MachineState,
  type Token,
  unansweredIn,
} from './machine-model.ts';
import type { MachineContext } from './machine-steps.ts';
import type { SessionContext, SessionRecord } from './session-ports.ts';
import type { ConsoleSocket, SocketClosing, SocketListener } from './socket.ts';
import { socketOutcome } from './socket-outcome.ts';
import { requestToken } from './token-request.ts';

/**
 * Holds one server's console socket: executes the effects of its machine, passes events to the
 * machine, and passes samples and lines to the record. It is itself the listener of its sockets,
 * because separate objects or closures would cost memory for every server.
 */
export class Streamer implements SocketListener, FrameHandler {
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #owner: { changed(): void };
  #machine: MachineState = INITIAL_STATE;
  /** Cancels the timer of the state. */
  #cancelTimer: Cancel | undefined;
  /** Cancels an expired timer that waits for its turn of the event loop. */
  #leaveTurn: Cancel | undefined;
  #socket: ConsoleSocket | undefined;
  #socketEpoch = 0;
  /**
   * Leaves the line for a place among the daemon's opening sockets or for a turn to connect, and
   * frees the place.
   */
  #leaveRoom: Cancel | undefined;
  /**
   * In whole milliseconds, because every sample sets it, and V8 keeps a fraction in a separate
   * object.
   */
  #lastStatsAt = 0;
  /** Whether the machine waits for a sample. */
  #awaitsStats = false;
  #fetch: AbortController | undefined;
  /**
   * The number of texts on this socket that aren't JSON, and since when they are counted, in whole
   * milliseconds.
   */
  #unreadable = 0;
  #unreadableSince = 0;
  /** When the current attempt began. */
  #attemptedAt = 0;
  #closing: Promise<void> = Promise.resolve();

  constructor(context: SessionContext, record: SessionRecord, owner: { changed(): void }) {
    this.#context = context;
    this.#record = record;
    this.#owner = owner;
  }

  get machine(): MachineState {
    return this.#machine;
  }

  /** Resolves when all closed sockets are gone. */
  get closing(): Promise<void> {
    return this.#closing;
  }

  /** Passes an event of the server or its connection to the machine. */
  happened(event: MachineEvent): void {
    const before = this.#machine;
    const { state, effects } = step(before, event, this.#machineContext());
    if (state === before) return;
    this.#machine = state;
    if (isAttempt(state) && !isAttempt(before)) this.#attemptedAt = this.#context.clock.now();
    for (const effect of effects) this.#run(effect);
    if (!isHandshake(state)) this.#giveUpPlace();
    this.#awaitsStats = unansweredIn(state) > 0;
    if (this.#fetch !== undefined && isTokenRetry(before) !== isTokenRetry(state))
      this.#context.panel.reclassify(this.#record.target.id);
    this.#setTimer();
    // Last, because the report may start another attempt.
    this.#reportChange(before, state);
    this.#owner.changed();
  }

  get telemetry(): PanelTelemetry {
    return this.#context.telemetry;
  }

  opened(): void {
    this.#record.interrupted();
    this.happened({ type: 'opened', epoch: this.#socketEpoch });
  }

  refused(refused: RefusedUpgrade): void {
    const { settings, sockets } = this.#context;
    const proxied = sockets.isProxied(currentToken(this.#machine)?.socketUrl ?? '');
    const way = { readUpgradeRefusal: sockets.codec.readUpgradeRefusal, origin: settings.origin, proxied };
    this.#ended(() => upgradeFailure(refused, way));
  }

  // An abandoned socket is detached, and delivers no more frames.
  message(bytes: Buffer, isBinary: boolean, from = 0, to = bytes.length): boolean {
    try {
      return this.#context.sockets.codec.handleFrame(bytes, isBinary, this, from, to);
    } catch (error) {
      this.happened({ type: 'closed', epoch: this.#socketEpoch, failure: FAILED });
      INTERNAL_ERRORS.report(error);
      return false;
    }
  }

  oversize(): void {
    this.telemetry.badMessage?.('oversize');
  }

  closed(closing: SocketClosing): void {
    if (closing.oversize) this.telemetry.badMessage?.('oversize');
    this.#ended(() => closeFailure(closing, this.#context.sockets.codec));
  }

  /**
   * Thousands of sockets may end in one turn of the event loop, so the work after each end is paced
   * like their connects.
   */
  #ended(failure: () => Failure): void {
    const epoch = this.#socketEpoch;
    this.#context.sockets.inTurn(() => this.happened({ type: 'closed', epoch, failure: failure() }));
  }

  unreadable(): void {
    const now = this.#context.clock.now();
    if (now - this.#unreadableSince >= UNREADABLE_WINDOW_MS) {
      this.#unreadableSince = Math.trunc(now);
      this.#unreadable = 0;
    }
    this.#unreadable += 1;
    if (this.#unreadable > MAX_UNREADABLE)
      this.happened({ type: 'closed', epoch: this.#socketEpoch, failure: UNREADABLE });
  }

  consoleLine(frame: Buffer): void {
    this.#record.consoleLines += 1;
    const notice = this.#context.sockets.codec.daemonNotice(frame, this.#record.awaitsNotice);
    if (notice === 'unreadable') this.unreadable();
    else if (notice !== undefined) this.#record.daemonNotice(notice, this.#context.clock.now());
  }

  stats(sample: Sample): void {
    const now = this.#context.clock.now();
    this.#lastStatsAt = Math.trunc(now);
    this.#record.socketSample(sample, now);
    if (this.#awaitsStats) this.happened({ type: 'stats', epoch: this.#socketEpoch });
  }

  status(state: ServerState): void {
    this.#record.stateHint(state, this.#context.clock.now());
  }

  authenticated(): void {
    this.happened({ type: 'authenticated', epoch: this.#socketEpoch });
  }

  tokenEnding(): void {
    this.happened({ type: 'tokenEnding', epoch: this.#socketEpoch });
  }

  jwtError({ message, isFixable: fixable, answersToken }: JwtError): void {
    if (fixable) this.#record.interrupted();
    const token = currentToken(this.#machine)?.value;
    const failure = () => jwtFailure(message, this.#context.sockets.codec, token);
    this.happened({ type: 'jwtError', epoch: this.#socketEpoch, fixable, answersToken, failure });
  }

  daemonError(message: string): void {
    const failure = () => daemonFailure(message);
    this.happened({ type: 'daemonError', epoch: this.#socketEpoch, failure });
  }

  backupCompleted(): void {
    this.#context.backupCompleted?.(this.#record);
  }

  #machineContext(): MachineContext {
    const { clock, random, settings, panel } = this.#context;
    const { node, target } = this.#record;
    const isCurrent = (token: Token) => panel.isCurrent(node, token);
    return { now: clock.now(), random: random(), timeouts: settings, isCurrent, target };
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
        this.#giveUpPlace();
        this.#closing = Promise.all([this.#closing, this.#socket?.close()]).then(() => undefined);
        this.#socket = undefined;
        break;
      case 'send':
        this.#socket?.send(effect.message);
        break;
      case 'reportOutdated':
        this.#context.panel.tokenOutdated(this.#record.target.id, effect.token);
        break;
      case 'countReconnect':
        this.#context.telemetry.reconnect?.(effect.reason);
        break;
    }
  }

  /** Sets the timer of the current state, with which it ends. */
  #setTimer(next = this.#nextTimer): void {
    const { clock } = this.#context;
    this.#cancelTimer?.();
    this.#leaveTurn?.();
    this.#cancelTimer = next && clock.schedule(Math.max(0, next.at - clock.now()), this.#onTimer);
  }

  get #nextTimer() {
    const [one, other] = listTimers(this.#machine, this.#lastStatsAt);
    return one !== undefined && other !== undefined && other.at < one.at ? other : one;
  }

  readonly #onTimer = (): void => {
    // Node considers the timer expired only after this. Canceling it now would take longer than
    // everything else.
    this.#cancelTimer = undefined;
    const next = this.#nextTimer;
    // Frames postpone the end of a silence without setting the timer again.
    if (next === undefined || next.at > this.#context.clock.now()) this.#setTimer(next);
    // Thousands of timers may be due in one turn of the event loop, such as after a network outage.
    else this.#leaveTurn = this.#context.sockets.inTurn(this.#onDue);
  };

  readonly #onDue = (): void => {
    const next = this.#nextTimer;
    if (next === undefined || next.at > this.#context.clock.now()) this.#setTimer(next);
    // The next attempt depends on more than time.
    else if (isResting(this.#machine)) this.#owner.changed();
    else this.happened({ type: next.type });
  };

  /** Tells the panel whether the sockets of the server's node work. */
  #reportChange(before: MachineState, now: MachineState): void {
    const outcome = socketOutcome(before, now);
    if (outcome === undefined) return;
    this.#context.panel.socketEnded(this.#record.target.id, { startedAt: this.#attemptedAt, ...outcome });
  }

  async #fetchToken(): Promise<void> {
    const controller = new AbortController();
    this.#fetch = controller;
    const event = await requestToken(this.#context, this.#record, () => this.#machine, controller.signal);
    if (this.#fetch !== controller) return;
    this.#fetch = undefined;
    this.happened(event);
  }

  // A server never has two sockets: this waits for the old one to close, which takes at most a
  // second.
  async #openSocket(epoch: number, url: string): Promise<void> {
    await this.#closing;
    if (this.#machine.name !== 'connecting' || this.#machine.epoch !== epoch) return;
    this.#leaveRoom = this.#context.sockets.handshakes.enter(url, () => this.#connect(epoch, url));
    // The connect may have begun at once, and may already have ended.
    if (!isHandshake(this.#machine)) this.#giveUpPlace();
  }

  #giveUpPlace(): void {
    this.#leaveRoom?.();
    this.#leaveRoom = undefined;
  }

  #connect(epoch: number, url: string): void {
    this.happened({ type: 'begins', epoch });
    // After the change, the server may no longer need a socket.
    if (this.#machine.name !== 'connecting' || this.#machine.epoch !== epoch) return;
    // The settings may have changed since the token was requested.
    const problem = this.#context.sockets.addressProblem(url);
    if (problem !== undefined) {
      this.happened({ type: 'closed', epoch, failure: { reason: 'no_token', problem } });
      return;
    }
    const hostBefore = this.#record.socketHost;
    const host = printable(new URL(url).host);
    if (hostBefore !== undefined && hostBefore !== host)
      this.#context.log.socketMoved(this.#record, hostBefore, host);
    if (hostBefore !== host) {
      this.#record.socketHost = host;
      // A server that isn't in the list belongs to its socket's node.
      this.#context.panel.reclassify(this.#record.target.id);
    }
    this.#socketEpoch = epoch;
    this.#unreadable = 0;
    try {
      this.#socket = this.#context.sockets.openSocket(url, this);
    } catch (error) {
      // ws rejects some addresses with an exception, which must not look like a bug in the
      // exporter.
      this.refused({ error: error as Error });
    }
  }
}

/** The failure of a socket after an exception of the exporter's own code. */
const FAILED: Failure = {
  reason: 'closed',
  problem: { cause: 'unexpected', detail: 'the exporter failed to handle a message' },
};

/**
 * The maximum number of texts per minute that aren't JSON; another one ends the socket. Each costs
 * as much as 20 readable ones.
 */
const MAX_UNREADABLE = 20;

const UNREADABLE_WINDOW_MS = 60_000;

const UNREADABLE: Failure = {
  reason: 'closed',
  problem: {
    cause: 'unreadable',
    detail: `more than ${MAX_UNREADABLE} messages within a minute aren't JSON`,
  },
};
