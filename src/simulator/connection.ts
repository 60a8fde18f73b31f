// A node's side of a console WebSocket: authentication, events, limits and faults.

import { randomUUID } from 'node:crypto';
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../domain/time.ts';
import type { Faults } from './faults.ts';
import {
  admitFrame,
  COMMAND_LIMITS,
  eventFrame,
  FRAME_LIMITS,
  type FrameBudget,
  type FrameLimits,
  type FrameVerdict,
  MAX_CLIENT_FRAME_BYTES,
  newFrameBudget,
  parseClientFrame,
} from './frames.ts';
import { FAR_ENDS, type FarEnd } from './panel-behavior.ts';
import type { Recorder } from './recorder.ts';
import type { SimulatedServer } from './simulated-server.ts';
import { type PowerCommand, powerCommandSchema, type SocketAction } from './simulator-schema.ts';
import { expiringThresholdMs, type SimulatorSettings } from './simulator-settings.ts';
import {
  allows,
  checkToken,
  DAEMON_ERROR_TEXT,
  DENYLISTED_TEXT,
  EXPIRED_TEXT,
  type IssuedClaims,
  NO_TOKEN_TEXT,
  type TokenVerdict,
  WRONG_SERVER_TEXT,
} from './tokens.ts';

/** A reader that is this many bytes behind loses events, as on real nodes. */
const SLOW_READER_BYTES = 1_048_576;

const GARBAGE = '{"event":"stats","args":["{\\"memory_bytes\\":';
/** Slightly more than clients are expected to accept. */
const OVERSIZE_BYTES = 1_048_577;

/** A daemon's limit that is never reached. */
const UNLIMITED = { perSecond: Number.MAX_SAFE_INTEGER, burst: Number.MAX_SAFE_INTEGER };

type RefusedToken = Extract<TokenVerdict, { readonly ok: false }>;

/** The texts of Calagopus' daemon that replace those of Wings. */
const FORGETFUL_WORDS: ReadonlyMap<string, string> = new Map([
  [EXPIRED_TEXT, 'token is expired'],
  [DENYLISTED_TEXT, 'token has invalid issued at time'],
]);

const POWER_PERMISSIONS: Readonly<Record<PowerCommand, string>> = {
  start: 'control.start',
  stop: 'control.stop',
  restart: 'control.restart',
  kill: 'control.stop',
};

/** What a console socket needs from its node. */
export interface ConsoleHost {
  readonly clock: Clock;
  readonly recorder: Recorder;
  readonly faults: Faults;
  readonly tokenKey: Uint8Array;
  readonly settings: SimulatorSettings;
  /** Sockets without a token; all clients have one address. */
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
  #budget: FrameBudget;
  /** The limiter that Wings applies to `send command`. */
  #commandBudget: FrameBudget;
  #claims: IssuedClaims | undefined;
  #permissions: readonly string[] = [];
  #expiresAt = 0;
  #handling = Promise.resolve();
  #frozen = false;
  #endedHere = false;

