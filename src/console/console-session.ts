// The session that keeps a console's socket open.

import type { Clock } from '../domain/clock.ts';
import type { ServerState } from '../domain/power-states.ts';
import type { Problem } from '../domain/problems.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { PanelApi } from '../panel/panel-api.ts';
import type { ClientMessage, ServerMessage } from '../panel/socket-codec.ts';
import { isLive } from '../session/machine-model.ts';
import { Session } from '../session/session.ts';
import type {
  SessionContext,
  SessionRecord,
  SessionSettings,
  SocketAccess,
} from '../session/session-ports.ts';
import type { ConsoleSocket } from '../session/socket.ts';
import { NOTHING_KNOWN, type Surroundings } from '../session/surroundings.ts';
import { credentialsFrom } from './console-credentials.ts';

/** The server, and how it is reached. */
export interface ConsoleAccess {
  readonly api: Pick<PanelApi, 'get'>;
  readonly sockets: SocketAccess;
  readonly target: ServerTarget;
  readonly settings: SessionSettings;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Callbacks for events of the socket. */
export interface ConsoleEvents {
  /** The connection, or its problem, changed. */
  changed(): void;
  stateSeen(state: ServerState): void;
  messageReceived(message: ServerMessage): void;
}

/** A session of the exporter, without polls and without the limits of a fleet. */
export class ConsoleSession {
  readonly #access: ConsoleAccess;
  readonly #session: Session;
  #socket: ConsoleSocket | undefined;

  constructor(access: ConsoleAccess, events: ConsoleEvents) {
    this.#access = access;
    this.#session = new Session(this.#context(events), recordFor(access.target, events));
  }

  /** Connects, and reconnects after every failure. */
  start(): void {
    this.#session.sees(this.#surroundings(true));
  }

  /** Resolves when the socket is closed. */
  async stop(): Promise<void> {
    this.#session.sees(this.#surroundings(false));
    await this.#session.closing;
  }

  /** Whether the node accepted the token. */
  get isConnected(): boolean {
    const { machine } = this.#session;
    return isLive(machine) || machine.name === 'opening';
  }

  /**
   * Whether the node accepts messages. It may refuse them while a new token is pending, because the
   * old one may have expired.
   */
  get isReady(): boolean {
    return ['opening', 'streaming'].includes(this.#session.machine.name);
  }

  /** Why there is no connection, or why the token can't be renewed. */
  get problem(): Problem | undefined {
    const { machine } = this.#session;
    return machine.name === 'idle' ? undefined : machine.problem;
  }

  /** Whether retrying won't help soon. */
  get isBlocked(): boolean {
    return this.#session.machine.name === 'blocked';
  }

  /** Throws if the socket can't send. */
  send(message: ClientMessage): void {
    this.#socket?.send(message);
  }

  /** Whether the token is known to lack this permission. */
  lacks(permission: string): boolean {
    const { machine } = this.#session;
    const token = 'token' in machine ? machine.token : undefined;
    const { codec } = this.#access.sockets;
    const permissions = codec.readPermissions(token?.value ?? '') ?? ['*'];
    return !permissions.includes(permission) && !permissions.includes('*');
  }

  /** Limits and other servers never delay a console's socket. */
  #surroundings(isRunning: boolean): Surroundings {
    const { clock, target } = this.#access;
    return { ...NOTHING_KNOWN, now: clock.now(), isRunning, target: { ...target, mode: 'socket' } };
  }

  #context(events: ConsoleEvents): SessionContext {
    const { api, sockets } = this.#access;
    const { codec } = sockets;
    return {
      ...this.#access,
      log: { conditionChanged: ignore, socketMoved: ignore },
      telemetry: {},
      panel: {
        credentials: credentialsFrom(api),
        resources: () => Promise.reject(new Error('expected no poll')),
        delaysToken: () => false,
        isCurrent: () => true,
        tokenOutdated: ignore,
        socketEnded: ignore,
        declineTrial: ignore,
        reclassify: ignore,
      },
      surroundings: (_, isRunning) => this.#surroundings(isRunning),
      sockets: {
        ...sockets,
        openSocket: (url, listener) => (this.#socket = sockets.openSocket(url, listener)),
        codec: {
          ...codec,
          handleFrame: (bytes, isBinary, handler, from, to) => {
            codec.handleFrame(bytes, isBinary, handler, from, to);
            const message = isBinary ? { bad: 'binary' } : codec.decode(bytes.subarray(from, to));
            if (!('bad' in message)) events.messageReceived(message);
            return false;
          },
        },
      },
    };
  }
}

const ignore = () => undefined;

/** Stores nothing: the session's findings become events. */
function recordFor(target: ServerTarget, events: ConsoleEvents): SessionRecord {
  return {
    target,
    sampledAt: undefined,
    awaitsNotice: false,
    interrupted: ignore,
    consoleLines: 0,
    socketHost: undefined,
    daemonNotice: ignore,
    pollSample: ignore,
    setPolledStaleness: ignore,
    socketSample: ({ state = 'unknown' }) => events.stateSeen(state),
    stateHint: (state) => events.stateSeen(state),
    setCollection: () => events.changed(),
  };
}
