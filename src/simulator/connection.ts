// A console WebSocket from its node's side.

import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../domain/clock.ts';
import { ClientFrames } from './client-frames.ts';
import { daemonRefusal, errorText } from './daemon-refusals.ts';
import type { Faults } from './faults.ts';
import { eventFrame } from './frames.ts';
import { HeldToken } from './held-token.ts';
import { PANEL_BEHAVIORS, type PanelBehavior } from './panel-behavior.ts';
import type { Recorder } from './recorder.ts';
import type { SimulatedServer } from './simulated-server.ts';
import { type PowerCommand, powerCommandSchema, type SocketAction } from './simulator-schema.ts';
import type { SimulatorSettings } from './simulator-settings.ts';
import { applySocketAction } from './socket-actions.ts';
import { checkToken, DAEMON_ERROR_TEXT, EXPIRED_TEXT } from './tokens.ts';

/** A reader that is this many bytes behind loses events, as on real nodes. */
const SLOW_READER_BYTES = 1_048_576;

const POWER_PERMISSIONS: Readonly<Record<PowerCommand, string>> = {
  start: 'control.start',
  stop: 'control.stop',
  restart: 'control.restart',
  kill: 'control.stop',
};

/** The part of a node that a console socket uses. */
export interface ConsoleHost {
  readonly clock: Clock;
  readonly recorder: Recorder;
  readonly faults: Faults;
  readonly tokenKey: Uint8Array;
  readonly settings: SimulatorSettings;
  /** Sockets without a token. All clients have the same address. */
  readonly unauthenticated: readonly [Set<unknown>, Set<unknown>];
  /** When the node last started, in Unix milliseconds: older tokens are invalid. */
  readonly startedUnixMs: number;
  power(server: SimulatedServer, action: PowerCommand): void;
  print(server: SimulatedServer, line: string): void;
  /** A `stats` frame with the current values. */
  statsFrame(server: SimulatedServer): Buffer;
}

/**
 * One console socket: authenticates its client, responds to it, and forwards events while its token
 * is valid.
 */
export class ConsoleConnection {
  readonly #ws: WebSocket;
  readonly #server: SimulatedServer;
  readonly #host: ConsoleHost;
  readonly #frames: ClientFrames;
  readonly #token: HeldToken;
  #handling = Promise.resolve();
  #frozen = false;
  #endedHere = false;