  constructor(ws: WebSocket, server: SimulatedServer, host: ConsoleHost) {
    this.#ws = ws;
    this.#server = server;
    this.#host = host;
    this.#budget = newFrameBudget(this.#limited(FRAME_LIMITS), host.clock.now());
    this.#commandBudget = newFrameBudget(this.#limited(COMMAND_LIMITS), host.clock.now());
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
   * Sends an event's frame if the token has the permission for it; if the token has expired, sends
   * the node's error instead.
   */
  send(frame: Buffer | string, permission?: string): void {
    if (this.#claims === undefined) return;
    const error = this.#tokenError;
    if (error !== undefined) this.#sendNow('jwt error', [error]);
    else if (permission === undefined || allows(this.#permissions, permission)) this.sendRaw(frame, false);
  }

  /** Sends any frame, with or without a token. */
  sendRaw(frame: Buffer | string, binary: boolean): void {
    if (this.#frozen || this.#ws.bufferedAmount > SLOW_READER_BYTES) return;
    this.#ws.send(frame, { binary });
  }

  /**
   * Notifies the client if the token is about to expire; Calagopus' daemon also if it has expired.
   */
  checkToken(): void {
    // Calagopus' daemon sends a ping at each of these checks.
    if (this.#farEnd.forgetsTokens && !this.#frozen) this.#ws.ping();
    if (this.#claims === undefined) return;
    const lifetimeMs = this.#claims.expiresAtMs - this.#claims.issuedAtMs;
    const leftMs = this.#expiresAt - this.#host.clock.now();
    if (this.#isExpired && this.#farEnd.forgetsTokens) {
      this.#sendNow('token expired', []);
      this.#claims = undefined;
    }
    if (!this.#isExpired && leftMs <= expiringThresholdMs(lifetimeMs)) this.#sendNow('token expiring', []);
  }

  expireNow(): void {
    this.#expiresAt = this.#host.clock.now();
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
    switch (action.kind) {
      case 'drop':
        this.drop();
        break;
      case 'half-open':
        this.freeze();
        break;
      case 'close':
        this.close(action.code, action.reason ?? '');
        break;
      case 'send':
        this.#sendNow(action.event, action.args ?? []);
        break;
      case 'raw':
        this.sendRaw(action.text, false);
        break;
      case 'binary':
        this.sendRaw(Buffer.from(action.base64, 'base64'), true);
        break;
      case 'garbage':
        this.sendRaw(GARBAGE, false);
        break;
      case 'oversize': {
        const line = 'x'.repeat(action.bytes ?? OVERSIZE_BYTES);
        this.#sendNow('console output', [line]);
        break;
      }
      case 'expire':
        this.expireNow();
        break;
    }
  }

  #leave(clientCode: number | undefined): void {
    const { connections, uuid } = this.#server;
    this.#host.unauthenticated[this.#server.node].delete(this);
    if (connections.delete(this)) this.#host.recorder.closed(uuid, clientCode);
  }

  get #farEnd(): FarEnd {
    return FAR_ENDS[this.#host.settings.panel];
  }

  get #isExpired(): boolean {
    return this.#host.clock.now() >= this.#expiresAt;
  }

  /** Why the token can't be used, as checked for every message. */
  get #tokenError(): string | undefined {
    if (this.#claims === undefined) return NO_TOKEN_TEXT;
    if (this.#isExpired) return EXPIRED_TEXT;
    return this.#claims.serverUuid === this.#server.uuid ? undefined : WRONG_SERVER_TEXT;
  }

  /** Responds to a message that failed: such errors have an identifier. */
  #sendError(event: 'jwt error' | 'daemon error', text: string): void {
    if (this.#farEnd.forgetsTokens) {
      this.#sendNow(event, [text]);
      return;
    }
    this.#sendNow(event, [text.startsWith('Error Event') ? text : `Error Event [${randomUUID()}]: ${text}`]);
  }

  #sendNow(event: string, args: readonly string[]): void {
    this.sendRaw(eventFrame(event, args, this.#farEnd.sendsPermissions), false);
  }

  #receive(data: RawData, isBinary: boolean): void {
    const { clock, recorder } = this.#host;
    const server = this.#server.uuid;
    const bytes = data as Buffer;
    const frame =
      isBinary || bytes.length > MAX_CLIENT_FRAME_BYTES
        ? undefined
        : parseClientFrame(bytes.toString('utf8'));
    if (bytes.length > MAX_CLIENT_FRAME_BYTES) recorder.count('oversizeFrames');
    const event = frame?.event ?? '(unreadable)';
    const verdict = admitFrame(this.#budget, event, clock.now(), this.#limited(FRAME_LIMITS));
    this.#budget = verdict.budget;
    const command = verdict.accepted && event === 'send command' ? this.#admitCommand() : undefined;
    const accepted = verdict.accepted && command?.accepted !== false && frame !== undefined;
    const args = frame === undefined || event === 'auth' ? undefined : frame.args;
    recorder.frame({ at: clock.now(), server, event, accepted, args });
    if (verdict.crashing) recorder.count('wouldHaveCrashed');
    if (verdict.notify || command?.notify === true) this.#sendNow('throttled', [event]);
    // In order of arrival, because a frame after an auth must take effect after it.
    if (accepted) this.#handling = this.#handling.then(() => this.#handle(event, frame.args[0]));
  }

  /** These limits, if the daemon has any. */
  #limited(limits: FrameLimits): FrameLimits {
    return this.#farEnd.throttles ? limits : UNLIMITED;
  }

  #admitCommand(): FrameVerdict {
    const { clock } = this.#host;
    const limits = this.#limited(COMMAND_LIMITS);
    const verdict = admitFrame(this.#commandBudget, 'send command', clock.now(), limits);
    this.#commandBudget = verdict.budget;
    return verdict;
  }

  async #handle(event: string, given: unknown): Promise<void> {
    const argument = typeof given === 'string' ? given : '';
    if (event === 'auth') {
      await this.#authenticate(argument);
      return;
    }
    const error = this.#tokenError;
    if (error !== undefined) {
      if (this.#claims === undefined && this.#farEnd.forgetsTokens) this.drop();
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
        // Real nodes silently ignore what a token doesn't permit.
        if (!action.success || !allows(this.#permissions, POWER_PERMISSIONS[action.data])) break;
        this.#host.power(this.#server, action.data);
        break;
      }
      case 'send command':
        if (this.#server.game.state === 'offline' || !allows(this.#permissions, 'control.console')) break;
        this.#host.print(this.#server, `> ${argument}`);
        break;
      default:
        // Real nodes ignore unknown events.
        break;
    }
  }

  /**
   * The response to an invalid token (application/src/server/websocket/jwt.rs and remote/jwt.rs of
   * calagopus/wings).
   */
  #refusal({ event, text }: RefusedToken): 'drop' | [event: RefusedToken['event'], text: string] {
    if (!this.#farEnd.forgetsTokens) return [event, text];
    const meaning = event === 'jwt error' ? FORGETFUL_WORDS.get(text) : undefined;
    return meaning === undefined ? 'drop' : [event, `invalid token: ${meaning}`];
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
      this.#sendError('jwt error', fault.text ?? EXPIRED_TEXT);
      return;
    }
    if (fault?.kind === 'daemon-error-on-auth') {
      this.#sendError('daemon error', fault.text ?? DAEMON_ERROR_TEXT);
      return;
    }
    const nowMs = clock.toUnixMs(clock.now());
    const verdict = await checkToken(tokenKey, token, { nowMs, validSinceMs: startedUnixMs });
    const refused = verdict.ok ? undefined : this.#refusal(verdict);
    if (refused === 'drop') this.drop();
    else if (refused !== undefined) this.#sendError(...refused);
    if (!verdict.ok) return;
    // Calagopus' daemon treats another server's token like an expired one.
    if (this.#farEnd.forgetsTokens && verdict.claims.serverUuid !== uuid) {
      this.#sendNow('token expired', []);
      return;
    }
    this.#host.unauthenticated[this.#server.node].delete(this);
    const first = this.#claims === undefined;
    this.#claims = verdict.claims;
    this.#permissions = verdict.permissions;
    this.#expiresAt = clock.now() + verdict.claims.expiresAtMs - nowMs;
    this.#sendNow('auth success', this.#farEnd.sendsPermissions ? this.#permissions : []);
    if (first) this.#greet();
  }

  #greet(): void {
    const { state } = this.#server.game;
    this.send(eventFrame('status', [state]));
    if (state === 'offline' && !this.#farEnd.forgetsTokens) this.#sendStats();
  }

  #sendStats(): void {
    if (!this.#host.faults.isSilent(this.#server)) this.send(this.#host.statsFrame(this.#server));
  }
}
