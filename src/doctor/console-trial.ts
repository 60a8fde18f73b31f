import type { Clock } from '../domain/clock.ts';
import { QUIET_LOG } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { ServerState, ServerTarget } from '../domain/server.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import type { Credentials } from '../panel/dialect.ts';
import {
  NO_CIRCUITS,
  type SessionSettings,
  type SocketAccess,
  type StreamContext,
  type StreamRecord,
} from '../session/session-ports.ts';
import type { ConsoleSocket } from '../session/socket.ts';
import { Streamer } from '../session/streamer.ts';
import { Canceled, messageOf } from './attempt.ts';

/** The steps to a server's first stats, in order. */
export const CONSOLE_STEPS = ['credentials', 'upgrade', 'auth', 'stats'] as const;
export type ConsoleStep = (typeof CONSOLE_STEPS)[number];

/** How to reach one panel's console sockets. */
export interface ConsoleAccess extends SocketAccess {
  readonly settings: SessionSettings;
}

export interface ConsoleTrialOptions extends ConsoleAccess {
  readonly target: ServerTarget;
  readonly clock: Clock;
  readonly telemetry: PanelTelemetry;
  /** Requests a token from the panel. */
  readonly credentials: (signal: AbortSignal) => Promise<Credentials>;
  /** Called when a step begins. */
  readonly onStep: (step: ConsoleStep) => void;
}

/** How far a server's console connection got. */
export interface ConsoleResult {
  /** The step that ended the trial, and why; undefined if all steps passed. */
  readonly failure?: { readonly step: ConsoleStep; readonly problem: Problem | Canceled };
  /** Undefined if the panel provided none. */
  readonly credentials: Credentials | undefined;
  /** The `Origin` header that was sent. */
  readonly origin: string;
  /** The state in the first stats. */
  readonly state: ServerState | undefined;
}

type TrialEnd = { readonly problem: Problem | Canceled } | { readonly state: ServerState | undefined };

/**
 * Streams a server's console as the exporter does, until the first stats or the first failure. The only messages it sends are
 * `auth` and `send stats`.
 */
export class ConsoleTrial {
  readonly #options: ConsoleTrialOptions;
  readonly #streamer: Streamer;
  #step: ConsoleStep = 'credentials';
  #credentials: Credentials | undefined;
  #socket: ConsoleSocket | undefined;
  #settle: (ending: TrialEnd) => void = () => undefined;

  constructor(options: ConsoleTrialOptions) {
    this.#options = options;
    this.#streamer = new Streamer(this.#context(), this.#record(), {
      renews: () => true,
      tokenSpent: () => undefined,
      mayAttempt: () => true,
      changed: () => this.#onChange(),
    });
  }

  /**
   * Resolves when the socket is closed again: at the latest after the machine's own deadlines, or soon after the signal aborts.
   */
  async run(signal: AbortSignal): Promise<ConsoleResult> {
    const ended = new Promise<TrialEnd>((resolve) => {
      this.#settle = resolve;
    });
    const onAbort = () => this.#settle({ problem: cancellationOf(signal.reason) });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    else this.#streamer.start();
    const ending = await ended;
    const step = this.#step;
    signal.removeEventListener('abort', onAbort);
    this.#streamer.stop();
    await this.#streamer.closing;
    const common = { credentials: this.#credentials, origin: this.#options.settings.origin };
    return 'problem' in ending
      ? { ...common, failure: { step, problem: ending.problem }, state: undefined }
      : { ...common, state: ending.state };
  }

  #begin(step: ConsoleStep): void {
    if (this.#step === step) return;
    this.#step = step;
    this.#options.onStep(step);
  }

  #onChange(): void {
    const { machine } = this.#streamer;
    switch (machine.name) {
      case 'authenticating':
        this.#begin('auth');
        break;
      case 'streaming':
        if (this.#step === 'stats') break;
        this.#begin('stats');
        // Otherwise, the stats of a server that is off would be requested only after a period of silence.
        this.#socket?.send({ event: 'send stats' });
        break;
      case 'backingOff':
      case 'blocked':
        if (machine.problem !== undefined) this.#settle({ problem: machine.problem });
        break;
      case 'idle':
      case 'fetchingToken':
      case 'connecting':
      case 'refreshing':
        break;
    }
  }

  #context(): StreamContext {
    const { clock, telemetry, settings, codec, addressProblem, isProxied, openSocket } = this.#options;
    return {
      clock,
      telemetry,
      settings,
      codec,
      addressProblem,
      isProxied,
      log: QUIET_LOG,
      random: () => 0.5,
      panel: {
        credentials: (_server, _ask, signal) => this.#askCredentials(signal),
        ...NO_CIRCUITS,
      },
      openSocket: (url, listener) => {
        this.#socket = openSocket(url, listener);
        return this.#socket;
      },
    };
  }

  async #askCredentials(signal: AbortSignal): Promise<Credentials> {
    this.#options.onStep('credentials');
    const credentials = await this.#options.credentials(signal);
    this.#credentials = credentials;
    // A forbidden address is a problem of the next step.
    this.#begin('upgrade');
    return credentials;
  }

  #record(): StreamRecord {
    const ignored = () => undefined;
    return {
      target: this.#options.target,
      sampledAt: undefined,
      socketBegan: ignored,
      eventsWithheld: ignored,
      socketSample: ({ state }) => {
        if (this.#step === 'stats') this.#settle({ state });
      },
      stateHint: ignored,
      consoleLine: ignored,
      awaitsWords: false,
      daemonWords: ignored,
      socketHost: ignored,
    };
  }
}

function cancellationOf(reason: unknown): Canceled {
  return reason instanceof Canceled ? reason : new Canceled(messageOf(reason), 'unexpected');
}
