import type { Clock } from '../domain/clock.ts';
import { QUIET_LOG } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { ServerState, ServerTarget } from '../domain/server.ts';
import { NO_TELEMETRY } from '../domain/telemetry.ts';
import type { ClientMessage, Credentials, ServerMessage } from '../panel/dialect.ts';
import type { MachineState } from '../session/machine-model.ts';
import {
  NO_CIRCUITS,
  type SessionSettings,
  type SocketAccess,
  type StreamContext,
  type StreamRecord,
} from '../session/session-ports.ts';
import type { ConsoleSocket, SocketListener } from '../session/socket.ts';
import { Streamer } from '../session/streamer.ts';

/** How to reach one server's console. */
export interface LinkOptions extends SocketAccess {
  readonly target: ServerTarget;
  readonly clock: Clock;
  readonly random: () => number;
  /** Requests credentials from the panel; rejects with a PanelError. */
  readonly credentials: (signal: AbortSignal) => Promise<Credentials>;
  readonly settings: SessionSettings;
}

/** Receives the events of a link. */
export interface LinkListener {
  connected(): void;
  /** Something about the connection changed, such as whether messages can be sent. */
  changed(): void;
  /** A message that isn't part of maintaining the connection. */
  message(message: ServerMessage): void;
  /** The latest reported state of the server, which may be the same as before. */
  state(state: ServerState): void;
  /** There is no connection, or no new token; `lasting` if retrying within minutes won't fix it. */
  failed(problem: Problem, lasting: boolean): void;
  /** The node rejected the token as expired: what was sent last may not have been carried out. */
  tokenRefused(): void;
}

/**
 * One server's console connection, kept open across disconnects and token expiry by the same state machine that the exporter
 * uses. Messages that the machine only counts are passed on to the listener, and messages can be sent.
 */
export class ConsoleLink {
  readonly #options: LinkOptions;
  readonly #listener: LinkListener;
  readonly #streamer: Streamer;
  #socket: ConsoleSocket | undefined;
  #token = '';
  #live = false;
  #lastProblem: Problem | undefined;

  constructor(options: LinkOptions, listener: LinkListener) {
    this.#options = options;
    this.#listener = listener;
    this.#streamer = new Streamer(this.#context(), this.#record(), {
      renews: () => true,
      tokenSpent: () => undefined,
      changed: () => this.#onChange(this.#streamer.machine),
    });
  }

  /** The newest token; a secret. */
  get token(): string {
    return this.#token;
  }

  /**
   * Whether the node will accept messages now. It won't while a new token is pending, because the old one may have expired.
   */
  get isReady(): boolean {
    return this.#streamer.machine.name === 'streaming';
  }

  /** Whether the node is connected and sending messages. */
  get isLive(): boolean {
    return this.#live;
  }

  start(): void {
    this.#streamer.start();
  }

  /** Resolves when the socket is closed. */
  async stop(): Promise<void> {
    this.#streamer.stop();
    await this.#streamer.closing;
  }

  /**
   * Passes a message to the socket; call it only while the link is ready. Resolves with true once the node has read it, with
   * false if the socket ends first. Throws a RangeError if it is too long.
   */
  send(message: ClientMessage): Promise<boolean> {
    return this.#socket?.deliver(message) ?? Promise.resolve(false);
  }

  #onChange(machine: MachineState): void {
    const wasLive = this.#live;
    // While a new token is pending, the old one is still valid.
    this.#live = machine.name === 'streaming' || machine.name === 'refreshing';
    if (this.#live && !wasLive) this.#listener.connected();
    if (machine.name === 'idle') return;
    const problem = machine.problem ?? (wasLive && !this.#live ? MOVED : undefined);
    if (problem !== undefined && problem.detail !== this.#lastProblem?.detail) {
      this.#listener.failed(problem, machine.name === 'blocked');
    }
    this.#lastProblem = problem;
    this.#listener.changed();
  }

  #context(): StreamContext {
    const { credentials, openSocket, ...rest } = this.#options;
    return {
      ...rest,
      log: QUIET_LOG,
      telemetry: NO_TELEMETRY,
      panel: {
        credentials: async (_server, _ask, signal) => {
          const given = await credentials(signal);
          this.#token = given.token;
          return given;
        },
        ...NO_CIRCUITS,
      },
      openSocket: (url, listener) => {
        this.#socket = openSocket(url, this.#overhear(listener));
        return this.#socket;
      },
    };
  }

  // The machine handles a message first, so that the listener sees the resulting state.
  #overhear(listener: SocketListener): SocketListener {
    return {
      opened: () => listener.opened(),
      refused: (problem) => listener.refused(problem),
      closed: (closing) => listener.closed(closing),
      message: (frame, isBinary) => {
        listener.message(frame, isBinary);
        if (!isBinary) this.#onFrame(frame);
      },
    };
  }

  #onFrame(frame: Buffer): void {
    const message = this.#options.codec.decode(frame);
    if ('bad' in message) return;
    if (message.event !== 'jwt error') this.#listener.message(message);
    else if (this.#live) this.#listener.tokenRefused();
  }

  #record(): StreamRecord {
    return {
      target: this.#options.target,
      sampledAt: undefined,
      socketBegan: () => undefined,
      eventsWithheld: () => undefined,
      socketSample: ({ state }) => {
        if (state !== undefined) this.#listener.state(state);
      },
      stateHint: (state) => this.#listener.state(state),
      consoleLine: () => undefined,
      awaitsWords: false,
      daemonWords: () => undefined,
      socketHost: () => undefined,
    };
  }
}

const MOVED: Problem = { cause: 'closed', detail: 'the server was moved to another node' };
