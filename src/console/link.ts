import type { Clock } from '../domain/clock.ts';
import { QUIET_LOG } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { ServerState, ServerTarget } from '../domain/server.ts';
import { NO_TELEMETRY } from '../domain/telemetry.ts';
import type { ClientMessage, Credentials, ServerMessage } from '../panel/dialect.ts';
import type { MachineState } from '../session/machine-model.ts';
import type {
  SessionContext,
  SessionRecord,
  SessionSettings,
  SocketAccess,
} from '../session/session-ports.ts';
import type { ConsoleSocket, SocketListener } from '../session/socket.ts';
import { Streamer } from '../session/streamer.ts';

/** How one server's console is reached. */
export interface LinkOptions extends SocketAccess {
  readonly target: ServerTarget;
  readonly clock: Clock;
  readonly random: () => number;
  /** Asks the panel for credentials; rejects with a PanelError. */
  readonly credentials: (signal: AbortSignal) => Promise<Credentials>;
  readonly settings: SessionSettings;
}

/** Receives the events of a link. */
export interface LinkListener {
  connected(): void;
  /** Something about the connection changed, such as whether messages can be sent. */
  changed(): void;
  /** A message other than of its upkeep. */
  message(message: ServerMessage): void;
  /** The newest word on the server's state, which may be the same as before. */
  state(state: ServerState): void;
  /** There is no connection, or no new token; `lasting` if trying again within minutes is useless. */
  troubled(problem: Problem, lasting: boolean): void;
  /** The node took our token for an old one: what was sent last may not have been carried out. */
  tokenRefused(): void;
}

/**
 * One server's console, held open through drops and the ends of tokens by the same machine that the exporter uses. What that
 * only counts is passed on here, and messages can be sent.
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

  /** Will the node heed what is sent now? Not while it waits for a new token: the old one may have ended. */
  get isReady(): boolean {
    return this.#streamer.machine.name === 'streaming';
  }

  /** Is the node connected, and what it sends heard? */
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
   * Hands a message to the socket; to be called while the link is ready. Resolves with true once the node has read it, with false if the
   * socket ends before. Throws a RangeError for one that is too long.
   */
  send(message: ClientMessage): Promise<boolean> {
    return this.#socket?.deliver(message) ?? Promise.resolve(false);
  }

  #onChange(machine: MachineState): void {
    const wasLive = this.#live;
    // While a new token is on its way the old one still holds.
    this.#live = machine.name === 'streaming' || machine.name === 'refreshing';
    if (this.#live && !wasLive) this.#listener.connected();
    if (machine.name === 'idle') return;
    const problem = machine.problem ?? (wasLive && !this.#live ? MOVED : undefined);
    if (problem !== undefined && problem.detail !== this.#lastProblem?.detail) {
      this.#listener.troubled(problem, machine.name === 'blocked');
    }
    this.#lastProblem = problem;
    this.#listener.changed();
  }

  #context(): SessionContext {
    const { credentials, openSocket, ...rest } = this.#options;
    return {
      ...rest,
      log: QUIET_LOG,
      telemetry: NO_TELEMETRY,
      panel: {
        credentials: async (_server, _priority, signal) => {
          const given = await credentials(signal);
          this.#token = given.token;
          return given;
        },
        resources: () => Promise.reject(new Error('a console asks for no resources')),
      },
      openSocket: (url, listener) => {
        this.#socket = openSocket(url, this.#overhear(listener));
        return this.#socket;
      },
      keyProblem: () => undefined,
    };
  }

  // The machine handles a message first, so that the listener sees the state that the message led to.
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

  #record(): SessionRecord {
    return {
      target: this.#options.target,
      sampledAt: undefined,
      socketBegan: () => undefined,
      eventsWithheld: () => undefined,
      socketSample: ({ state }) => {
        if (state !== undefined) this.#listener.state(state);
      },
      stateHint: (state) => this.#listener.state(state),
      pollSample: () => undefined,
      consoleLine: () => undefined,
      awaitsWords: false,
      daemonWords: () => undefined,
      socketHost: () => undefined,
      setCollection: () => undefined,
    };
  }
}

const MOVED: Problem = { cause: 'closed', detail: 'the server was moved to another node' };