  constructor(ws: WebSocket, server: SimulatedServer, host: ConsoleHost) {
    this.#ws = ws;
    this.#server = server;
    this.#host = host;
    this.#token = new HeldToken(server.uuid);
    this.#frames = new ClientFrames({
      clock: host.clock,
      recorder: host.recorder,
      server: server.uuid,
      throttles: () => this.#behavior.throttles,
    });
  }

  start(): void {
    const { recorder } = this.#host;
    const { uuid } = this.#server;
    this.#server.connections.add(this);
    this.#host.unauthenticated[this.#server.node].add(this);
    recorder.opened(uuid);
    this.#ws.on('message', (data, isBinary) => this.#receive(data, isBinary));
    this.#ws.on('ping', () => recorder.ping(uuid));
    this.#ws.on('error', () => this.#ws.terminate());
    this.#ws.on('close', (code) => this.#leave(this.#endedHere ? undefined : code));
  }

  /**
   * Sends an event's frame if the token has the permission for it. If the token has expired, sends
   * the node's error instead.
   */
  send(frame: Buffer | string, permission?: string): void {
    if (this.#token.isAbsent) return;
    const error = this.#tokenError;
    if (error !== undefined) this.#sendNow('jwt error', [error]);
    else if (permission === undefined || this.#token.allows(permission)) this.sendRaw(frame, false);
  }

  /** Sends any frame, with or without a token. */
  sendRaw(frame: Buffer | string, binary: boolean): void {
    if (this.#frozen || this.#ws.bufferedAmount > SLOW_READER_BYTES) return;
    this.#ws.send(frame, { binary });
  }

  /**
   * Notifies the client if the token is about to expire. Calagopus' daemon also does so after it
   * has expired.
   */
  checkToken(): void {
    // Calagopus' daemon sends a ping at each of these checks.
    if (this.#behavior.forgetsTokens && !this.#frozen) this.#ws.ping();
    if (this.#token.isAbsent) return;
    const stage = this.#token.stage(this.#host.clock.now());
    if (stage === 'expiring') this.#sendNow('token expiring', []);
    if (stage !== 'expired' || !this.#behavior.forgetsTokens) return;
    this.#sendNow('token expired', []);
    this.#token.forget();
  }

  expireNow(): void {
    this.#token.expire(this.#host.clock.now());
    this.checkToken();
  }

  /** Stops reading and writing, including pongs, but keeps the connection open. */
  freeze(): void {
    this.#frozen = true;
    this.#ws.pause();
    // A close can't be detected without reading, so the connection no longer counts as open.
    this.#leave(undefined);
  }

  close(code: number, reason: string): void {
    this.#endedHere = true;
    this.#ws.close(code, reason);
  }

  /** Ends the connection without a close frame. */
  drop(): void {
    this.#endedHere = true;
    this.#ws.terminate();
  }

  /** Applies a test's action to the open socket. */
  act(action: SocketAction): void {
    applySocketAction(this, action, this.#behavior.sendsPermissions);
  }

  #leave(clientCode: number | undefined): void {
    const { connections, uuid } = this.#server;
    this.#host.unauthenticated[this.#server.node].delete(this);
    if (connections.delete(this)) this.#host.recorder.closed(uuid, clientCode);
  }

  get #behavior(): PanelBehavior {
    return PANEL_BEHAVIORS[this.#host.settings.panel];
  }

  /** Why the token can't be used, which is checked for every message. */
  get #tokenError(): string | undefined {
    return this.#token.error(this.#host.clock.now());
  }

  #sendNow(event: string, args: readonly string[]): void {
    this.sendRaw(eventFrame(event, args, this.#behavior.sendsPermissions), false);
  }

  #receive(data: RawData, isBinary: boolean): void {
    const { event, argument, isAccepted, isThrottled } = this.#frames.receive(data as Buffer, isBinary);
    if (isThrottled) this.#sendNow('throttled', [event]);
    // In the order of arrival, because a frame after an auth must take effect after it.
    if (isAccepted) this.#handling = this.#handling.then(() => this.#handle(event, argument));
  }

  async #handle(event: string, given: unknown): Promise<void> {
    const argument = typeof given === 'string' ? given : '';
    if (event === 'auth') {
      await this.#authenticate(argument);
      return;
    }
    const error = this.#tokenError;
    if (error !== undefined) {
      if (this.#token.isAbsent && this.#behavior.forgetsTokens) this.drop();
      else this.#sendNow('jwt error', [error]);
      return;
    }
    switch (event) {
      case 'send stats':
        this.#sendStats();
        break;
      case 'send logs':
        if (this.#server.game.state === 'offline') break;
        for (const line of this.#server.log) this.#sendNow('console output', [line]);
        break;
      case 'set state': {
        const action = powerCommandSchema.safeParse(argument);
        // Real nodes silently ignore messages that a token doesn't permit.
        if (!action.success || !this.#token.allows(POWER_PERMISSIONS[action.data])) break;
        this.#host.power(this.#server, action.data);
        break;
      }
      case 'send command':
        if (this.#server.game.state === 'offline' || !this.#token.allows('control.console')) break;
        this.#host.print(this.#server, `> ${argument}`);
        break;
      default:
        // Real nodes ignore unknown events.
        break;
    }
  }

  async #authenticate(token: string): Promise<void> {
    const { clock, faults, startedUnixMs, tokenKey } = this.#host;
    const { uuid } = this.#server;
    const fault = faults.takeSocket(this.#server, [
      'ignore-auth',
      'jwt-error-on-auth',
      'daemon-error-on-auth',
    ]);
    if (fault?.kind === 'ignore-auth') return;
    if (fault?.kind === 'jwt-error-on-auth') {
      this.#sendNow('jwt error', [errorText(fault.text ?? EXPIRED_TEXT, this.#behavior)]);
      return;
    }
    if (fault?.kind === 'daemon-error-on-auth') {
      this.#sendNow('daemon error', [errorText(fault.text ?? DAEMON_ERROR_TEXT, this.#behavior)]);
      return;
    }
    const nowMs = clock.toUnixMs(clock.now());
    const verdict = await checkToken(tokenKey, token, { nowMs, validSinceMs: startedUnixMs });
    if (!verdict.ok) {
      const refused = daemonRefusal(verdict, this.#behavior);
      if (refused === 'drop') this.drop();
      else this.#sendNow(refused[0], [refused[1]]);
      return;
    }
    // Calagopus' daemon treats another server's token like an expired one.
    if (this.#behavior.forgetsTokens && verdict.claims.serverUuid !== uuid) {
      this.#sendNow('token expired', []);
      return;
    }
    this.#host.unauthenticated[this.#server.node].delete(this);
    const isFirst = this.#token.isAbsent;
    this.#token.hold(verdict, clock.now(), nowMs);
    this.#sendNow('auth success', this.#behavior.sendsPermissions ? this.#token.permissions : []);
    if (isFirst) this.#greet();
  }

  #greet(): void {
    const { state } = this.#server.game;
    this.send(eventFrame('status', [state]));
    if (state === 'offline' && !this.#behavior.forgetsTokens) this.#sendStats();
  }

  #sendStats(): void {
    if (!this.#host.faults.isSilent(this.#server)) this.send(this.#host.statsFrame(this.#server));
  }
}
